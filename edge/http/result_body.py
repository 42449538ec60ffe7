"""Bodies of stored results, read a chunk at a time in threads of their own."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Self, TypeVar, TypeVarTuple

import msgspec

from shared.analytics.manifest import ResultManifest, tail
from shared.errors import ResultGone, StoreUnavailable
from shared.objects.directory import ObjectReader, ResultStore
from shared.telemetry import metrics

# A separate pool: a store that hangs blocks all its threads, and must not block other work.
_THREADS = ThreadPoolExecutor(16, "results")
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


async def in_store_thread(ask: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Call the store in one of its threads. Raises what the call raises."""
    try:
        return await asyncio.get_running_loop().run_in_executor(_THREADS, ask, *arguments)
    except StoreUnavailable:
        metrics.store_errors.labels("results").inc()
        raise


async def open_result(store: ResultStore, key: str, length: int) -> ObjectReader:
    """Open an object of this length: a shorter one would end in the middle of the answer. Raises ResultGone."""
    try:
        return await in_store_thread(_open_of_length, store, key, length)
    except ResultGone:
        metrics.results_missing.inc()
        raise


def _open_of_length(store: ResultStore, key: str, length: int) -> ObjectReader:
    reader = store.open(key)
    try:
        is_whole = reader.size == length
    except StoreUnavailable:
        reader.close()
        raise
    if not is_whole:
        reader.close()
        raise ResultGone(key)
    return reader


class ResultBody:
    """Bytes of known length with a strong ETag, read a chunk at a time."""

    def __init__(self, reader: ObjectReader, kept: int, end: bytes, etag: str) -> None:
        self._reader = reader
        self._kept = kept
        self._end = end
        self._counted = ExitStack()
        self.length = kept + len(end)
        self.etag = etag

    @classmethod
    async def open(cls, store: ResultStore, manifest: ResultManifest) -> Self:
        """Open a published result as it is. Raises ResultGone, also where it has another length."""
        reader = await open_result(store, manifest.key, manifest.bytes)
        return cls(reader, manifest.bytes, b"", f'"sha256-{manifest.sha256}"')

    @classmethod
    async def with_meta(
        cls,
        store: ResultStore,
        manifest: ResultManifest,
        *,
        cached: bool,
        units: int,
        more: Mapping[str, object] | None = None,
    ) -> Self:
        """Open a published result with what it cost this caller in its meta. Raises ResultGone.

        `more` are members of the meta that only this caller's answer has. The data's bytes stay what they are; where
        the meta would say just what was published, all of them do.
        """
        published = msgspec.json.decode(manifest.meta)
        meta = {**published, "cached": cached, "cost_units": units, **(more or {})}
        if not manifest.tail_bytes or meta == published:
            return await cls.open(store, manifest)
        reader = await open_result(store, manifest.key, manifest.bytes)
        end = tail(meta)
        etag = f'"sha256-{manifest.sha256}-{hashlib.sha256(end).hexdigest()[:16]}"'
        return cls(reader, manifest.bytes - manifest.tail_bytes, end, etag)

    async def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from a place; empty only when the file is shorter than its manifest says."""
        if offset >= self._kept:
            start = offset - self._kept
            return self._end[start : start + length]
        return await in_store_thread(self._reader.read, offset, min(length, self._kept - offset))

    def count(self, counting: AbstractContextManager[None]) -> None:
        """Enter a context that is left when the body is closed."""
        self._counted.enter_context(counting)

    def close(self) -> None:
        self._reader.close()
        self._counted.close()

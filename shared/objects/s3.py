"""Objects in an S3 bucket. An object is put in parts and appears only when the last of them is completed.

Bytes are spooled to a local file first: they can be read back, and named by their digest, before anything is sent.
Parts of a put that died before it was completed are no object and are in no listing; S3 keeps them until the bucket's
rule AbortIncompleteMultipartUpload deletes them, because the library has no way to name them.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import obstore
from obstore import store
from obstore.exceptions import BaseError

from shared.clock import utc_now
from shared.errors import ResultGone, StoreUnavailable
from shared.objects.directory import ListedObject, ObjectReader, ObjectSpool, ResultStore, full_is_unavailable

if TYPE_CHECKING:
    from obstore.store import S3Config

_PART_BYTES = 16 * 1024 * 1024
_PARTS_AT_ONCE = 4
_CONNECT_SECONDS = 2
_RETRIES_MAX = 4
# The library reports some failures by Python's own errors: an object that does not exist, one that may not be read.
_FAILED = (BaseError, OSError)


class _Object:
    def __init__(self, bucket: store.S3Store, key: str, size: int) -> None:
        self._bucket = bucket
        self._key = key
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        stop = min(offset + length, self.size)
        if stop <= offset:
            return b""
        try:
            return bytes(obstore.get_range(self._bucket, self._key, start=offset, end=stop))
        except FileNotFoundError:
            return b""  # deleted while it was read: shorter than it should be, and the reader stops
        except _FAILED as error:
            raise StoreUnavailable("results") from error

    def close(self) -> None:
        return


class _TemporarySpool:
    def __init__(self, bucket: store.S3Store, file: BinaryIO) -> None:
        self.file = file
        self._bucket = bucket

    def keep(self, key: str) -> None:
        self.file.flush()
        size = self.file.seek(0, 2)
        self.file.seek(0)
        try:
            obstore.put(
                self._bucket,
                key,
                self.file,
                use_multipart=size > _PART_BYTES,
                chunk_size=_PART_BYTES,
                max_concurrency=_PARTS_AT_ONCE,
            )
            there = obstore.head(self._bucket, key)["size"]
        except _FAILED as error:
            raise StoreUnavailable("results") from error
        if there != size:
            raise StoreUnavailable("results")


class S3Store(ResultStore):
    """The interface of shared/objects/directory.py over one bucket. Raises StoreUnavailable when it does not answer."""

    def __init__(
        self,
        bucket: str,
        *,
        endpoint: str,
        region: str,
        key_id: str,
        secret: str,
        answer_seconds: float,
        spool_dir: Path | None = None,
    ) -> None:
        self._spool_dir = spool_dir
        config: S3Config = {"region": region}
        if endpoint:
            config["endpoint"] = endpoint
        if key_id:  # without one the library takes what the host offers: an instance's role, a web identity
            config["access_key_id"], config["secret_access_key"] = key_id, secret
        self._bucket = store.S3Store(
            bucket,
            config=config,
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "connect_timeout": timedelta(seconds=_CONNECT_SECONDS),
                "read_timeout": timedelta(seconds=answer_seconds),
            },
            retry_config={
                "max_retries": _RETRIES_MAX,
                "retry_timeout": timedelta(seconds=2 * answer_seconds),
                "backoff": {"init_backoff": timedelta(milliseconds=50), "max_backoff": timedelta(seconds=1), "base": 2},
            },
        )

    @contextmanager
    def spool(self) -> Iterator[ObjectSpool]:
        """Write to a local file that has no name; nothing is sent before it is kept."""
        with full_is_unavailable(), tempfile.TemporaryFile(dir=self._spool_dir) as file:
            yield _TemporarySpool(self._bucket, cast(BinaryIO, file))

    def open(self, key: str) -> ObjectReader:
        """Ask for its size; reading asks for ranges."""
        size = self.size(key)
        if size is None:
            raise ResultGone(key)
        return _Object(self._bucket, key, size)

    def size(self, key: str) -> int | None:
        """Ask for an object's head."""
        try:
            return int(obstore.head(self._bucket, key)["size"])
        except FileNotFoundError:
            return None
        except _FAILED as error:
            raise StoreUnavailable("results") from error

    def remove(self, key: str) -> None:
        try:
            obstore.delete(self._bucket, key)
        except FileNotFoundError:
            return
        except _FAILED as error:
            raise StoreUnavailable("results") from error

    def list_objects(self, prefix: str) -> Iterator[ListedObject]:
        now = utc_now()
        try:
            for page in obstore.list(self._bucket, prefix or None):
                for entry in page:
                    age = (now - entry["last_modified"]).total_seconds()
                    yield ListedObject(entry["path"], entry["size"], age)
        except _FAILED as error:
            raise StoreUnavailable("results") from error

    def sweep(self, age_seconds: float) -> int:
        """Nothing to do: an upload that was not kept never had a name here."""
        return 0

    def delete(self, job_id: str, attempt: int) -> None:
        """Delete all objects below an attempt."""
        for listed in list(self.list_objects(f"{job_id}/{attempt}/")):
            self.remove(listed.key)

    def attempts(self) -> Iterator[tuple[str, int]]:
        """Read them off the keys."""
        seen = set()
        for listed in self.list_objects(""):
            parts = listed.key.split("/")
            if len(parts) == 3 and parts[1].isascii() and parts[1].isdigit():
                seen.add((parts[0], int(parts[1])))
        return iter(sorted(seen))

"""What depends on the data_version alone: memory, then the cache store, then PostgreSQL. One flight per key.

Everything is keyed by data_version, so a load makes all of it stale at once and nothing is ever purged.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from prometheus_client import Counter

from edge.storage.data_version import DataVersionWatcher
from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.telemetry import metrics

_ENTRY_OVERHEAD_BYTES = 275


class Entry(Protocol):
    """What is kept for a key. What is absent has an entry too."""

    def pack(self) -> bytes:
        """Write it as the cache store keeps it."""
        ...

    @property
    def size(self) -> int:
        """Its bytes in memory, without what every entry needs."""
        ...

    @property
    def is_absent(self) -> bool:
        """Whether it says that there is nothing."""
        ...


E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, slots=True)
class EntryKind(Generic[E]):
    """How entries of one kind are named, read back and counted.

    `store_key` makes the cache store's key of a data_version and a key; `reads` counts by where an entry was found.
    """

    name: str
    store_key: Callable[[int, str], str]
    unpack: Callable[[bytes], E]
    reads: Counter


class VersionedCache(Generic[E]):
    """Answers for keys. `read` is the last resort: one query to PostgreSQL, which returns an entry for each key."""

    def __init__(
        self,
        cache: RedisClient,
        version: DataVersionWatcher,
        read: Callable[[Sequence[str]], Awaitable[dict[str, E]]],
        kind: EntryKind[E],
        *,
        bytes_max: int,
        ttl_seconds: int,
    ) -> None:
        self._cache = cache
        self._version = version
        self._read = read
        self._kind = kind
        self._bytes_max = bytes_max
        self._ttl_seconds = ttl_seconds
        self._memory: dict[str, E] = {}
        self._bytes = 0
        self._flights: dict[str, asyncio.Task[E]] = {}
        version.on_change(self._clear)

    def peek(self, key: str) -> E | None:
        """Return what memory has, without waiting. For the fast path."""
        return self._memory.get(key)

    async def find(self, key: str) -> E:
        """Return the entry of a key. Raises StoreUnavailable when only PostgreSQL knows and it is down."""
        entry = self._memory.get(key)
        if entry is not None:
            self._kind.reads.labels("memory").inc()
            return entry
        flight = self._flights.get(key)
        if flight is None:
            flight = asyncio.create_task(self._fly(key))
            self._flights[key] = flight
            flight.add_done_callback(lambda done: self._flights.pop(key, None))
        else:
            metrics.flights_joined.labels(self._kind.name).inc()
        return await asyncio.shield(flight)

    async def find_many(self, keys: Collection[str]) -> dict[str, E]:
        """Return the entry of each key: one round trip to the cache store, one query for what it lacks.

        While PostgreSQL is down the answer leaves out what only it knows. Raises StoreUnavailable where that is all.
        """
        version = self._version.current
        found = {key: entry for key in keys if (entry := self._memory.get(key)) is not None}
        self._kind.reads.labels("memory").inc(len(found))
        found |= await self._cached(version, [key for key in dict.fromkeys(keys) if key not in found])
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        try:
            return {**found, **await self._loaded(version, missing)} if missing else found
        except StoreUnavailable:
            if not found:
                raise
            return found

    async def _fly(self, key: str) -> E:
        version = self._version.current
        found = await self._cached(version, [key]) or await self._loaded(version, [key])
        return found[key]

    async def _cached(self, version: int, keys: Sequence[str]) -> dict[str, E]:
        # The client sends what is asked in one turn of the event loop in one write, so this is one round trip.
        entries = await asyncio.gather(*(self._from_cache(self._kind.store_key(version, key)) for key in keys))
        found = {key: entry for key, entry in zip(keys, entries, strict=True) if entry is not None}
        self._keep(version, found)
        return found

    async def _loaded(self, version: int, keys: Sequence[str]) -> dict[str, E]:
        found = await self._read(keys)
        for entry in found.values():
            self._kind.reads.labels("database" if not entry.is_absent else "absent").inc()
        await asyncio.gather(
            *(self._to_cache(self._kind.store_key(version, key), entry) for key, entry in found.items())
        )
        self._keep(version, found)
        return found

    async def _from_cache(self, key: str) -> E | None:
        try:
            packed = await self._cache.command("GET", key)
        except StoreUnavailable:  # a cache may be down: PostgreSQL knows everything, only slower
            return None
        if not isinstance(packed, bytes):
            return None
        self._kind.reads.labels("cache").inc()
        return self._kind.unpack(packed)

    async def _to_cache(self, key: str, entry: E) -> None:
        try:
            await self._cache.command("SET", key, entry.pack(), "EX", self._ttl_seconds)
        except StoreUnavailable:
            return

    def _keep(self, version: int, found: Mapping[str, E]) -> None:
        if version != self._version.current:  # a load was committed meanwhile
            return
        for key, entry in found.items():
            if (known := self._memory.pop(key, None)) is not None:
                self._bytes -= _size(key, known)
            self._memory[key] = entry
            self._bytes += _size(key, entry)
        # The oldest go first. That is not LRU, but reads then cost one dict look-up and no bookkeeping at all.
        while self._bytes > self._bytes_max:
            oldest = next(iter(self._memory))
            self._bytes -= _size(oldest, self._memory.pop(oldest))

    def _clear(self) -> None:
        self._memory.clear()
        self._bytes = 0


def _size(key: str, entry: Entry) -> int:
    return len(key) + entry.size + _ENTRY_OVERHEAD_BYTES

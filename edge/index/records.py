"""Records by IID: memory, then the cache store, then PostgreSQL. One flight per IID; what is absent is remembered too.

Everything is keyed by data_version, so a load makes all of it stale at once and nothing is ever purged.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from edge.storage.data_version import DataVersionWatcher
from edge.storage.redis_client import RedisClient
from shared.errors import ItemMerged, ItemNotFound, ItemWithdrawn, StoreUnavailable
from shared.redis import keys
from shared.telemetry import metrics

_ENTRY_OVERHEAD_BYTES = 300


class Record(NamedTuple):
    """What one IID leads to. `state`: `+` a record, `-` nothing, `x` withdrawn, `>` merged into `survivor`."""

    state: str
    body: bytes
    etag: str
    survivor: str = ""

    def pack(self) -> bytes:
        """Write it as the cache store keeps it."""
        return f"{self.state}\n{self.etag}\n{self.survivor}\n".encode() + self.body

    @classmethod
    def unpack(cls, packed: bytes) -> "Record":
        """Read what the cache store kept."""
        state, etag, survivor, body = packed.split(b"\n", 3)
        return cls(state.decode(), body, etag.decode(), survivor.decode())

    def or_raise(self) -> "Record":
        """Return it if it is a record; raise ItemNotFound, ItemWithdrawn or ItemMerged if not."""
        if self.state == "-":
            raise ItemNotFound
        if self.state == "x":
            raise ItemWithdrawn
        if self.state == ">":
            raise ItemMerged(self.survivor)
        return self


Reader = Callable[[str], Awaitable[Record]]


class RecordCache:
    """Answers for IIDs. `read` is the last resort: one query to PostgreSQL."""

    def __init__(
        self, cache: RedisClient, version: DataVersionWatcher, read: Reader, *, bytes_max: int, ttl_seconds: int
    ) -> None:
        self._cache = cache
        self._version = version
        self._read = read
        self._bytes_max = bytes_max
        self._ttl_seconds = ttl_seconds
        self._memory: dict[str, Record] = {}
        self._bytes = 0
        self._flights: dict[str, asyncio.Task[Record]] = {}
        version.on_change(self._clear)

    def peek(self, iid: str) -> Record | None:
        """Return what memory has, without waiting. For the fast lane."""
        return self._memory.get(iid)

    async def find(self, iid: str) -> Record:
        """Return what a canonical IID leads to. Raises StoreUnavailable when only PostgreSQL knows and it is down."""
        record = self._memory.get(iid)
        if record is not None:
            metrics.record_reads.labels("memory").inc()
            return record
        flight = self._flights.get(iid)
        if flight is None:
            flight = asyncio.create_task(self._fly(iid))
            self._flights[iid] = flight
            flight.add_done_callback(lambda done: self._flights.pop(iid, None))
        else:
            metrics.flights_joined.labels("record").inc()
        return await asyncio.shield(flight)

    async def _fly(self, iid: str) -> Record:
        version = self._version.current
        key = keys.record(version, iid)
        record = await self._from_cache(key)
        if record is None:
            record = await self._read(iid)
            metrics.record_reads.labels("database" if record.state != "-" else "absent").inc()
            await self._to_cache(key, record)
        if version == self._version.current:
            self._keep(iid, record)
        return record

    async def _from_cache(self, key: str) -> Record | None:
        try:
            packed = await self._cache.command("GET", key)
        except StoreUnavailable:  # a cache may be down: PostgreSQL knows everything, only slower
            return None
        if not isinstance(packed, bytes):
            return None
        metrics.record_reads.labels("cache").inc()
        return Record.unpack(packed)

    async def _to_cache(self, key: str, record: Record) -> None:
        try:
            await self._cache.command("SET", key, record.pack(), "EX", self._ttl_seconds)
        except StoreUnavailable:
            return

    def _keep(self, iid: str, record: Record) -> None:
        # The oldest go first. That is not LRU, but reads then cost one dict look-up and no bookkeeping at all.
        self._memory[iid] = record
        self._bytes += len(record.body) + _ENTRY_OVERHEAD_BYTES
        while self._bytes > self._bytes_max:
            oldest = next(iter(self._memory))
            self._bytes -= len(self._memory.pop(oldest).body) + _ENTRY_OVERHEAD_BYTES

    def _clear(self) -> None:
        self._memory.clear()
        self._bytes = 0

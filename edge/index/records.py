"""Records by IID: memory, then the cache store, then PostgreSQL. One flight per IID; what is absent is remembered too.

Everything is keyed by data_version, so a load makes all of it stale at once and nothing is ever purged.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
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


Reader = Callable[[Sequence[str]], Awaitable[dict[str, Record]]]


class RecordCache:
    """Answers for IIDs. `read` is the last resort: one query to PostgreSQL, which returns a record for each IID."""

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

    async def find_many(self, iids: Collection[str]) -> dict[str, Record]:
        """Return what each canonical IID leads to: one round trip to the cache store, one query for what it lacks.

        While PostgreSQL is down the answer leaves out what only it knows. Raises StoreUnavailable where that is all.
        """
        version = self._version.current
        found = {iid: record for iid in iids if (record := self._memory.get(iid)) is not None}
        metrics.record_reads.labels("memory").inc(len(found))
        found |= await self._cached(version, [iid for iid in dict.fromkeys(iids) if iid not in found])
        missing = [iid for iid in dict.fromkeys(iids) if iid not in found]
        try:
            return {**found, **await self._loaded(version, missing)} if missing else found
        except StoreUnavailable:
            if not found:
                raise
            return found

    async def _fly(self, iid: str) -> Record:
        version = self._version.current
        found = await self._cached(version, [iid]) or await self._loaded(version, [iid])
        return found[iid]

    async def _cached(self, version: int, iids: Sequence[str]) -> dict[str, Record]:
        # The client sends what is asked in one turn of the event loop in one write, so this is one round trip.
        records = await asyncio.gather(*(self._from_cache(keys.record(version, iid)) for iid in iids))
        found = {iid: record for iid, record in zip(iids, records, strict=True) if record is not None}
        self._keep(version, found)
        return found

    async def _loaded(self, version: int, iids: Sequence[str]) -> dict[str, Record]:
        found = await self._read(iids)
        for record in found.values():
            metrics.record_reads.labels("database" if record.state != "-" else "absent").inc()
        await asyncio.gather(*(self._to_cache(keys.record(version, iid), record) for iid, record in found.items()))
        self._keep(version, found)
        return found

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

    def _keep(self, version: int, found: Mapping[str, Record]) -> None:
        if version != self._version.current:  # a load was committed meanwhile
            return
        for iid, record in found.items():
            if (known := self._memory.pop(iid, None)) is not None:
                self._bytes -= len(known.body) + _ENTRY_OVERHEAD_BYTES
            self._memory[iid] = record
            self._bytes += len(record.body) + _ENTRY_OVERHEAD_BYTES
        # The oldest go first. That is not LRU, but reads then cost one dict look-up and no bookkeeping at all.
        while self._bytes > self._bytes_max:
            oldest = next(iter(self._memory))
            self._bytes -= len(self._memory.pop(oldest).body) + _ENTRY_OVERHEAD_BYTES

    def _clear(self) -> None:
        self._memory.clear()
        self._bytes = 0

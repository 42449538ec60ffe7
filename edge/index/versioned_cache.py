"""A cache of values that depend on the data_version alone: memory, cache store, PostgreSQL. One read per key at a time.

Everything is keyed by the snapshot, a data_version and its moment, so a load or a restore makes all of it stale at once
and nothing is ever purged.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from prometheus_client import Counter

from edge.storage.data_version import DataVersionWatcher
from edge.storage.redis_client import RedisClient, deliver, pack
from shared.errors import StoreUnavailable, copy_of
from shared.telemetry import metrics

_ENTRY_OVERHEAD_BYTES = 275
# Queries of misses at a time: the busier it is, the more keys a query has.
_LOADS_MAX = 2
_KEYS_MAX = 500


class CachedEntry(Protocol):
    """The entry of a key; an absent value has one too."""

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


E = TypeVar("E", bound=CachedEntry)


@dataclass(frozen=True, slots=True)
class EntryKind(Generic[E]):
    """How entries of one kind are named, read back and counted.

    `store_key` makes the cache store's key of a layout, a snapshot and a key; `reads` counts by where an entry was.
    Edges of two releases, which run beside each other for a while, read each other's entries if `layout` is the same.
    """

    name: str
    layout: int
    store_key: Callable[[int, str, str], str]
    unpack: Callable[[bytes], E]
    reads: Counter


class VersionedCache(Generic[E]):
    """Answers for keys. `read` is the last resort: one query to PostgreSQL, which returns an entry for each key.

    Each kind of entry is a subclass, which says it in `kind`.
    """

    kind: EntryKind[E]

    def __init__(
        self,
        cache: RedisClient,
        version: DataVersionWatcher,
        read: Callable[[Sequence[str]], Awaitable[dict[str, E]]],
        *,
        bytes_max: int,
        ttl_seconds: int,
    ) -> None:
        self._cache = cache
        self._version = version
        self._read = read
        self._bytes_max = bytes_max
        self._ttl_seconds = ttl_seconds
        self._memory: dict[str, E] = {}
        self._bytes = 0
        # By snapshot too: who asks after a load must not wait for a read that began before it.
        self._waiting: dict[tuple[str, str], list[Callable[[E | Exception], None]]] = {}
        self._missing: list[tuple[str, str]] = []
        self._loads = 0
        self._tasks: set[asyncio.Task[None]] = set()
        version.on_change(self._clear)

    def peek(self, key: str) -> E | None:
        """Return what memory has, without waiting. For the fast path."""
        return self._memory.get(key)

    async def find(self, key: str) -> E:
        """Return the entry of a key. Raises StoreUnavailable when only PostgreSQL knows and it is down."""
        entry = self._memory.get(key)
        if entry is not None:
            self.kind.reads.labels("memory").inc()
            return entry
        future: asyncio.Future[E] = asyncio.get_running_loop().create_future()

        def deliver_outcome(outcome: E | Exception) -> None:
            if future.done():  # the caller has gone
                return
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.read_then(key, deliver_outcome)
        return await future

    def read_then(self, key: str, done: Callable[[E | Exception], None]) -> None:
        """Read what memory does not have, and call `done` with the entry, or with why there is none.

        Concurrent reads of one key are one; keys that the cache store lacks are read from PostgreSQL together.
        """
        snapshot = self._version.snapshot
        waiting = self._waiting.get((snapshot, key))
        if waiting is not None:
            metrics.coalesced_reads.labels(self.kind.name).inc()
            waiting.append(done)
            return
        name = self._store_key(snapshot, key)  # before anybody waits: a key that cannot be spelled raises here
        self._waiting[snapshot, key] = [done]
        self._from_cache(name, lambda entry: self._read_from_cache(snapshot, key, entry))

    async def find_many(self, keys: Collection[str]) -> dict[str, E]:
        """Return the entry of each key: one round trip to the cache store, one query for what it lacks.

        While PostgreSQL is down the answer leaves out what only it knows. Raises StoreUnavailable where that is all.
        """
        snapshot = self._version.snapshot
        entries = {key: entry for key in keys if (entry := self._memory.get(key)) is not None}
        self.kind.reads.labels("memory").inc(len(entries))
        entries |= await self._find_cached(snapshot, [key for key in dict.fromkeys(keys) if key not in entries])
        missing = [key for key in dict.fromkeys(keys) if key not in entries]
        try:
            return {**entries, **await self._load_entries(snapshot, missing)} if missing else entries
        except StoreUnavailable:
            if not entries:
                raise
            return entries

    def _store_key(self, snapshot: str, key: str) -> str:
        return self.kind.store_key(self.kind.layout, snapshot, key)

    def _read_from_cache(self, snapshot: str, key: str, entry: E | None) -> None:
        if entry is not None:
            self._keep(snapshot, {key: entry})
            self._end((snapshot, key), entry)
            return
        self._missing.append((snapshot, key))
        if self._loads < _LOADS_MAX and len(self._missing) == 1:
            # Not at once: the replies that came together with this one are of the same query.
            asyncio.get_running_loop().call_soon(self._load_missing)

    def _load_missing(self) -> None:
        if not self._missing or self._loads >= _LOADS_MAX:
            return
        self._loads += 1
        missing, self._missing = self._missing[:_KEYS_MAX], self._missing[_KEYS_MAX:]
        # Of no account: the keys may be of several.
        task = asyncio.create_task(self._load(missing), context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _load(self, missing: Sequence[tuple[str, str]]) -> None:
        keys = list(dict.fromkeys(key for _, key in missing))
        outcomes: Mapping[str, E | Exception]
        try:
            outcomes = await self._load_entries(self._version.snapshot, keys)
        except Exception as error:  # noqa: BLE001 - those who wait are to raise it, each for itself
            outcomes = dict.fromkeys(keys, error)
        self._loads -= 1
        self._load_missing()
        for snapshot, key in missing:
            self._end((snapshot, key), outcomes.get(key) or LookupError(f"the query has no entry for {key}"))

    def _end(self, waited_for: tuple[str, str], entry: E | Exception) -> None:
        for done in self._waiting.pop(waited_for, ()):
            deliver(done, copy_of(entry) if isinstance(entry, Exception) else entry)

    async def _find_cached(self, snapshot: str, keys: Sequence[str]) -> dict[str, E]:
        entries: dict[str, E] = {}

        def ask(key: str, on_answer: Callable[[], None]) -> None:
            def on_entry(entry: E | None) -> None:
                if entry is not None:
                    entries[key] = entry
                on_answer()

            self._from_cache(self._store_key(snapshot, key), on_entry)

        await _ask_all(keys, ask)
        self._keep(snapshot, entries)
        return entries

    async def _load_entries(self, snapshot: str, keys: Sequence[str]) -> dict[str, E]:
        entries = await self._read(keys)
        for entry in entries.values():
            self.kind.reads.labels("database" if not entry.is_absent else "absent").inc()

        def put(key: str, on_answer: Callable[[], None]) -> None:
            def on_reply(reply: object) -> None:
                self._note_error(reply)
                on_answer()

            name = self._store_key(snapshot, key)
            self._cache.send(pack("SET", name, entries[key].pack(), "EX", self._ttl_seconds), on_reply)

        await _ask_all(entries, put)
        self._keep(snapshot, entries)
        return entries

    def _from_cache(self, name: str, done: Callable[[E | None], None]) -> None:
        def on_reply(reply: object) -> None:
            # A cache may be down: PostgreSQL knows everything, only slower.
            self._note_error(reply)
            if not isinstance(reply, bytes):
                done(None)
                return
            try:
                entry = self.kind.unpack(reply)
            except Exception:  # noqa: BLE001 - whatever the bytes are, PostgreSQL has the entry, and they are replaced
                metrics.cache_unreadable.labels(self.kind.name).inc()
                done(None)
                return
            self.kind.reads.labels("cache").inc()
            done(entry)

        self._cache.send(pack("GET", name), on_reply)

    def _note_error(self, reply: object) -> None:
        if isinstance(reply, Exception):
            metrics.store_errors.labels(self._cache.name).inc()

    def _keep(self, snapshot: str, entries: Mapping[str, E]) -> None:
        if snapshot != self._version.snapshot:  # a load was committed meanwhile
            return
        for key, entry in entries.items():
            if (known := self._memory.pop(key, None)) is not None:
                self._bytes -= _size(key, known)
            self._memory[key] = entry
            self._bytes += _size(key, entry)
        # The oldest go first. That is not LRU, but reads then cost one dict lookup and no bookkeeping at all.
        while self._bytes > self._bytes_max:
            oldest = next(iter(self._memory))
            self._bytes -= _size(oldest, self._memory.pop(oldest))

    def _clear(self) -> None:
        self._memory.clear()
        self._bytes = 0


async def _ask_all(keys: Collection[str], ask: Callable[[str, Callable[[], None]], None]) -> None:
    """Ask for each key in one turn of the event loop, so in one write, and wait until all have been answered."""
    left = len(keys)
    if not left:
        return
    done = asyncio.get_running_loop().create_future()

    def on_answer() -> None:
        nonlocal left
        left -= 1
        if not left and not done.done():
            done.set_result(None)

    for key in keys:
        ask(key, on_answer)
    await done


def _size(key: str, entry: CachedEntry) -> int:
    return len(key) + entry.size + _ENTRY_OVERHEAD_BYTES

"""Records by IID: memory, then the cache store, then PostgreSQL."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from edge.index.versioned_cache import EntryKind, VersionedCache
from edge.storage.data_version import DataVersionWatcher
from edge.storage.redis_client import RedisClient
from shared.errors import ItemMerged, ItemNotFound, ItemWithdrawn
from shared.redis import keys
from shared.telemetry import metrics


class Record(msgspec.Struct, frozen=True):
    """The resolution of one IID. `state`: `+` a record, `-` nothing, `x` withdrawn, `>` merged into `survivor`."""

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

    @property
    def size(self) -> int:
        """The bytes of the record."""
        return len(self.body)

    @property
    def is_absent(self) -> bool:
        """Whether no item has the IID."""
        return self.state == "-"

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
LAYOUT = 1
"""Grows with each change of what is packed for the same row, also of the record's members."""
_KIND = EntryKind("record", LAYOUT, keys.record, Record.unpack, metrics.record_reads)


class RecordCache(VersionedCache[Record]):
    """Answers for canonical IIDs. `read` is the last resort: one query to PostgreSQL, which answers for each IID."""

    def __init__(
        self, cache: RedisClient, version: DataVersionWatcher, read: Reader, *, bytes_max: int, ttl_seconds: int
    ) -> None:
        super().__init__(cache, version, read, _KIND, bytes_max=bytes_max, ttl_seconds=ttl_seconds)

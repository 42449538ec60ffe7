"""Observations of a load by month: gathered within a bound of memory, sorted, and in tables of binary COPY."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import numpy as np

from shared.db.copy_binary import EPOCH_DAYS, TableLayout
from workers.analytics.rollups.arrays import Array, order_of
from workers.ingest.batches import LoadBuffers

# Columns of `observations`, their kinds in a binary COPY, and the fields of a load's rows. A load has one source.
OBSERVATION_COLUMNS = (
    ("item_id", "i8", "item"),
    ("mark", "i8", "mark"),
    ("price_minor", "i8", "price"),
    ("list_minor", "i8", "list"),
    ("day", "i4", "day"),
    ("channel_id", "i4", "channel"),
    ("units", "i4", "units"),
    ("currency", "S3", "currency"),
    ("kind", "S1", "kind"),
)
# A batch that touches more months than these is not in the order of days: its rows of a month are kept for more.
_MONTHS_IN_ORDER_MAX = 3
_NUMBER_MAX = 0xFFFF
_WRITTEN_BYTES = 128 * 1024
_KEY_BITS = 48  # 32 of the item, 5 of the day, 11 of the mark


@dataclass
class Chunk:
    """Rows of one month; `channel` counts into `Months.channels` until numbers of the index are put in its place.

    `superseded` says how many rows a later one replaced; `begins` is true for the first chunk of a sorted run,
    `passed` for the last one of a month when the file has gone on to the next.
    """

    month: date
    rows: Array
    layout: "_Layout"
    superseded: int
    begins: bool
    passed: bool = False

    def written(self) -> Iterator[Array]:
        """Yield the rows as COPY takes them, in tables of 128 KiB at most; each is gone when the next is requested."""
        return self.layout.written(self.rows)


class Months:
    """Gathers the observations of a load by month. Its memory is bounded in bytes, whatever the order of the rows."""

    def __init__(self, constants: dict[str, object], *, events: bool, buffers: LoadBuffers) -> None:
        self.columns = [name for name, _, _ in OBSERVATION_COLUMNS if name not in constants]
        self._layouts = [_Layout(self.columns, without_list=absent) for absent in (False, True)]
        self._events = events
        self._buffers = buffers
        self._kept: dict[int, list[Array]] = {}
        self._codes: dict[str, int] = {}
        self.channels: list[str] = []

    def take(self, rows: Array | None, channels: list[str]) -> Iterator[Chunk]:
        """Take a batch in; yield what is ready of it and of those before. None: not one of its rows could be used."""
        if rows is None or not len(rows):
            return
        rows["channel"] = np.array([self._code(name) for name in channels], "i4")[rows["channel"]]
        months = _months(rows["day"])
        here = (np.flatnonzero(np.bincount(months - months.min())) + months.min()).tolist()
        for month in here:
            part = rows if len(here) == 1 else rows.take(np.flatnonzero(months == month))
            self._kept.setdefault(month, []).append(part)
        if len(here) <= _MONTHS_IN_ORDER_MAX:
            for month in [month for month in self._kept if month != months[-1]]:
                yield from self._flush(month, passed=True)
        while self.kept_bytes() > self._buffers.kept_bytes:
            yield from self._flush(max(self._kept, key=lambda month: sum(map(len, self._kept[month]))))

    def rest(self) -> Iterator[Chunk]:
        """Yield the rows that are still kept."""
        for month in list(self._kept):
            yield from self._flush(month)

    def kept_bytes(self) -> int:
        return sum(part.nbytes for parts in self._kept.values() for part in parts)

    def _code(self, name: str) -> int:
        if name not in self._codes:
            self._codes[name] = len(self.channels)
            self.channels.append(name)
        return self._codes[name]

    def _flush(self, month: int, *, passed: bool = False) -> Iterator[Chunk]:
        first = date(1970 + month // 12, month % 12 + 1, 1)
        parts = self._kept.pop(month)
        rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
        ordered = in_order(rows, events=self._events)
        superseded, begins = len(rows) - len(ordered), True
        # A row without a list price is shorter than one with it; each kind is written as one table of fixed width.
        kinds, size = zip(self._layouts, _by_list_price(ordered), strict=True), self._buffers.chunk_rows
        pieces = [(layout, kind[n : n + size]) for layout, kind in kinds for n in range(0, len(kind), size)]
        for left, (layout, piece) in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True):
            yield Chunk(first, piece, layout, superseded, begins, passed=passed and not left)
            superseded, begins = 0, False


def _by_list_price(rows: Array) -> tuple[Array, Array]:
    """Return the rows with a list price, and those without; a copy only where there are both."""
    absent = rows["list"] < 0
    if absent.all() or not absent.any():
        return (rows[:0], rows) if len(rows) and absent[0] else (rows, rows[:0])
    return rows.take(np.flatnonzero(~absent)), rows.take(np.flatnonzero(absent))


def in_order(rows: Array, *, events: bool) -> Array:
    """Sort observations of one month by item, day and mark; number equal events on, keep the last of equal states."""
    days = (rows["day"] - rows["day"].min()).astype("u8")
    # One integer of the upper bits of all three sorts three times as fast as three keys; where it ties, all bits count.
    keys = (rows["item"].astype("u8") >> np.uint64(31) << np.uint64(16)) | (days << np.uint64(11))
    keys |= rows["mark"].astype("u8") >> np.uint64(52)
    order = order_of(keys, _KEY_BITS)
    keys = keys.take(order)
    tied = np.flatnonzero(keys[1:] == keys[:-1])
    if not len(tied):
        return rows.take(order)
    return _settle_ties(rows, order, keys, np.union1d(tied, tied + 1), events=events)


def _settle_ties(rows: Array, order: Array, keys: Array, at: Array, *, events: bool) -> Array:
    """Order the rows whose keys tie exactly, and settle those that are equal."""
    positions = order.take(at)
    tied = rows.take(positions)
    positions = positions.take(np.lexsort((positions, tied["mark"], tied["day"], tied["item"], keys.take(at))))
    order[at] = positions
    tied, ordered = rows.take(positions), rows.take(order)
    same = np.zeros(len(tied), bool)
    same[1:] = keys.take(at)[1:] == keys.take(at)[:-1]
    for name in ("item", "day", "mark"):
        same[1:] &= tied[name][1:] == tied[name][:-1]
    if events:
        count = np.arange(len(tied))
        count -= np.maximum.accumulate(np.where(same, 0, count))
        ordered["mark"][at] += np.minimum(count, _NUMBER_MAX)
        return ordered
    stays = np.ones(len(ordered), bool)
    stays[at[:-1]] = ~same[1:]
    return ordered.take(np.flatnonzero(stays))


class _Layout:
    """Observations as tables of binary COPY."""

    def __init__(self, columns: list[str], *, without_list: bool) -> None:
        chosen = [(name, kind) for name, kind, _ in OBSERVATION_COLUMNS if name in columns]
        layout = TableLayout(chosen, nulls=("list_minor",) if without_list else ())
        # One table for all rows, so small that it stays in the processor's cache: new memory costs four times as much
        # as filling it.
        self._table = layout.blank(_WRITTEN_BYTES // layout.dtype.itemsize)
        self._pairs = [(name, own) for name, _, own in OBSERVATION_COLUMNS if name in layout.names]

    def written(self, rows: Array) -> Iterator[Array]:
        """Yield the rows in this layout, table by table: the same table, filled anew."""
        for start in range(0, len(rows), len(self._table)):
            piece = rows[start : start + len(self._table)]
            table = self._table[: len(piece)]
            for name, own in self._pairs:
                table[name] = piece[own]
            yield table


def _months(days: Array) -> Array:
    return (days.astype("M8[D]") + EPOCH_DAYS).astype("M8[M]").astype("i8")

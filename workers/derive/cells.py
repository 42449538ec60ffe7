"""Cells as rows: entries into packed columns and back."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np

from shared.db.connect import Connection
from shared.db.queries import beside
from workers.derive import tally
from workers.derive.pack import Array, Entries, order_by, pack_each, unpack

SQL = beside(__file__, "derive.sql")
# A "char" and a character(3) travel as text does.
_TYPES = ("text", "int4", "date", "text", "int8", "int8", "int8", "bytea", "bytea", "bytea", "bytea", "bytea")
_COLUMNS = "scope, id, month, currency, n, items, units, days, channels, prices, entries, item_ids"
Row = tuple[Any, ...]
ByCurrency = dict[str, Entries]


def with_entries(scope: str, month: date, currency: str, entries: Entries) -> Iterator[Row]:
    """Make the cells of brands (`b`) or of categories (`c`): with entries, in one order whatever the loads were."""
    own, other = (entries.brand, entries.category) if scope == "b" else (entries.category, entries.brand)
    sums = tally.tally(entries, own, prices=scope == "b")
    order = order_by(
        np.searchsorted(sums.ids, own), np.unique(entries.item, return_inverse=True)[1], entries.day, entries.channel,
        entries.price, entries.units,
    )  # fmt: skip
    entries, own, other = entries.take(order), own[order], other[order]
    first = np.r_[True, entries.item[1:] != entries.item[:-1]]  # an item has one brand and one category: never in two
    number = np.cumsum(first) - 1
    distinct = entries.item[first].astype("<i8")
    bounds = np.searchsorted(own, [*sums.ids, sums.ids[-1] + 1])
    lows = number[bounds[:-1]]
    highs = [*lows[1:].tolist(), len(distinct)]
    place = number - np.repeat(lows, np.diff(bounds))
    columns = (entries.price, place, other, entries.day, entries.channel, entries.units)
    parts = zip(_heads(sums), sums.packed(), pack_each(columns, bounds), lows.tolist(), highs, strict=True)
    for (group, *figures), (days, channels, prices), packed, low, high in parts:
        spread = prices if scope == "b" else None
        ids = distinct[low:high].tobytes()
        yield (scope, group, month, currency, *figures, days, channels, spread, packed, ids)


def with_prices(scope: str, month: date, currency: str, sums: tally.Tally) -> Iterator[Row]:
    """Make the cells of larger groups, which have no entries of their own."""
    for (group, *figures), packed in zip(_heads(sums), sums.packed(), strict=True):
        yield (scope, group, month, currency, *figures, *packed, None, None)


def _heads(sums: tally.Tally) -> Iterator[tuple[int, ...]]:
    return zip(*(column.tolist() for column in (sums.ids, sums.n, sums.items, sums.units)), strict=True)


def entries_of(scope: str, number: int, packed: bytes, item_ids: bytes) -> Entries:
    """Read a cell's entries back."""
    price, place, other, day, channel, units = (column.astype("i8") for column in unpack(packed))
    item = np.frombuffer(item_ids, "<i8")[place]
    own = np.full(len(price), number, "i8")
    brand, category = (own, other) if scope == "b" else (other, own)
    return Entries(item, day, channel, price, units, brand, category)


def read_entries(connection: Connection, scope: str, month: date, ids: Array) -> ByCurrency:
    """Read the entries of cells, by currency."""
    found: dict[str, list[Entries]] = {}
    cursor = connection.cursor(binary=True)
    for number, currency, packed, item_ids in cursor.execute(
        SQL.cells_with_entries.encode(), (scope, month, ids.tolist())
    ):
        found.setdefault(currency, []).append(entries_of(scope, number, packed, item_ids))
    return {currency: Entries.joined(parts) for currency, parts in found.items()}


def read_sums(connection: Connection, scope: str, month: date, ids: Array) -> dict[str, tally.Tally]:
    """Read larger cells, by currency."""
    found: dict[str, list[Row]] = {}
    cursor = connection.cursor(binary=True)
    for row in cursor.execute(SQL.cells_with_prices.encode(), (scope, month, ids.tolist())):
        found.setdefault(row[1], []).append(row)
    return {c: tally.read(np.array([r[0] for r in rows]), [r[2:] for r in rows]) for c, rows in found.items()}


def write(connection: Connection, rows: Iterator[Row]) -> int:
    """Write new cells; return how many."""
    count = 0
    with connection.cursor().copy(f"COPY cells ({_COLUMNS}) FROM STDIN (FORMAT binary)".encode()) as copy:
        copy.set_types(_TYPES)
        for row in rows:
            copy.write_row(row)
            count += 1
    return count

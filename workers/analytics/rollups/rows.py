"""Rollups as rows: packed columns, and the price a month of each item in each channel that price indices compare."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from shared.db.connect import Connection
from shared.db.copy_binary import EPOCH, HEADER, TRAILER, RowLayout
from shared.db.queries import load_queries
from shared.price_index.panel import Floats
from workers.analytics.rollups import aggregates
from workers.analytics.rollups.aggregates import Ancestors, SortedEntries
from workers.analytics.rollups.codec import (
    Array,
    Entries,
    Stratum,
    narrow,
    numbered,
    pack_each,
    ranges,
    unpack,
)
from workers.analytics.rollups.figures import each_packed
from workers.analytics.rollups.outliers import ByStratum

# One price a month for each item of a rollup in each channel: what price indices compare.


_CHANNEL_BITS = 20  # a million channels, and 43 bits for items


class ItemPrices(NamedTuple):
    """Items in channels, each with its price in minor units (see `cell_prices`) and the units sold, 0 of listings."""

    item: Array
    channel: Array
    price: Floats
    units: Array

    @classmethod
    def of(cls, ordered: SortedEntries, *, sales: bool) -> "ItemPrices":
        """Return the prices above zero in the order of item and channel, by the rule of `cell_prices`.

        Sums by table instead of sorting: it takes a third of the time.
        """
        first, channels = int(np.searchsorted(ordered.prices, 0, "right")), len(ordered.channels)
        cell = ordered.of_rows(np.arange(len(ordered.items)) * channels) + ordered.channel
        rows = np.flatnonzero(ordered.price_rank >= first) if first else slice(None)
        cell, rank = cell[rows], ordered.price_rank[rows]
        cells, place = numbered(cell)
        values = ordered.prices.astype("f8")
        some = np.empty(len(cells), rank.dtype)
        some[place] = rank
        varied = np.zeros(len(cells), bool)
        varied[place[rank != some.take(place)]] = True
        sold: Array = np.zeros(len(cells))
        logs = np.log(np.maximum(values, 1.0)).take(rank)
        means = np.exp(np.bincount(place, logs, len(cells)) / np.bincount(place, minlength=len(cells)))
        if sales:
            units = ordered.entries.units[rows]
            sold = np.bincount(place, units.astype("f8"), len(cells))
            spent = np.bincount(place, values.take(rank) * units, len(cells))
            means = np.divide(spent, sold, out=means, where=sold > 0)
        price: Floats = np.where(varied, means, values.take(some))
        return cls(
            ordered.items.take(cells // channels), ordered.channels.take(cells % channels), price, sold.astype("i8")
        )

    def packed(self, items: Array, bounds: Array) -> Iterator[bytes]:
        """Pack the prices of rollups: `items` are ids, those of rollup n from `bounds[n]` to `bounds[n + 1]`."""
        first, stop = (np.searchsorted(self.item, items, side) for side in ("left", "right"))
        rows, ends = ranges(first, stop - first), np.r_[0, np.cumsum(stop - first)]
        bits = self.price.view("i8")  # the bits of a price of zero or more are an integer of zero or more
        return pack_each(
            tuple(column.take(rows) for column in (self.item, self.channel, bits, self.units)), ends[bounds]
        )

    def places(self) -> Array:
        """Return one number for each item and channel; the numbers of an item are side by side."""
        places: Array = (self.item.astype("i8") << _CHANNEL_BITS) | self.channel.astype("i8")
        return places

    def priced(self) -> "ItemPrices":
        """Leave out those without a price."""
        kept = np.flatnonzero(self.price)
        return self if len(kept) == len(self.price) else ItemPrices(*(column.take(kept) for column in self))


def item_of(places: Array) -> Array:
    """Return the item of each number that `ItemPrices.places` gave."""
    item: Array = places >> _CHANNEL_BITS
    return item


def unpacked(packed: bytes) -> ItemPrices:
    """Read a rollup's prices back."""
    item, channel, bits, units = unpack(packed)
    price: Floats = bits.astype("<u8", copy=False).view("<f8")
    return ItemPrices(item, channel, price, units).priced()


# Rollups as rows: entries into packed columns and back.


SQL = load_queries(__file__, "rollups.sql")
_COLUMNS = (
    "scope, id, month, currency, kind, n, items, units, days, channels, prices, list_prices, entries, item_ids, "
    "item_prices, by_channel, by_category"
)
_FIXED = ("S1", "i4", "i4", "S3", "S1", "i8", "i8", "i8")
_ROW = RowLayout(_FIXED, values=_COLUMNS.count(",") + 1 - len(_FIXED))
_OF_ENTRIES = 5  # columns that only rollups with entries have: the last ones
_PIECE_BYTES = 128 * 1024
Row = tuple[Any, ...]


def with_entries(
    scope: str, month: date, stratum: Stratum, ordered: SortedEntries, sums: aggregates.Aggregates, prices: ItemPrices
) -> Iterator[Row]:
    """Make the rollups of brands (`b`) or of categories (`c`): with entries, in one order whatever the loads were."""
    entries = ordered.entries
    brand, category = ordered.of_items(entries.brand), ordered.of_items(entries.category)
    own, other = (brand, category) if scope == "b" else (category, brand)
    items = np.argsort(own, kind="stable")  # an item has one brand and one category: it is never in two
    lengths, rows = ordered.lengths[items], ordered.gathered(items)
    lows = np.searchsorted(own[items], [*sums.ids, sums.ids[-1] + 1])
    position = np.arange(len(items)) - np.repeat(lows[:-1], np.diff(lows))
    price, day, channel, units, list_price = (column.take(rows) for column in ordered.packed_columns)
    columns = (
        price,
        np.repeat(narrow(position), lengths),
        np.repeat(narrow(other[items]), lengths),
        day,
        channel,
        units,
        list_price,
    )
    distinct = ordered.items[items].astype("<i8")
    of_items = prices.packed(ordered.items[items], lows)
    bounds = np.r_[0, np.cumsum(sums.n)]
    packs, (by_channel, by_category) = pack_each(columns, bounds), _grouped(scope, columns, bounds)
    spans = zip(lows[:-1].tolist(), lows[1:].tolist(), strict=True)
    heads, packed_sums = _heads(sums), sums.packed(prices=scope == "b")
    parts = zip(heads, packed_sums, packs, spans, of_items, by_channel, by_category, strict=True)
    for (group, *figures), sums_packed, packed, (low, high), *others in parts:
        yield (scope, group, month, *stratum, *figures, *sums_packed, packed, distinct[low:high].tobytes(), *others)


def _grouped(scope: str, columns: tuple[Array, ...], bounds: Array) -> tuple[list[bytes | None], ...]:
    """Return the figures of each rollup by channel, and of brands those by category."""
    price, item, other, day, channel, _, list_price = columns
    of_entries = (item, day, channel, price, list_price)
    none: list[bytes | None] = [None] * (len(bounds) - 1)
    by_category = each_packed(other, of_entries, bounds) if scope == "b" else none
    return each_packed(channel, of_entries, bounds), by_category


def with_prices(scope: str, month: date, stratum: Stratum, sums: aggregates.Aggregates) -> Iterator[Row]:
    """Make the rollups of larger groups, which have no entries of their own."""
    for (group, *figures), packed in zip(_heads(sums), sums.packed(), strict=True):
        yield (scope, group, month, *stratum, *figures, *packed, *(None,) * _OF_ENTRIES)


def _heads(sums: aggregates.Aggregates) -> Iterator[tuple[int, ...]]:
    return zip(sums.ids.tolist(), *sums.totals.T.tolist(), strict=True)


def whole(month: date, stratum: Stratum, entries: Entries, above: Ancestors) -> Iterator[Row]:
    """Make all rollups of a month and stratum, where there are none."""
    ordered = SortedEntries(entries)
    by_category, by_channel = aggregates.tally(ordered, "category"), aggregates.tally(ordered, "channel")
    prices = ItemPrices.of(ordered, sales=stratum.sales)
    yield from with_entries("b", month, stratum, ordered, aggregates.tally(ordered, "brand"), prices)
    yield from with_entries("c", month, stratum, ordered, by_category, prices)
    for scope, sums, ids in aggregates.ancestor_totals([by_category], [by_channel], above):
        yield from with_prices(scope, month, stratum, aggregates.total(sums, ids))


def entries_of(scope: str, number: int, packed: bytes, item_ids: bytes) -> Entries:
    """Read a rollup's entries back."""
    price, position, other, day, channel, units, list_price = (column.astype("i8") for column in unpack(packed))
    item = np.frombuffer(item_ids, "<i8")[position]
    own = np.full(len(price), number, "i8")
    brand, category = (own, other) if scope == "b" else (other, own)
    return Entries(item, day, channel, price, units, list_price, brand, category)


def read_entries(connection: Connection, scope: str, month: date, ids: Array) -> ByStratum:
    by_stratum: dict[Stratum, list[Entries]] = {}
    cursor = connection.cursor(binary=True)
    for number, currency, kind, packed, item_ids in cursor.execute(
        SQL.rollups_with_entries, (scope, month, ids.tolist())
    ):
        by_stratum.setdefault(Stratum(currency, kind), []).append(entries_of(scope, number, packed, item_ids))
    return {stratum: Entries.joined(parts) for stratum, parts in by_stratum.items()}


def read_sums(connection: Connection, scope: str, month: date, ids: Array) -> dict[Stratum, aggregates.Aggregates]:
    """Read larger rollups, by stratum."""
    by_stratum: dict[Stratum, list[Row]] = {}
    cursor = connection.cursor(binary=True)
    for row in cursor.execute(SQL.rollups_with_prices, (scope, month, ids.tolist())):
        by_stratum.setdefault(Stratum(row[1], row[2]), []).append(row)
    return {
        stratum: aggregates.read(np.array([row[0] for row in rows]), [row[3:] for row in rows])
        for stratum, rows in by_stratum.items()
    }


def written(rows: Iterable[Row], piece_bytes: int = _PIECE_BYTES) -> Iterator[bytes]:
    """Write rollups as rows of a binary COPY, in pieces of about `piece_bytes`; no row is in two of them."""
    piece = bytearray()
    for scope, number, month, currency, kind, n, items, units, *packed in rows:
        days = (month - EPOCH).days
        piece += _ROW.pack((scope.encode(), number, days, currency.encode(), kind.encode(), n, items, units), packed)
        if len(piece) >= piece_bytes:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def write(connection: Connection, pieces: Iterable[bytes]) -> None:
    """Add rollups as `written` makes them."""
    with connection.cursor().copy(f"COPY month_cells ({_COLUMNS}) FROM STDIN (FORMAT binary)".encode()) as copy:
        copy.write(HEADER)
        for piece in pieces:
            copy.write(piece)
        copy.write(TRAILER)

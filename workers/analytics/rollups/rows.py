"""Rollups as rows: entries into packed columns and back."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

import numpy as np

from shared.analytics.observations import ObservationKind
from shared.analytics.rollup_scope import RollupScope
from shared.db.connect import Connection
from shared.db.copy_binary import EPOCH, HEADER, TRAILER, RowLayout
from shared.db.queries import load_queries
from workers.analytics.rollups import aggregates
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.codec import narrow, pack_each, unpack
from workers.analytics.rollups.entries import Entries, Stratum
from workers.analytics.rollups.group_figures import each_packed
from workers.analytics.rollups.item_prices import ItemPrices
from workers.analytics.rollups.items import Ancestors
from workers.analytics.rollups.sorted_entries import SortedEntries
from workers.analytics.rollups.strata import ByStratum

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
    scope: RollupScope,
    month: date,
    stratum: Stratum,
    ordered: SortedEntries,
    sums: aggregates.Aggregates,
    prices: ItemPrices,
) -> Iterator[Row]:
    """Make the rollups of brands or of categories: with entries, in one order whatever the loads were."""
    entries = ordered.entries
    brand, category = ordered.of_items(entries.brand), ordered.of_items(entries.category)
    own, other = (brand, category) if scope is RollupScope.BRAND else (category, brand)
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
    heads, packed_sums = _heads(sums), sums.packed(prices=scope is RollupScope.BRAND)
    parts = zip(heads, packed_sums, packs, spans, of_items, by_channel, by_category, strict=True)
    for (group, *figures), sums_packed, packed, (low, high), *others in parts:
        yield (scope, group, month, *stratum, *figures, *sums_packed, packed, distinct[low:high].tobytes(), *others)


def _grouped(scope: RollupScope, columns: tuple[Array, ...], bounds: Array) -> tuple[list[bytes | None], ...]:
    """Return the figures of each rollup by channel, and of brands those by category."""
    price, item, other, day, channel, _, list_price = columns
    of_entries = (item, day, channel, price, list_price)
    none: list[bytes | None] = [None] * (len(bounds) - 1)
    by_category = each_packed(other, of_entries, bounds) if scope is RollupScope.BRAND else none
    return each_packed(channel, of_entries, bounds), by_category


def with_prices(scope: RollupScope, month: date, stratum: Stratum, sums: aggregates.Aggregates) -> Iterator[Row]:
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
    yield from with_entries(RollupScope.BRAND, month, stratum, ordered, aggregates.tally(ordered, "brand"), prices)
    yield from with_entries(RollupScope.CATEGORY, month, stratum, ordered, by_category, prices)
    for scope, sums, ids in aggregates.ancestor_totals([by_category], [by_channel], above):
        yield from with_prices(scope, month, stratum, aggregates.total(sums, ids))


def entries_of(scope: RollupScope, number: int, packed: bytes, item_ids: bytes) -> Entries:
    """Read a rollup's entries back."""
    price, position, other, day, channel, units, list_price = (column.astype("i8") for column in unpack(packed))
    item = np.frombuffer(item_ids, "<i8")[position]
    own = np.full(len(price), number, "i8")
    brand, category = (own, other) if scope is RollupScope.BRAND else (other, own)
    return Entries(item, day, channel, price, units, list_price, brand, category)


def read_entries(connection: Connection, scope: RollupScope, month: date, ids: Array) -> ByStratum:
    by_stratum: dict[Stratum, list[Entries]] = {}
    cursor = connection.cursor(binary=True)
    for number, currency, kind, packed, item_ids in cursor.execute(
        SQL.rollups_with_entries, (scope, month, ids.tolist())
    ):
        stratum = Stratum(currency, ObservationKind(kind))
        by_stratum.setdefault(stratum, []).append(entries_of(scope, number, packed, item_ids))
    return {stratum: Entries.joined(parts) for stratum, parts in by_stratum.items()}


def read_sums(
    connection: Connection, scope: RollupScope, month: date, ids: Array
) -> dict[Stratum, aggregates.Aggregates]:
    """Read larger rollups, by stratum."""
    by_stratum: dict[Stratum, list[Row]] = {}
    cursor = connection.cursor(binary=True)
    for row in cursor.execute(SQL.rollups_with_prices, (scope, month, ids.tolist())):
        by_stratum.setdefault(Stratum(row[1], ObservationKind(row[2])), []).append(row)
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

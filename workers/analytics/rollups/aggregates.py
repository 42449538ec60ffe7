"""Entries of one month in one order, and the sums over them by group, which add up."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import psycopg
from psycopg import pq

from shared.db.connect import Connection
from shared.db.copy_binary import TableLayout
from workers.analytics.rollups.codec import (
    Array,
    Entries,
    added_by_cell,
    counted,
    counted_pairs,
    dense,
    narrow,
    numbered,
    order_by,
    pack_each,
    ranges,
    starts_of,
    unpack,
)

# Where items belong: their brand, their category, and the categories above it.


_ITEM = TableLayout(
    (name, "i4" if "brand" in name or "category" in name else "i8")
    for name in ("item", "owner", "brand", "category", "old_brand", "old_category")
)


class Items(NamedTuple):
    """Where items belong, and where they did before the load (-1: nowhere), in the order of their ids.

    The owner is the item whose record an item's observations are part of: itself, the one it was merged into, or none
    (-1) where it was withdrawn. Brand and category are the owner's.
    """

    item: Array
    owner: Array
    brand: Array
    category: Array
    old_brand: Array
    old_category: Array

    @classmethod
    def read(cls, connection: Connection, query: str) -> "Items":
        """Read them by a query of six columns."""
        rows = copied_out(connection, query, _ITEM)
        order = np.argsort(rows["item"].astype("i8"))
        return cls(*(rows[name].astype("i8")[order] for name in cls._fields))

    def entries(
        self, item: Array, day: Array, channel: Array, price: Array, units: Array, list_price: Array
    ) -> Entries:
        """Make entries of observations under their owners; the item of those without an owner is -1.

        Observations of an item are mostly side by side: it is looked up once a stretch.
        """
        stretches = starts_of(item)
        lengths = np.diff(stretches, append=len(item))
        position = np.searchsorted(self.item, item[stretches])
        position[position == len(self.item)] = 0
        known = self.item[position] == item[stretches]
        owners = np.where(known, self.owner[position], -1)
        owner, brand, category = (
            np.repeat(column, lengths) for column in (owners, self.brand[position], self.category[position])
        )
        return Entries(owner, day, channel, price, units, list_price, brand, category)


class Ancestors:
    """Which categories a category counts for: itself and all above it."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self._levels: dict[int, list[int]] = {}
        for code, number in numbers.items():
            parts = code.split(".")
            above = (".".join(parts[:n]) for n in range(1, len(parts) + 1))
            self._levels[number] = [numbers[name] for name in above if name in numbers]

    def of(self, ids: Array) -> tuple[Array, Array]:
        """Return pairs of place in `ids` and category that it counts for; none for the id 0."""
        pairs = [(position, up) for position, number in enumerate(ids.tolist()) for up in self._levels.get(number, ())]
        table = np.array(pairs, "i8").reshape(len(pairs), 2)
        return table[:, 0], table[:, 1]


def copied_out(connection: Connection, query: str, layout: TableLayout) -> Array:
    """Read all rows of a query by COPY. By libpq's own calls: a cursor costs ten times as much a row."""
    pgconn, rows = connection.pgconn, bytearray()
    result = pgconn.exec_(f"COPY ({query}) TO STDOUT (FORMAT binary)".encode())
    if result.status != pq.ExecStatus.COPY_OUT:
        raise psycopg.OperationalError(result.get_error_message())
    while (got := pgconn.get_copy_data(0))[0] > 0:
        rows += got[1]
    while (ended := pgconn.get_result()) is not None:
        if ended.status != pq.ExecStatus.COMMAND_OK:
            raise psycopg.OperationalError(ended.get_error_message())
    return layout.rows_in(rows)


# Entries of one month in one order, whatever the loads were: by item, day, channel, price, units, list price.
#
# Whatever groups items (a brand, a category) then gathers whole stretches of rows instead of sorting them again.


class Pairs(NamedTuple):
    """Distinct pairs of item and channel, in that order: places in `Ordered.items` and in `Ordered.channels`."""

    item: Array
    channel: Array
    n: Array
    units: Array


def _tied(list_price: Array, *keys: Array) -> bool:
    """Return whether rows that are alike in all keys differ in their list price: then it must decide their order."""
    if not list_price.any():
        return False
    differs = np.flatnonzero(list_price[1:] != list_price[:-1])
    return bool(np.logical_and.reduce([key[differs] == key[differs + 1] for key in keys]).any())


class SortedEntries:
    """Entries in order, and their distinct items; `bounds[n]` to `bounds[n + 1]` are the rows of item n."""

    def __init__(self, entries: Entries) -> None:
        stretches = starts_of(entries.item)
        lengths = np.diff(stretches, append=len(entries.item))
        self.items, position = np.unique(entries.item[stretches], return_inverse=True)
        number = np.repeat(position, lengths)
        keys = (number, entries.day, entries.channel, entries.price, entries.units)
        order = order_by(*keys, nearly=True)
        if _tied(entries.list_price.take(order), *(key.take(order) for key in keys)):
            order = order_by(*keys, entries.list_price)
        self.entries = entries.take(order)
        self.bounds = np.append(starts_of(self.entries.item), len(order))
        self.channels, self.channel = numbered(self.entries.channel)
        self.prices, self.price_rank = numbered(self.entries.price)

    @cached_property
    def packed_columns(self) -> tuple[Array, ...]:
        """Price, day, channel, units and list price, as narrow as they are packed: they are gathered for each scope."""
        entries = self.entries
        columns = (entries.price, entries.day, entries.channel, entries.units, entries.list_price)
        return tuple(narrow(column) for column in columns)

    @property
    def lengths(self) -> Array:
        """How many rows each item has."""
        return np.diff(self.bounds)

    def of_items(self, column: Array) -> Array:
        """Return one value an item of a column that is the same in all rows of an item."""
        return column.take(self.bounds[:-1])

    def of_rows(self, column: Array) -> Array:
        """Repeat one value an item for each of its rows."""
        return np.repeat(column, self.lengths)

    def gathered(self, order: Array) -> Array:
        """Return the places of all rows when items come in this order."""
        return ranges(self.bounds[order], self.lengths[order])

    @cached_property
    def pairs(self) -> Pairs:
        """Which items were seen in which channels, how often, and how many units."""
        item, units = self.of_rows(np.arange(len(self.items))), self.entries.units
        if len(item) and dense((item, self.channel), len(item)):
            wide = len(self.channels)
            cells, n, sold = added_by_cell(item * wide + self.channel, None, units)
            return Pairs(cells // wide, cells % wide, n, sold)
        order = order_by(item, self.channel, nearly=True)
        item, channel = item.take(order), self.channel.take(order)
        starts = starts_of(item, channel)
        n = np.diff(starts, append=len(order))
        return Pairs(item[starts], channel[starts], n, np.add.reduceat(units.take(order), starts))


# Sums over entries by group, which add up: over groups into larger ones, over loads by taking out and putting in.


DAYS = 31


class Channels(NamedTuple):
    """One row a group and channel, in that order."""

    group: Array
    channel: Array
    n: Array
    items: Array
    units: Array


class Prices(NamedTuple):
    """Distinct prices of each group, ascending, and how often each comes."""

    group: Array
    price: Array
    times: Array


class ListPrices(NamedTuple):
    """Distinct pairs of price and list price of each group, ascending; only where a list price is known."""

    group: Array
    price: Array
    list_price: Array
    times: Array


class Aggregates(NamedTuple):
    """The sums of each group; `group` in the other members is a position in `ids`."""

    ids: Array
    n: Array
    items: Array
    units: Array
    days: Array
    channels: Channels
    prices: Prices
    list_prices: ListPrices

    def negated(self) -> "Aggregates":
        """Return it so that adding takes away."""
        channels = self.channels._replace(n=-self.channels.n, items=-self.channels.items, units=-self.channels.units)
        return Aggregates(
            self.ids,
            -self.n,
            -self.items,
            -self.units,
            -self.days,
            channels,
            self.prices._replace(times=-self.prices.times),
            self.list_prices._replace(times=-self.list_prices.times),
        )

    def packed(self, *, prices: bool = True) -> Iterator[tuple[bytes, bytes, bytes | None, bytes | None]]:
        """Yield each group's days, channels, prices and list prices (or None) as a rollup keeps them."""
        c, p, both, count = self.channels, self.prices, self.list_prices, len(self.ids)
        bounds = [np.searchsorted(group, np.arange(count + 1)) for group in (c.group, p.group, both.group)]
        days = pack_each((self.days.reshape(-1),), np.arange(count + 1) * DAYS)
        channels = pack_each((c.channel, c.n, c.items, c.units), bounds[0])
        if not prices:
            return zip(days, channels, repeat(None, count), repeat(None, count), strict=True)
        spread = pack_each((p.price, p.times), bounds[1])
        pairs = pack_each((both.price, both.list_price, both.times), bounds[2])
        return zip(days, channels, spread, pairs, strict=True)


def tally(month: SortedEntries, by: str) -> Aggregates:
    """Sum a month by `brand`, `category` or `channel`. Items are counted distinctly in each group and channel."""
    pairs = month.pairs
    if by == "channel":
        ids, of_row, of_pair = month.channels, month.channel, pairs.channel
        items = np.bincount(of_pair, minlength=len(ids))
    else:
        ids, group = numbered(month.of_items(getattr(month.entries, by)))
        of_row, of_pair = month.of_rows(group), group[pairs.item]
        items = np.bincount(group, minlength=len(ids))
    count = len(ids)
    days = np.bincount(of_row * DAYS + month.entries.day - 1, minlength=count * DAYS).reshape(count, DAYS)
    ones = np.ones(len(of_pair), "i8")
    channels = _summed(of_pair, month.channels[pairs.channel], pairs.n, ones, pairs.units)
    units = np.zeros(count, "i8")
    np.add.at(units, channels.group, channels.units)
    listed = _listed(of_row, month.entries.price, month.entries.list_price)
    return Aggregates(ids, days.sum(axis=1), items, units, days, channels, _spread(month, of_row), listed)


def _spread(month: SortedEntries, of_row: Array) -> Prices:
    group, rank, times = counted(of_row, month.price_rank)
    return Prices(group, month.prices.take(rank), times)


def _listed(group: Array, price: Array, list_price: Array) -> ListPrices:
    rows = np.flatnonzero(list_price)
    ones = np.ones(len(rows), "i8")
    return ListPrices(*counted_pairs(group.take(rows), price.take(rows), list_price.take(rows), ones))


def total(tallies: list[Aggregates], ids: list[Array]) -> Aggregates:
    """Add tallies up, each group under the id given for it; groups and prices that come to nothing are left out."""
    given = np.concatenate(ids)
    if len(tallies) == 1 and np.array_equal(given, tallies[0].ids) and (tallies[0].n > 0).all():
        return tallies[0]  # `tally` has one group an id, and nothing to take away
    wanted, position = np.unique(given, return_inverse=True)
    offsets = np.cumsum([0, *(len(sums.ids) for sums in tallies)])[:-1]
    moved = [position[offset : offset + len(sums.ids)] for sums, offset in zip(tallies, offsets, strict=True)]
    n, items, units = (_added(position, [getattr(sums, name) for sums in tallies], len(wanted)) for name in _SUMS)
    days = np.zeros((len(wanted), DAYS), "i8")
    np.add.at(days, position, np.concatenate([sums.days for sums in tallies]))
    result = Aggregates(
        wanted, n, items, units, days, _channels(tallies, moved), _prices(tallies, moved), _pairs(tallies, moved)
    )
    return _without_empty(result)


def ancestor_totals(
    by_category: list[Aggregates], by_channel: list[Aggregates], above: Ancestors
) -> Iterator[tuple[str, list[Aggregates], list[Array]]]:
    """Yield scope, tallies and ids for the groups that have no entries of their own, to be added up by `total`."""
    yield "h", by_channel, [sums.ids for sums in by_channel]
    yield "a", by_category, [np.zeros(len(sums.ids), "i8") for sums in by_category]
    chosen = [above.of(sums.ids) for sums in by_category]
    lifted = [_lifted(sums, positions) for sums, (positions, _) in zip(by_category, chosen, strict=True)]
    if any(len(ups) for _, ups in chosen):
        yield "t", lifted, [ups for _, ups in chosen]


def _lifted(one: Aggregates, positions: Array) -> Aggregates:
    """Repeat groups: a category's sums count once for each level that it belongs to."""
    return Aggregates(
        one.ids[positions],
        one.n[positions],
        one.items[positions],
        one.units[positions],
        one.days[positions],
        Channels(*_repeated(one.channels, positions)),
        Prices(*_repeated(one.prices, positions)),
        ListPrices(*_repeated(one.list_prices, positions)),
    )


def _repeated(columns: Iterable[Array], positions: Array) -> Iterator[Array]:
    group, *others = columns
    starts, stops = np.searchsorted(group, positions), np.searchsorted(group, positions, side="right")
    rows = ranges(starts, stops - starts)
    yield np.repeat(np.arange(len(positions)), stops - starts)
    yield from (column.take(rows) for column in others)


_SUMS = ("n", "items", "units")


def read(ids: Array, rows: list[tuple[Any, ...]]) -> Aggregates:
    """Read the aggregates of rollups as they are stored: n, items, units, days, channels, prices, list prices."""
    channels, prices, pairs = (_unpacked([row[column] for row in rows]) for column in (4, 5, 6))
    n, items, units = (np.array([row[position] for row in rows], "i8") for position in range(3))
    days = np.array([unpack(row[3])[0] for row in rows], "i8").reshape(len(rows), DAYS)
    stacked = Channels(*_stacked(channels, len(Channels._fields)))
    spread = Prices(*_stacked(prices, len(Prices._fields)))
    listed = ListPrices(*_stacked(pairs, len(ListPrices._fields)))
    return Aggregates(ids, n, items, units, days, stacked, spread, listed)


def _unpacked(packed: list[bytes]) -> list[list[Array]]:
    """Unpack one column of many rollups, each part with the place of its rollup in front."""
    parts = []
    for position, one in enumerate(packed):
        columns = [column.astype("i8") for column in unpack(one)]
        parts.append([np.full(len(columns[0]), position), *columns])
    return parts


def _stacked(parts: list[list[Array]], columns: int) -> list[Array]:
    if len(parts) == 1:
        return parts[0]
    return [np.concatenate([np.empty(0, "i8"), *(part[n] for part in parts)]) for n in range(columns)]


def _added(position: Array, values: list[Array], count: int) -> Array:
    summed = np.zeros(count, "i8")
    np.add.at(summed, position, np.concatenate(values))
    return summed


def _channels(tallies: list[Aggregates], moved: list[Array]) -> Channels:
    parts = [[to[sums.channels.group], *sums.channels[1:]] for sums, to in zip(tallies, moved, strict=True)]
    sums = _summed(*_stacked(parts, len(Channels._fields)))
    return Channels(*(column[sums.n > 0] for column in sums))


def _summed(group: Array, channel: Array, *figures: Array) -> Channels:
    if not len(group):
        return Channels(group, channel, *figures)
    if dense((group, channel), len(group)):
        wide = int(channel.max()) + 1
        cells, *sums = added_by_cell(group * wide + channel, *figures)
        return Channels(cells // wide, cells % wide, *sums)
    order = order_by(group, channel)
    group, channel = group[order], channel[order]
    starts = starts_of(group, channel)
    return Channels(group[starts], channel[starts], *(np.add.reduceat(column[order], starts) for column in figures))


def _prices(tallies: list[Aggregates], moved: list[Array]) -> Prices:
    parts = [[to.take(sums.prices.group), *sums.prices[1:]] for sums, to in zip(tallies, moved, strict=True)]
    group, price, times = _stacked(parts, 3)
    prices, rank = numbered(price)
    group, rank, times = counted(group, rank, times)
    left = np.flatnonzero(times > 0)
    return Prices(group.take(left), prices.take(rank.take(left)), times.take(left))


def _pairs(tallies: list[Aggregates], moved: list[Array]) -> ListPrices:
    parts = [[to.take(sums.list_prices.group), *sums.list_prices[1:]] for sums, to in zip(tallies, moved, strict=True)]
    sums = ListPrices(*counted_pairs(*_stacked(parts, len(ListPrices._fields))))
    left = np.flatnonzero(sums.times > 0)
    return ListPrices(*(column.take(left) for column in sums))


def _without_empty(sums: Aggregates) -> Aggregates:
    kept = sums.n > 0
    if kept.all():
        return sums
    position = np.cumsum(kept) - 1
    return Aggregates(
        sums.ids[kept],
        sums.n[kept],
        sums.items[kept],
        sums.units[kept],
        sums.days[kept],
        sums.channels._replace(group=position[sums.channels.group]),
        sums.prices._replace(group=position[sums.prices.group]),
        sums.list_prices._replace(group=position[sums.list_prices.group]),
    )

"""Sums over entries by group, which add up: over groups into larger ones, over loads by taking out and putting in."""

from collections.abc import Iterator
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from shared.analytics.rollup_scope import RollupScope
from workers.analytics.rollups.arrays import Array, joined, numbered, ranges, sums_by
from workers.analytics.rollups.codec import pack_each, unpack, unpack_joined
from workers.analytics.rollups.items import Ancestors
from workers.analytics.rollups.sorted_entries import SortedEntries

DAYS = 31


class Sums(NamedTuple):
    """Figures by keys, of which the first is the place of a group, in the order of the keys."""

    keys: tuple[Array, ...]
    figures: tuple[Array, ...]

    @classmethod
    def of(cls, keys: tuple[Array, ...], *figures: Array | None) -> "Sums":
        """Add figures up over equal keys, as `sums_by` does."""
        columns = sums_by(keys, *figures)
        return cls(columns[: len(keys)], columns[len(keys) :])

    @classmethod
    def joined(cls, parts: "list[Sums]") -> "Sums":
        """Add several up, each with all keys and figures of the others."""
        keys, figures = (joined([part[member] for part in parts]) for member in range(2))
        return cls.of(keys, *figures)

    def negated(self) -> "Sums":
        """Return it so that adding takes away."""
        return Sums(self.keys, tuple(-figure for figure in self.figures))

    def moved(self, to: Array) -> "Sums":
        """Return the same of other groups: group n becomes `to[n]`."""
        return Sums((to.take(self.keys[0]), *self.keys[1:]), self.figures)

    def repeated(self, groups: Array) -> "Sums":
        """Return groups in this order, each as often as it is named, and numbered anew."""
        starts, stops = (np.searchsorted(self.keys[0], groups, side=side) for side in ("left", "right"))
        rows, lengths = ranges(starts, stops - starts), stops - starts
        keys = (column.take(rows) for column in self.keys[1:])
        return Sums((np.repeat(np.arange(len(groups)), lengths), *keys), tuple(f.take(rows) for f in self.figures))

    def packed(self, groups: int) -> Iterator[bytes]:
        """Yield the rows of each group as a rollup keeps them."""
        return pack_each((*self.keys[1:], *self.figures), np.searchsorted(self.keys[0], np.arange(groups + 1)))

    @classmethod
    def unpacked(cls, packed: list[bytes], keys: int) -> "Sums":
        """Read what `packed` yielded of several groups back; `keys`: how many keys there are besides the group."""
        rows, columns = unpack_joined(packed, packed[0][0])
        wide = [column.astype("i8") for column in columns]
        return cls((np.repeat(np.arange(len(packed)), rows), *wide[:keys]), tuple(wide[keys:]))


class Aggregates(NamedTuple):
    """The sums of each group; the first key of the other members is a position in `ids`.

    `totals` has the columns n, items and units, `days` a column for each day. By channel there are n, items and units,
    by price how often it comes, and so by price and list price, where a list price is known.
    """

    ids: Array
    totals: Array
    days: Array
    channels: Sums
    prices: Sums
    list_prices: Sums

    @property
    def n(self) -> Array:
        """How many observations each group has."""
        return self.totals[:, 0]

    def negated(self) -> "Aggregates":
        """Return it so that adding takes away."""
        return Aggregates(self.ids, -self.totals, -self.days, *(sums.negated() for sums in self[3:]))

    def repeated(self, groups: Array) -> "Aggregates":
        """Return groups in this order: a category's sums count once for each level that it belongs to."""
        by_key = (sums.repeated(groups) for sums in self[3:])
        return Aggregates(self.ids[groups], self.totals[groups], self.days[groups], *by_key)

    def packed(self, *, prices: bool = True) -> Iterator[tuple[bytes, bytes, bytes | None, bytes | None]]:
        """Yield each group's days, channels, prices and list prices (or None) as a rollup keeps them."""
        count = len(self.ids)
        days = pack_each((self.days.reshape(-1),), np.arange(count + 1) * DAYS)
        channels = self.channels.packed(count)
        if not prices:
            return zip(days, channels, repeat(None, count), repeat(None, count), strict=True)
        return zip(days, channels, self.prices.packed(count), self.list_prices.packed(count), strict=True)


def tally(month: SortedEntries, by: str) -> Aggregates:
    """Sum a month by `brand`, `category` or `channel`. Items are counted distinctly in each group and channel."""
    item, channel, n, units = month.pairs
    if by == "channel":
        ids, of_row, of_pair = month.channels, month.channel, channel
        items = np.bincount(of_pair, minlength=len(ids))
    else:
        ids, group = numbered(month.of_items(getattr(month.entries, by)))
        of_row, of_pair = month.of_rows(group), group[item]
        items = np.bincount(group, minlength=len(ids))
    count = len(ids)
    days = np.bincount(of_row * DAYS + month.entries.day - 1, minlength=count * DAYS).reshape(count, DAYS)
    channels = Sums.of((of_pair, month.channels[channel]), n, None, units)
    sold = np.bincount(of_pair, weights=units, minlength=count).astype("i8")
    (group, rank), times = Sums.of((of_row, month.price_rank), None)
    prices = Sums((group, month.prices.take(rank)), times)
    rows = np.flatnonzero(month.entries.list_price)
    listed = (column.take(rows) for column in (of_row, month.entries.price, month.entries.list_price))
    totals = np.stack([days.sum(axis=1), items, sold], axis=1)
    return Aggregates(ids, totals, days, channels, prices, Sums.of(tuple(listed), None))


def total(tallies: list[Aggregates], ids: list[Array]) -> Aggregates:
    """Add tallies up, each group under the id given for it; groups and prices that come to nothing are left out."""
    given = np.concatenate(ids)
    if len(tallies) == 1 and np.array_equal(given, tallies[0].ids) and (tallies[0].n > 0).all():
        return tallies[0]  # `tally` has one group an id, and nothing to take away
    wanted, position = np.unique(given, return_inverse=True)
    ends = np.cumsum([len(sums.ids) for sums in tallies])
    moved = np.split(position, ends[:-1])
    totals, days = np.zeros((len(wanted), 3), "i8"), np.zeros((len(wanted), DAYS), "i8")
    np.add.at(totals, position, np.concatenate([sums.totals for sums in tallies]))
    np.add.at(days, position, np.concatenate([sums.days for sums in tallies]))
    kept = np.flatnonzero(totals[:, 0] > 0)
    place = np.zeros(len(wanted), "i8")
    place[kept] = np.arange(len(kept))  # of the others nothing is left below
    by_key = (
        Sums.joined([sums.moved(to) for sums, to in zip(parts, moved, strict=True)]).moved(place)
        for parts in zip(*(sums[3:] for sums in tallies), strict=True)
    )
    return Aggregates(wanted[kept], totals[kept], days[kept], *by_key)


def ancestor_totals(
    by_category: list[Aggregates], by_channel: list[Aggregates], above: Ancestors
) -> Iterator[tuple[RollupScope, list[Aggregates], list[Array]]]:
    """Yield scope, tallies and ids for the groups that have no entries of their own, to be added up by `total`."""
    yield RollupScope.CHANNEL, by_channel, [sums.ids for sums in by_channel]
    yield RollupScope.WHOLE_INDEX, by_category, [np.zeros(len(sums.ids), "i8") for sums in by_category]
    chosen = [above.of(sums.ids) for sums in by_category]
    lifted = [sums.repeated(positions) for sums, (positions, _) in zip(by_category, chosen, strict=True)]
    if any(len(ups) for _, ups in chosen):
        yield RollupScope.CATEGORY_TREE, lifted, [ups for _, ups in chosen]


def read(ids: Array, rows: list[tuple[Any, ...]]) -> Aggregates:
    """Read the aggregates of rollups as they are stored: n, items, units, days, channels, prices, list prices."""
    totals = np.array([row[:3] for row in rows], "i8")
    days = np.array([unpack(row[3])[0] for row in rows], "i8")
    by_key = (Sums.unpacked([row[column] for row in rows], keys) for column, keys in ((4, 1), (5, 1), (6, 2)))
    return Aggregates(ids, totals, days, *by_key)

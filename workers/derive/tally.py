"""Sums over entries by group, which add up: over groups into larger ones, over loads by taking out and putting in."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from workers.derive.pack import Array, Entries, counted, order_by, pack_each, unpack

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


class Tally(NamedTuple):
    """What is known of each group; `group` in the other members is a place in `ids`."""

    ids: Array
    n: Array
    items: Array
    units: Array
    days: Array
    channels: Channels
    prices: Prices

    def negated(self) -> "Tally":
        """Return it so that adding takes away."""
        channels = self.channels._replace(n=-self.channels.n, items=-self.channels.items, units=-self.channels.units)
        return Tally(
            self.ids, -self.n, -self.items, -self.units, -self.days, channels,
            self.prices._replace(times=-self.prices.times),
        )  # fmt: skip

    def packed(self) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Yield each group's days, channels and prices as a cell keeps them."""
        c, p, count = self.channels, self.prices, len(self.ids)
        bounds = [np.searchsorted(group, np.arange(count + 1)) for group in (c.group, p.group)]
        days = pack_each((self.days.reshape(-1),), np.arange(count + 1) * DAYS)
        channels = pack_each((c.channel, c.n, c.items, c.units), bounds[0])
        return zip(days, channels, pack_each((p.price, p.times), bounds[1]), strict=True)


def tally(entries: Entries, by: Array, *, prices: bool = True) -> Tally:
    """Sum entries by a column of theirs. Items are counted distinctly in each group and in each of its channels."""
    ids, group = np.unique(by, return_inverse=True)
    item = np.unique(entries.item, return_inverse=True)[1]
    count = len(ids)
    days = np.bincount(group * DAYS + entries.day - 1, minlength=count * DAYS).reshape(count, DAYS)
    codes, channel = np.unique(entries.channel, return_inverse=True)
    both = group * max(1, len(codes)) + channel
    pairs, pair, pair_n = np.unique(both, return_inverse=True, return_counts=True)
    sums = Channels(
        pairs // max(1, len(codes)), codes[pairs % max(1, len(codes))], pair_n,
        _distinct(pair, item, len(pairs)), _sum(pair, entries.units, len(pairs)),
    )  # fmt: skip
    spread = Prices(*counted(group, entries.price)) if prices else Prices(*counted(group[:0], group[:0]))
    return Tally(
        ids, days.sum(axis=1), _distinct(group, item, count), _sum(group, entries.units, count), days, sums, spread
    )


def total(tallies: list[Tally], ids: list[Array]) -> Tally:
    """Add tallies up, each group under the id given for it; groups and prices that come to nothing are left out."""
    given = np.concatenate(ids)
    wanted, place = np.unique(given, return_inverse=True)
    offsets = np.cumsum([0, *(len(one.ids) for one in tallies)])[:-1]
    moved = [place[offset : offset + len(one.ids)] for one, offset in zip(tallies, offsets, strict=True)]
    n, items, units = (_added(place, [getattr(one, name) for one in tallies], len(wanted)) for name in _SUMS)
    days = np.zeros((len(wanted), DAYS), "i8")
    np.add.at(days, place, np.concatenate([one.days for one in tallies]))
    result = Tally(wanted, n, items, units, days, _channels(tallies, moved), _prices(tallies, moved))
    return _without_empty(result)


_SUMS = ("n", "items", "units")


def read(ids: Array, rows: list[tuple[int, int, int, bytes, bytes, bytes]]) -> Tally:
    """Make a tally of cells as they are kept: n, items, units, days, channels, prices."""
    channels, prices = [], []
    for place, row in enumerate(rows):
        columns = [column.astype("i8") for column in unpack(row[4])]
        channels.append([np.full(len(columns[0]), place), *columns])
        columns = [column.astype("i8") for column in unpack(row[5])]
        prices.append([np.full(len(columns[0]), place), *columns])
    n, items, units = (np.array([row[place] for row in rows], "i8") for place in range(3))
    days = np.array([unpack(row[3])[0] for row in rows], "i8").reshape(len(rows), DAYS)
    stacked = Channels(*_stacked(channels, len(Channels._fields)))
    return Tally(ids, n, items, units, days, stacked, Prices(*_stacked(prices, len(Prices._fields))))


def _stacked(parts: list[list[Array]], columns: int) -> list[Array]:
    return [np.concatenate([np.empty(0, "i8"), *(part[n] for part in parts)]) for n in range(columns)]


def _added(place: Array, values: list[Array], count: int) -> Array:
    summed = np.zeros(count, "i8")
    np.add.at(summed, place, np.concatenate(values))
    return summed


def _channels(tallies: list[Tally], moved: list[Array]) -> Channels:
    parts = [[to[one.channels.group], *one.channels[1:]] for one, to in zip(tallies, moved, strict=True)]
    group, channel, *sums = _stacked(parts, len(Channels._fields))
    if not len(group):
        return Channels(group, channel, *sums)
    order = order_by(group, channel)
    group, channel = group[order], channel[order]
    starts = np.flatnonzero(np.r_[True, (group[1:] != group[:-1]) | (channel[1:] != channel[:-1])])
    n, items, units = (np.add.reduceat(column[order], starts) for column in sums)
    kept = n > 0
    return Channels(group[starts][kept], channel[starts][kept], n[kept], items[kept], units[kept])


def _prices(tallies: list[Tally], moved: list[Array]) -> Prices:
    parts = [[to[one.prices.group], *one.prices[1:]] for one, to in zip(tallies, moved, strict=True)]
    group, price, times = counted(*_stacked(parts, 3))
    return Prices(group[times > 0], price[times > 0], times[times > 0])


def _without_empty(sums: Tally) -> Tally:
    kept = sums.n > 0
    if kept.all():
        return sums
    place = np.cumsum(kept) - 1
    return Tally(
        sums.ids[kept], sums.n[kept], sums.items[kept], sums.units[kept], sums.days[kept],
        sums.channels._replace(group=place[sums.channels.group]), sums.prices._replace(group=place[sums.prices.group]),
    )  # fmt: skip


def _distinct(group: Array, item: Array, count: int) -> Array:
    if not len(group):
        return np.zeros(count, "i8")
    width = int(item.max()) + 1
    pairs = np.sort(group * width + item)
    pairs = pairs[np.r_[True, pairs[1:] != pairs[:-1]]]
    return np.bincount(pairs // width, minlength=count)


def _sum(group: Array, values: Array, count: int) -> Array:
    # Through floating point: exact up to 2^53, which no month's units reach.
    return np.bincount(group, weights=values, minlength=count).astype("i8")

"""Observations into segments: one for each currency, period and group. Months are condensed as they come. Pure."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import repeat
from math import prod
from typing import NamedTuple

import numpy as np

from workers.analytics.reports.periods import Range, number
from workers.analytics.rollups.arrays import Array, coded, distinct, joined, numbered, order_by, starts_of, sums_by
from workers.analytics.rollups.codec import is_empty, unpack_joined
from workers.analytics.rollups.figures import Discounts, Spread, discounts, spread
from workers.analytics.rollups.group_figures import GroupFigures

_NEVER = np.iinfo("i8").max


class Key(NamedTuple):
    """The properties of a segment. `period` counts days from 1970; a group is 0 where nothing is grouped."""

    currency: str
    period: int
    first_group: int
    second_group: int


class Segments:
    """Numbers the segments of a range of days, in the order in which they come."""

    def __init__(self, days: Range) -> None:
        self._days = days
        self._numbers: dict[tuple[str, int, int, int], int] = {}

    @property
    def keys(self) -> list[Key]:
        """The segments, in the order of their numbers."""
        return [Key(*key) for key in self._numbers]

    def number(self, key: tuple[str, int, int, int]) -> int:
        """Return the segment of a key, which may be a plain tuple: there are many, and it costs less."""
        return self._numbers.setdefault(key, len(self._numbers))

    def of_entries(self, currency: str, month: date, day: Array, groups: Sequence[Array]) -> Array:
        """Return the segments of some entries by their days of a month and up to two groups."""
        first = number(month)
        periods = self._days.periods_of(np.arange(first, first + int(day.max())))
        return self.of_periods(currency, periods.take(day - 1), groups)

    def of_periods(self, currency: str, period: Array, groups: Sequence[Array]) -> Array:
        """Return the segment of each row by the first day of its period and up to two groups."""
        columns = [period, *(group.astype("i8", copy=False) for group in groups)]
        least = [int(column.min()) for column in columns]
        widths = [int(column.max()) - low + 1 for column, low in zip(columns, least, strict=True)]
        if prod(widths) == 1:  # most often they are all of one
            first, second = [*least[1:], 0, 0][:2]
            return np.full(len(period), self.number((currency, least[0], first, second)), "i4")
        above = [column - low for column, low in zip(columns, least, strict=True)]
        cells, place = numbered(np.ravel_multi_index(above, widths))
        parts = [part + low for part, low in zip(np.unravel_index(cells, widths), least, strict=True)]
        none = [0] * len(cells)
        periods, first, second = [*(part.tolist() for part in parts), none, none][:3]
        keys = zip(repeat(currency), periods, first, second, strict=False)
        return np.array(list(map(self.number, keys)), "i4").take(place)


class ByChannel(NamedTuple):
    """How many observations each segment has in each channel: distinct pairs, in order."""

    segment: Array
    channel: Array
    n: Array


class GroupedSeries(NamedTuple):
    """All segments, in the order of `keys`, with a figure each."""

    keys: list[Key]
    spread: Spread
    discounts: Discounts
    items: Array
    first_day: Array
    last_day: Array
    channels: ByChannel
    days: set[int]

    def medians(self) -> dict[Key, Decimal]:
        """Return each segment's median price by its key."""
        places = {segment: place for place, segment in enumerate(self.spread.segment.tolist())}
        return {key: self.spread.median(places[segment], key.currency) for segment, key in enumerate(self.keys)}


class _Entries(NamedTuple):
    segment: Array
    price: Array
    day: Array
    channel: Array


class Rollup(NamedTuple):
    """A whole rollup of a month, its columns as they are packed; `items` are its distinct items."""

    key: Key
    items: int
    days: bytes
    channels: bytes
    prices: bytes
    list_prices: bytes


class Collector:
    """Takes pieces of one month, then the next. Items are distinguished over months only where a period may span two.

    `mixed`: listings and sales come into one statistic, so an item may be in two rollups of a month. `decimals`: those
    of the prices that entries bring, None for those of their currency.
    """

    def __init__(self, days: Range, *, mixed: bool = False, decimals: int | None = None) -> None:
        self._days = days
        self._decimals = decimals
        self._mixed = mixed
        self._spans_months = days.granularity not in ("day", "month")
        self._segments = Segments(days)
        self._entries: list[_Entries] = []
        self._pairs: list[tuple[Array, ...]] = []
        self._counts: list[tuple[Array, ...]] = []
        self._prices: list[tuple[Array, ...]] = []
        self._spreads: list[Spread] = []
        self._seen: list[tuple[Array, ...]] = []
        self._channels: list[tuple[Array, ...]] = []  # in each part distinct pairs, in order
        self._pending_list_prices: list[tuple[Array, ...]] = []
        self._list_prices: list[tuple[Array, ...]] = []
        self._cuts: list[tuple[Array, Discounts]] = []
        self._days_seen: set[int] = set()
        self._items_before = 0

    @property
    def by_id(self) -> bool:
        """Whether items must be given by their ids instead of by their places in a month's rollups."""
        return self._spans_months or self._mixed

    def add_rollups(self, rollups: list[Rollup]) -> None:
        """Add the rollups of one month, or of several months."""
        if not rollups:
            return
        keys, items, days, channels, prices, list_prices = zip(*rollups, strict=True)
        segments = list(map(self._segments.number, keys))
        of, first = np.array(segments), np.array([key.period for key in keys])
        segment, price, times = _joined(of, prices, 2)
        # Rollups come sorted; only where two are of one segment must they be merged.
        alone = len(set(segments)) == len(segments)
        self._spreads.append(spread(*((segment, price, times) if alone else sums_by((segment, price), times))))
        rollup, day = unpack_joined(days, 1)[1][0].reshape(len(of), -1).nonzero()
        self._seen.append((of.take(rollup), first.take(rollup) + day))
        segment, channel, n = _joined(of, channels, 2)
        self._channels.append((segment, channel, n) if alone else sums_by((segment, channel), n))
        self._counts.append((of, np.array(items)))
        listed = [n for n, packed in enumerate(list_prices) if not is_empty(packed)]
        if listed:
            segment, price, list_price, times = _joined(of[listed], [list_prices[n] for n in listed], 3)
            self._list_prices.append(sums_by((segment, price, list_price), times))

    def add_entries(
        self,
        currency: str,
        month: date,
        day: Array,
        groups: Sequence[Array],
        value: Array,
        price: Array,
        list_price: Array,
        channel: Array,
        item: Array,
        item_count: int,
    ) -> None:
        """Add single observations of one rollup, which come in the order of their items.

        `day` is that of the month, `value` what the statistics are of: the price, or that of a unit. `item` is an id,
        or a place among the rollup's `item_count` items.
        """
        if not len(price):
            return
        first = number(month)
        segment = self._segments.of_entries(currency, month, day, groups)
        self._entries.append(_Entries(segment, value, day.astype("i4") + (first - 1), channel))
        if list_price.any():
            listed = np.flatnonzero(list_price)
            self._pending_list_prices.append((segment.take(listed), price.take(listed), list_price.take(listed)))
        kept = starts_of(item, segment)
        segment, item = segment.take(kept), item.take(kept)
        self._pairs.append((segment, item if self.by_id else item.astype("i4") + self._items_before))
        self._items_before += item_count

    def add_figures(self, keys: list[Key], figures: GroupFigures, by_day: Array) -> None:
        """Add finished figures of a month's groups, of which nothing else is added; `by_day`: its observations."""
        segment, first = np.array(list(map(self._segments.number, keys))), keys[0].period
        self._spreads.append(figures.spread._replace(segment=segment))
        self._counts.append((segment, figures.items))
        self._seen += [(segment, figures.first_day + (first - 1)), (segment, figures.last_day + (first - 1))]
        self._days_seen.update((np.flatnonzero(by_day) + first).tolist())
        self._channels.append((segment.take(figures.place), figures.channel, figures.n))
        self._cuts.append((segment, figures.discounts))

    def end_month(self) -> None:
        """Condense what the month's entries brought to what the answer needs.

        Where no period spans two months that is the statistics themselves: the prices of one month are still in the
        processor's cache, those of all months would not be.
        """
        if self._entries:
            self._condense_entries()
        if self._pending_list_prices:
            self._list_prices.append(sums_by(joined(self._pending_list_prices), None))
            self._pending_list_prices = []
        if not self._spans_months and self._pairs:
            self._counts.append(self._distinct())
            self._pairs, self._items_before = [], 0

    def _condense_entries(self) -> None:
        segment, price, day, channel = joined(self._entries)
        self._entries = []
        counted = sums_by((segment, price), None)
        if self._spans_months:
            self._prices.append(counted)
        else:
            self._spreads.append(spread(*counted))
        self._seen.append(sums_by((segment, day), None)[:2])
        self._channels.append(sums_by((segment, channel), None))

    def segments(self) -> GroupedSeries:
        """Return everything that was collected."""
        if self._prices:
            self._spreads = [spread(*_summed(self._prices))]
        keys = self._segments.keys
        count = len(keys)
        if self._pairs:
            self._counts.append(self._distinct())
        items = np.zeros(count, "i8")
        for positions, n in self._counts:
            np.add.at(items, positions, n)
        first, last = np.full(count, _NEVER), np.full(count, -_NEVER)
        for positions, days in self._seen:
            np.minimum.at(first, positions, days)
            np.maximum.at(last, positions, days)
        parts = self._channels or [(np.empty(0, "i8"),) * 3]
        by_channel = ByChannel(*(parts[0] if len(parts) == 1 else _summed(parts)))
        days_seen = self._days_seen.union(*(days.tolist() for _, days in self._seen))
        cuts = discounts(count, *joined(self._list_prices)) if self._list_prices else Discounts.none(count)
        for positions, finished in self._cuts:
            for column, of_groups in zip(cuts, finished, strict=True):
                column[positions] = of_groups
        prices = Spread.joined(self._spreads)._replace(decimals=self._decimals)
        return GroupedSeries(keys, prices, cuts, items, first, last, by_channel, days_seen)

    def _distinct(self) -> tuple[Array, Array]:
        """Return the segments, and how many distinct items each has."""
        segment, item = joined(self._pairs)
        if self.by_id:
            items, item = coded(item)
            segment = distinct(segment.astype("i8") * items + item) // items
        else:  # a month's items come in order, and stay so in each segment
            order = order_by(segment - segment.min())
            segment = segment.take(order)
            segment = segment.take(starts_of(segment, item.take(order)))
        starts = starts_of(segment)
        return segment.take(starts), np.diff(starts, append=len(segment))


def _summed(parts: Sequence[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return parts with two keys and a figure as one."""
    first, second, figure = joined(parts)
    return sums_by((first, second), figure)


def _joined(of: Array, packed: Sequence[bytes], columns: int) -> tuple[Array, ...]:
    """Return the segment of each row of several packed parts, `of` those of the parts, and the rows' columns."""
    rows, unpacked = unpack_joined(packed, columns)
    return of.repeat(rows), *(column.astype("i8") for column in unpacked)

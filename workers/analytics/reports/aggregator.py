"""Observations into segments: one for each currency, period and group. Months are condensed as they come. Pure."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from math import prod
from typing import NamedTuple

import numpy as np

from shared.clock import month_after
from workers.analytics.rollups.codec import (
    Array,
    is_empty,
    joined,
    numbered,
    order_by,
    starts_of,
    sums_by,
    unpack_joined,
)
from workers.analytics.rollups.figures import Discounts, GroupFigures, Spread, discounts, spread

# Days into periods: days, weeks from Monday, calendar months, quarters, years; cut at the range's ends. Pure.


_MONTHS = {"month": 1, "quarter": 3, "year": 12}
EPOCH = date(1970, 1, 1)


class Range(NamedTuple):
    """Days from the first to the last, both included, in periods of a granularity; None: one period of all of them.

    `ended_by` says where the last day comes from: `request`, `data` of what was asked for, `index` (all data), `today`.
    `awaits_data`: it begins after the last data, and was given no end; its answer is empty, not a refusal.
    """

    first: date
    last: date
    granularity: str | None
    ended_by: str = "request"
    awaits_data: bool = False

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    def months(self) -> Iterator[date]:
        """Yield the first day of each month that the range touches."""
        month = self.first.replace(day=1)
        while month <= self.last:
            yield month
            month = month_after(month)

    def holds_month(self, month: date) -> bool:
        """Return whether the whole of a month is in the range and in one period."""
        ends = month_after(month) - timedelta(days=1)
        return self.granularity == "month" and self.first <= month and ends <= self.last

    def periods_of(self, days: Array) -> Array:
        """Return the first day of each day's period; days count from EPOCH, as the result does."""
        if self.granularity is None:
            return np.full(len(days), number(self.first), "i8")
        if self.granularity in _MONTHS and len(days):
            # Numpy's calendar is slow: it is asked about each day once.
            earliest, latest = int(days.min()), int(days.max())
            return self._months_of(np.arange(earliest, latest + 1)).take(days - earliest)
        if self.granularity == "week":
            mondays: Array = days - (days + 3) % 7  # 1 January 1970 was a Thursday
            return mondays
        return days

    def _months_of(self, days: Array) -> Array:
        """Return the first day of each day's month, quarter or year."""
        months = days.astype("M8[D]").astype("M8[M]").astype("i8")
        months -= months % _MONTHS[self.granularity or "month"]  # months count from January 1970
        first: Array = months.astype("M8[M]").astype("M8[D]").astype("i8")
        return first

    def within_one_period(self, month: date) -> bool:
        """Return whether the whole of a month is in the range, and all of its days in one period."""
        ends = month_after(month) - timedelta(days=1)
        return self.granularity in (None, *_MONTHS) and self.first <= month and ends <= self.last

    def holds_part_of(self, period: int) -> bool:
        """Return whether the range begins or ends inside the period with this first day."""
        ends = last_day_of(day_of(period), self.granularity, date.max) if self.granularity else self.last
        return period < number(self.first) or ends > self.last

    def before(self) -> "Range":
        """Return the whole periods, not all of the range, with which its rows are compared: the one before the first.

        Where the range begins inside its first period and goes beyond it, the whole of that one too, for the second.
        """
        first = day_of(self.periods_of(np.array([number(self.first)]))[0])
        last = first - timedelta(days=1)
        starts = {"month": last.replace(day=1), "week": last - timedelta(days=last.weekday()), "day": last}
        start = starts.get(self.granularity or "", first - timedelta(days=self.days))
        ends = last_day_of(first, self.granularity, self.last)
        return Range(start, ends if first < self.first and ends < self.last else last, self.granularity)


def last_day_of(first: date, granularity: str | None, last: date) -> date:
    """Return the last day of a period that begins on `first`, cut at the last day of its range."""
    if granularity is None:
        return last
    if granularity not in _MONTHS:
        return min(first + timedelta(days=6 if granularity == "week" else 0), last)
    after = first.year * 12 + first.month - 1 + _MONTHS[granularity]
    return min(date(after // 12, after % 12 + 1, 1) - timedelta(days=1), last)


def number(day: date) -> int:
    """Count a day from EPOCH."""
    return (day - EPOCH).days


def day_of(days: int) -> date:
    """Return the day of a count."""
    return EPOCH + timedelta(days=int(days))


# Observations into segments: one for each currency, period and group. Months are condensed as they come.


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
        self._numbers: dict[Key, int] = {}

    @property
    def keys(self) -> list[Key]:
        """The segments, in the order of their numbers."""
        return list(self._numbers)

    def number(self, key: Key) -> int:
        """Return the segment of a key."""
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
            return np.full(len(period), self.number(_key(currency, least)), "i4")
        above = [column - low for column, low in zip(columns, least, strict=True)]
        cells, place = numbered(np.ravel_multi_index(above, widths))
        parts = [part + low for part, low in zip(np.unravel_index(cells, widths), least, strict=True)]
        keys = zip(*(part.tolist() for part in parts), strict=True)
        return np.array([self.number(_key(currency, key)) for key in keys], "i4").take(place)


def _key(currency: str, values: Sequence[int]) -> Key:
    """Return the key of a period and up to two groups."""
    period, first, second = [*values, 0, 0][:3]
    return Key(currency, period, first, second)


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

    `mixed`: listings and sales come into one statistic, so an item may be in two rollups of a month.
    """

    def __init__(self, days: Range, *, mixed: bool = False) -> None:
        self._days = days
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
        price: Array,
        list_price: Array,
        channel: Array,
        item: Array,
        item_count: int,
    ) -> None:
        """Add single observations of one rollup, which come in the order of their items.

        `day` is that of the month; `item` is an id, or a place among the rollup's `item_count` items.
        """
        if not len(price):
            return
        first = number(month)
        segment = self._segments.of_entries(currency, month, day, groups)
        self._entries.append(_Entries(segment, price, day.astype("i4") + (first - 1), channel))
        if list_price.any():
            listed = np.flatnonzero(list_price)
            self._pending_list_prices.append((segment.take(listed), price.take(listed), list_price.take(listed)))
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
        return GroupedSeries(keys, Spread.joined(self._spreads), cuts, items, first, last, by_channel, days_seen)

    def _distinct(self) -> tuple[Array, Array]:
        """Return the segments, and how many distinct items each has."""
        segment, item = joined(self._pairs)
        if self.by_id:
            segment = sums_by((segment, item), None)[0]
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

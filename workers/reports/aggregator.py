"""Observations into segments: one for each currency, period and group. Months are condensed as they come. Pure."""

from datetime import date
from typing import NamedTuple

import numpy as np

from workers.reports.periods import Range, number
from workers.reports.statistics import Discounts, Spread, discounts, spread
from workers.rollups.codec import Array, counted, counted_pairs

_BINS_MAX = 1 << 20


class Key(NamedTuple):
    """The properties of a segment. `period` counts days from 1970; a group is 0 where nothing is grouped."""

    currency: str
    period: int
    first_group: int
    second_group: int


class GroupedSeries(NamedTuple):
    """All segments, in the order of `keys`, with a figure each; `channels` maps each to its channels' observations."""

    keys: list[Key]
    spread: Spread
    discounts: Discounts
    items: Array
    first_day: Array
    last_day: Array
    channels: list[dict[int, int]]
    days: set[int]


class _Pieces(NamedTuple):
    segment: Array
    price: Array
    times: Array | None
    day: Array
    day_segment: Array
    channel: Array
    channel_segment: Array
    channel_n: Array | None


class Collector:
    """Takes pieces of one month, then the next. Items are distinguished over months only where a period may span two.

    `mixed`: listings and sales come into one statistic, so an item may be in two rollups of a month.
    """

    def __init__(self, days: Range, *, mixed: bool = False) -> None:
        self._days = days
        self._mixed = mixed
        self._spans_months = days.granularity not in ("day", "month")
        self._numbers: dict[Key, int] = {}
        self._pending: list[_Pieces] = []
        self._pairs: list[tuple[Array, Array]] = []
        self._counts: list[tuple[Array, Array]] = []
        self._prices: list[tuple[Array, Array, Array]] = []
        self._seen: list[tuple[Array, Array]] = []
        self._channels: list[tuple[Array, Array, Array]] = []
        self._pending_list_prices: list[tuple[Array, Array, Array, Array]] = []
        self._list_prices: list[tuple[Array, Array, Array, Array]] = []
        self._items_before = 0

    @property
    def pending(self) -> int:
        """How many pieces have come that are not condensed yet."""
        return len(self._pending)

    @property
    def by_id(self) -> bool:
        """Whether items must be given by their ids instead of by their places in a month's rollups."""
        return self._spans_months or self._mixed

    def number(self, key: Key) -> int:
        """Return the segment of a key."""
        return self._numbers.setdefault(key, len(self._numbers))

    def add_rollup(
        self,
        key: Key,
        month: date,
        prices: tuple[Array, Array],
        list_prices: list[Array],
        counts: Array,
        channels: tuple[Array, Array],
        items: int,
    ) -> None:
        """Add a whole rollup: counted prices, its list prices, observations by day and by channel, distinct items."""
        segment = np.array([self.number(key)])
        price, times = (column.astype("i8") for column in prices)
        day = number(month) + np.flatnonzero(counts)
        self._pending.append(
            _Pieces(
                segment.repeat(len(price)),
                price,
                times,
                day,
                segment.repeat(len(day)),
                channels[0].astype("i8"),
                segment.repeat(len(channels[0])),
                channels[1].astype("i8"),
            )
        )
        if len(list_prices[0]):
            pairs = (column.astype("i8") for column in list_prices)
            self._pending_list_prices.append((segment.repeat(len(list_prices[0])), *pairs))  # type: ignore[arg-type]
        self._counts.append((segment, np.array([items])))

    def add_entries(
        self,
        currency: str,
        days: Array,
        groups: tuple[Array, Array],
        price: Array,
        list_price: Array,
        channel: Array,
        item: Array,
        item_count: int,
    ) -> None:
        """Add single observations of one rollup; `item` is an id, or a place among the rollup's `item_count` items."""
        if not len(price):
            return
        period = self._days.periods_of(days)
        segment = self._segments(currency, period, *groups)
        one = price.astype("i8")
        self._pending.append(_Pieces(segment, one, None, days, segment, channel.astype("i8"), segment, None))
        if list_price.any():
            listed = np.flatnonzero(list_price)
            columns = (segment.take(listed), one.take(listed), list_price.take(listed).astype("i8"))
            self._pending_list_prices.append((*columns, np.ones(len(listed), "i8")))
        self._pairs.append((segment, item.astype("i8") + (0 if self.by_id else self._items_before)))
        self._items_before += item_count

    def end_month(self) -> None:
        """Condense what the month, or several months of rollups, brought to what the answer needs."""
        pieces, self._pending = self._pending, []
        if not pieces:
            return
        segment, price = (_join([getattr(one, name) for one in pieces]) for name in ("segment", "price"))
        times = _weights([(one.price, one.times) for one in pieces])
        # Rollups come sorted; only where two are of one segment must they be merged.
        rollups = all(one.times is not None for one in pieces)
        alone = rollups and len({int(one.segment[0]) for one in pieces}) == len(pieces)
        self._prices.append((segment, price, times) if alone and times is not None else counted(segment, price, times))
        self._seen.append(_pairs(_join([one.day_segment for one in pieces]), _join([one.day for one in pieces]))[:2])
        of, channel = (_join([getattr(one, name) for one in pieces]) for name in ("channel_segment", "channel"))
        self._channels.append(_pairs(of, channel, _weights([(one.channel, one.channel_n) for one in pieces])))
        if self._pending_list_prices:
            self._list_prices.append(counted_pairs(*_joined(self._pending_list_prices)))
            self._pending_list_prices = []
        if not self._spans_months and self._pairs:
            self._counts.append(_distinct(self._pairs))
            self._pairs, self._items_before = [], 0

    def segments(self) -> GroupedSeries:
        """Return everything that was collected."""
        prices = tuple(_join(list(column)) for column in zip(*self._prices, strict=True)) if self._prices else None
        segment, price, times = prices or (np.empty(0, "i8"),) * 3
        figures = spread(*(counted(segment, price, times) if self._spans_months else (segment, price, times)))
        count = len(self._numbers)
        if self._pairs:
            self._counts.append(_distinct(self._pairs))
        items = np.zeros(count, "i8")
        for positions, n in self._counts:
            np.add.at(items, positions, n)
        first, last = np.full(count, np.iinfo("i8").max), np.full(count, -1)
        for positions, days in self._seen:
            np.minimum.at(first, positions, days)
            np.maximum.at(last, positions, days)
        channels: list[dict[int, int]] = [{} for _ in range(count)]
        for positions, codes, sums in self._channels:
            for position, code, n in zip(positions.tolist(), codes.tolist(), sums.tolist(), strict=True):
                channels[position][code] = channels[position].get(code, 0) + n
        days_seen = {int(day) for _, listed in self._seen for day in np.unique(listed)}
        cuts = discounts(count, *_joined(self._list_prices))
        return GroupedSeries(list(self._numbers), figures, cuts, items, first, last, channels, days_seen)

    def _segments(self, currency: str, period: Array, first: Array, second: Array) -> Array:
        """Number the segments of a rollup's entries; most often they are all of one."""
        columns = [column.astype("i8") if len(column) else None for column in (period, first, second)]
        least = [0 if column is None else int(column.min()) for column in columns]
        widths = [
            1 if column is None else int(column.max()) - low + 1 for column, low in zip(columns, least, strict=True)
        ]
        code = np.zeros(len(period), "i8")
        for column, low, width in zip(columns, least, widths, strict=True):
            if column is not None and width > 1:
                code = code * width + column - low
        bins = widths[0] * widths[1] * widths[2]
        if bins == 1:
            return np.full(len(period), self.number(Key(currency, *least)))
        distinct, positions = _dense(code, bins)
        numbers = np.empty(len(distinct), "i8")
        for position, value in enumerate(distinct.tolist()):
            rest, last = divmod(value, widths[2])
            start, middle = divmod(rest, widths[1])
            numbers[position] = self.number(Key(currency, least[0] + start, least[1] + middle, least[2] + last))
        return numbers[positions]


def _dense(code: Array, bins: int) -> tuple[Array, Array]:
    """Return the distinct codes and each code's place among them; by counting where that beats sorting."""
    if bins > _BINS_MAX:
        distinct, positions = np.unique(code, return_inverse=True)
        return distinct, positions
    there = np.zeros(bins, bool)
    there[code] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[code]


def _pairs(first: Array, second: Array, n: Array | None = None) -> tuple[Array, Array, Array]:
    """Return the distinct pairs, and the sum of `n` over each."""
    if not len(first):
        return first, second, first
    low, least = int(second.min()), int(first.min())
    width = int(second.max()) - low + 1
    key = (first - least) * width + second - low
    bins = (int(first.max()) - least + 1) * width
    if bins <= _BINS_MAX:
        sums = np.bincount(key, weights=n, minlength=bins)
        distinct = np.flatnonzero(sums)
        return distinct // width + least, distinct % width + low, sums[distinct].astype("i8")
    distinct, positions = np.unique(key, return_inverse=True)
    return distinct // width + least, distinct % width + low, np.bincount(positions, weights=n).astype("i8")


def _weights(columns: list[tuple[Array, Array | None]]) -> Array | None:
    """Return how often each value of the columns comes; None where each comes once."""
    if all(times is None for _, times in columns):
        return None
    return _join([np.ones(len(column), "i8") if times is None else times for column, times in columns])


def _distinct(pairs: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the segments, and how many distinct items each has; by marking them where that beats sorting."""
    segment, item = (_join(list(column)) for column in zip(*pairs, strict=True))
    least, width = int(segment.min()), int(item.max()) + 1
    bins = (int(segment.max()) - least + 1) * width
    if bins <= _BINS_MAX:
        there = np.zeros(bins, bool)
        there[(segment - least) * width + item] = True
        counts = there.reshape(-1, width).sum(axis=1)
    else:
        counts = np.bincount(counted(segment, item)[0] - least)
    segments = np.flatnonzero(counts)
    return segments + least, counts[segments]


def _joined(parts: list[tuple[Array, Array, Array, Array]]) -> tuple[Array, Array, Array, Array]:
    if not parts:
        return (np.empty(0, "i8"),) * 4
    segment, price, list_price, times = (_join(list(column)) for column in zip(*parts, strict=True))
    return segment, price, list_price, times


def _join(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)

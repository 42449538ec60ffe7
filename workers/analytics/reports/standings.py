"""Standings of brands and of categories: how many items each has in a period, and its rank among its equals."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Literal, NamedTuple

import numpy as np

from workers.analytics.reports.aggregator import number
from workers.analytics.reports.filters import SQL, Filter
from workers.analytics.reports.query import Reader
from workers.analytics.rollups.codec import Array, joined, numbered, sums_by

Subject = Literal["brand", "category"]
Moment = tuple[int, str, int]
"""A channel (0: those of the filter together), a currency, the first day of a period."""
Owners = Callable[[int], Sequence[int]]
"""For which ids the items of a brand or of a category count."""
_Part = tuple[Array, ...]
"""Channel, period, brand or category, and item: a column each."""
_Read = tuple[str, _Part, Mapping[int, int]]
"""A currency, a part of its items, and how many observations each brand or category has in it."""


class Total(NamedTuple):
    """What a brand or category has in a whole range and all its currencies."""

    items: int
    observations: int


class Rank(NamedTuple):
    """A place among others: 1 is the one with most items; equals share a place."""

    rank: int
    of: int
    percentile: float


class Ranks:
    """Standings of one moment, computed once for all rows."""

    def __init__(self, items: dict[int, int]) -> None:
        self._items = items
        self._sorted = sorted(items.values())

    def of(self, number: int) -> Rank | None:
        """Return the standing of an id; None where it has no items. The percentile is of the others with fewer."""
        n = self._items.get(number)
        if n is None:
            return None
        others = len(self._sorted) - 1
        fewer = bisect_left(self._sorted, n)
        more = len(self._sorted) - bisect_right(self._sorted, n)
        return Rank(more + 1, others + 1, round(100 * fewer / others, 4) if others else 100.0)


class ItemCounts:
    """The items that a filter without brands and categories finds, of each brand or category with those below it.

    `by_channel`: in each channel apart.
    """

    def __init__(self, reader: Reader, subject: Subject, chosen: Filter, *, by_channel: bool = False) -> None:
        self._owners = _owners(reader, subject)
        self._observations: Counter[int] = Counter()
        self._pairs: list[tuple[Array, Array]] = []
        parts: dict[str, list[_Part]] = defaultdict(list)
        for currency, part, observations in _read(reader, subject, chosen, by_channel):
            parts[currency].append(part)
            self._observations.update(observations)
        self.by_moment: dict[Moment, dict[int, int]] = {}
        for currency, columns in parts.items():
            self._add(currency, *joined(columns))

    def totals(self) -> dict[int, Total]:
        """Return what each has in the range: an item that has prices in two currencies or periods is one."""
        items: Counter[int] = Counter()
        n: Counter[int] = Counter()
        if self._pairs:
            group, _, _ = sums_by(joined(self._pairs), None)
            for group_id, count in _rows(sums_by((group,), None)):
                for owner in self._owners(group_id):
                    items[owner] += count
                    n[owner] += self._observations[group_id]
        return {owner: Total(count, n[owner]) for owner, count in items.items()}

    def _add(self, currency: str, channel: Array, period: Array, group: Array, item: Array) -> None:
        # Places instead of numbers: distinct ones are then found in a table, which costs less than sorting.
        least = int(period.min())
        periods, period = numbered(period - least)
        items, item = numbered(item)
        group_of = np.empty(len(items), "i8")
        group_of[item] = group  # an item has one brand and one category
        self._pairs.append((group_of, items))
        channel, period, item, _ = sums_by((channel, period, item), None)
        counts = sums_by((channel, periods.take(period) + least, group_of.take(item)), None)
        for channel_id, first_day, group_id, count in _rows(counts):
            of_moment = self.by_moment.setdefault((channel_id, currency, first_day), {})
            for owner in self._owners(group_id):
                of_moment[owner] = of_moment.get(owner, 0) + count


def _rows(columns: tuple[Array, ...]) -> Iterator[tuple[int, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)


def _owners(reader: Reader, subject: Subject) -> Owners:
    """Return what says for which ids an item of a brand or category counts: for none where it has neither."""
    if subject == "brand":
        return lambda brand: (brand,) if brand else ()
    above: dict[int, list[int]] = defaultdict(list)
    for category in reader.tree.by_id.values():
        for below in category.below:
            above[below].append(category.id)
    return lambda category: above.get(category, ())


def _read(reader: Reader, subject: Subject, chosen: Filter, by_channel: bool) -> Iterator[_Read]:
    """Yield the items of a filter in parts; of whole months in one period no single observation is read."""
    months = list(reader.days.months())
    from_ids = chosen.channels is None and not by_channel
    whole = [month for month in months if from_ids and reader.days.within_one_period(month)]
    if whole:
        yield from _of_whole_months(reader, subject, chosen, whole)
    others = [month for month in months if month not in whole]
    for done, month in enumerate(others):
        reader.report_progress("counting", done, len(others))
        yield from _of_observations(reader, subject, chosen, month, by_channel)
    reader.report_progress("counting", len(others), len(others))


def _of_whole_months(reader: Reader, subject: Subject, chosen: Filter, months: list[date]) -> Iterator[_Read]:
    values = (subject[0], months, chosen.currency, list(chosen.strata))
    listed: dict[tuple[str, date], list[tuple[int, int, bytes]]] = defaultdict(list)
    for group_id, month, currency, n, packed in reader.rows(SQL.item_ids, *values):
        listed[currency, month].append((group_id, n, packed))
    for (currency, month), rows in listed.items():
        item = np.frombuffer(b"".join(packed for _, _, packed in rows), "<i8")
        group = np.repeat([group_id for group_id, _, _ in rows], [len(packed) // 8 for _, _, packed in rows])
        period = np.full(len(item), int(reader.days.periods_of(np.array([number(month)]))[0]))
        observations: Counter[int] = Counter()
        for group_id, n, _ in rows:
            observations[group_id] += n
        yield currency, (np.zeros(len(item), "i8"), period, group, item), observations


def _of_observations(
    reader: Reader, subject: Subject, chosen: Filter, month: date, by_channel: bool
) -> Iterator[_Read]:
    before = number(month) - 1
    for part in reader.entries(chosen, month):
        n = len(part.price)
        if not n:
            continue
        channel = part.channel.astype("i8") if by_channel else np.zeros(n, "i8")
        period = reader.days.periods_of(before + part.day.astype("i8"))
        if subject == "category":
            yield part.currency, (channel, period, np.full(n, part.group_id), part.ids), {part.group_id: n}
            continue
        brands = np.bincount(part.other)
        there = np.flatnonzero(brands)
        observations = dict(zip(there.tolist(), brands.take(there).tolist(), strict=True))
        yield part.currency, (channel, period, part.other.astype("i8"), part.ids), observations

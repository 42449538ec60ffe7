"""Standings of brands and of categories: how many items each has in a period, and its rank among its equals."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, NamedTuple

import numpy as np

from workers.analytics.reports.aggregator import number
from workers.analytics.reports.filters import SQL, Filter
from workers.analytics.reports.query import Reader
from workers.analytics.rollups.codec import Array, joined, sums_by

Subject = Literal["brand", "category"]
Moment = tuple[int, str, int]
"""A channel (0: those of the filter together), a currency, the first day of a period."""
Owners = Callable[[int], Sequence[int]]
"""For which ids the items of a brand or of a category count."""
_Part = tuple[Array, ...]
"""Channel, period, brand or category, and item: a column each, without duplicates."""
_Read = tuple[str, _Part, Mapping[int, int]]
"""A currency, a part of its items, and how many observations each brand or category has in it."""


class Total(NamedTuple):
    """What a brand or category has in a whole range and all its currencies."""

    items: int
    observations: int


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """Distinct items of each brand or category by moment, and its totals; categories have those below them too."""

    items: dict[Moment, dict[int, int]]
    totals: dict[int, Total]


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


def item_counts(reader: Reader, subject: Subject, chosen: Filter, *, by_channel: bool = False) -> ItemCounts:
    """Count the items that a filter without brands and categories finds, of each brand or each category.

    `by_channel`: in each channel apart.
    """
    parts: dict[str, list[_Part]] = defaultdict(list)
    observations: Counter[int] = Counter()
    for currency, part, n in _read(reader, subject, chosen, by_channel):
        parts[currency].append(part)
        observations.update(n)
    owners = _owners(reader, subject)
    items: dict[Moment, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    pairs: list[tuple[Array, Array]] = []
    for currency, columns in parts.items():
        channel, period, group, item, _ = sums_by(joined(columns), None)
        pairs.append((group, item))
        for channel_id, first_day, group_id, count in _rows(sums_by((channel, period, group), None)):
            for owner in owners(group_id):
                items[channel_id, currency, first_day][owner] += count
    return ItemCounts({moment: dict(of) for moment, of in items.items()}, _totals(pairs, observations, owners))


def _totals(pairs: list[tuple[Array, Array]], observations: Counter[int], owners: Owners) -> dict[int, Total]:
    """Return the totals of a range: an item that has prices in two currencies or periods is one."""
    items: Counter[int] = Counter()
    n: Counter[int] = Counter()
    if pairs:
        group, _, _ = sums_by(joined(pairs), None)
        for group_id, count in _rows(sums_by((group,), None)):
            for owner in owners(group_id):
                items[owner] += count
                n[owner] += observations[group_id]
    return {owner: Total(count, n[owner]) for owner, count in items.items()}


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
        if not len(part.price):
            continue
        group = part.other.astype("i8") if subject == "brand" else np.full(len(part.price), part.group_id)
        channel = part.channel.astype("i8") if by_channel else np.zeros(len(part.price), "i8")
        period = reader.days.periods_of(before + part.day.astype("i8"))
        *columns, place, _ = sums_by((channel, period, group, part.item.astype("i8")), None)
        item = np.frombuffer(part.item_ids, "<i8").take(place)
        ids, n = np.unique(group, return_counts=True)
        yield part.currency, (*columns, item), dict(zip(ids.tolist(), n.tolist(), strict=True))

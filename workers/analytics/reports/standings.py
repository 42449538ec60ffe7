"""Standings of brands and of categories: how many observations each has, and its rank among its equals."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from workers.analytics.reports.aggregator import number
from workers.analytics.reports.filters import SQL, Filter
from workers.analytics.reports.query import Reader
from workers.analytics.rollups.codec import unpack

Counts = dict[tuple[str, int], dict[int, int]]
"""Observations of each id, by currency and period."""


class Rank(NamedTuple):
    """A place among others: 1 is the one with most observations; equals share a place."""

    rank: int
    of: int
    percentile: float


def counts(reader: Reader, scope: str, ids: list[int] | None, chosen: Filter) -> Counts:
    """Count observations of a scope's rollups by period, from their counts by day: no price is read.

    Of the filter only currency and kinds matter: a rank is among all that the scope holds.
    """
    sums: Counts = defaultdict(lambda: defaultdict(int))
    days, months = reader.days, list(reader.days.months())
    rows = reader.rows(SQL.heads, scope, months[0], months[-1], ids, chosen.currency, list(chosen.strata))
    for group_id, month, currency, n, packed in rows:
        start = number(month)
        if days.holds_month(month):
            sums[currency, start][group_id] += n
            continue
        by_day = unpack(packed)[0]
        low, high = max(0, number(days.first) - start), min(31, number(days.last) - start + 1)
        if days.granularity in (None, "month"):
            period = int(days.periods_of(np.array([start + low]))[0])
            sums[currency, period][group_id] += int(by_day[low:high].sum())
            continue
        seen = np.flatnonzero(by_day[low:high]) + low
        for day, period in zip(seen.tolist(), days.periods_of(start + seen).tolist(), strict=True):
            sums[currency, period][group_id] += int(by_day[day])
    return {key: {group_id: n for group_id, n in by_group.items() if n} for key, by_group in sums.items()}


class Ranks:
    """Standings of one period, computed once for all rows."""

    def __init__(self, observations: dict[int, int]) -> None:
        self._observations = observations
        self._sorted = sorted(observations.values())

    def of(self, number: int) -> Rank | None:
        """Return the standing of an id; None where it has no observations. The percentile is of those with fewer."""
        n = self._observations.get(number)
        if n is None:
            return None
        others = len(self._sorted) - 1
        fewer = bisect_left(self._sorted, n)
        more = len(self._sorted) - bisect_right(self._sorted, n)
        return Rank(more + 1, others + 1, round(100 * fewer / others, 4) if others else 100.0)

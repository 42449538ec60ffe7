"""Figures that insights read from segments and from the heads of rollups: medians, counts, ranks."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from shared.db.connect import Connection
from workers.reports.aggregator import GroupedSeries, Key
from workers.reports.filters import SQL, Filter
from workers.reports.periods import Range, day_of, number
from workers.rollups.codec import unpack

Counts = dict[tuple[str, int], dict[int, int]]
"""Observations of each id, by currency and period."""


class Figure(NamedTuple):
    """A segment in short."""

    n: int
    items: int
    median: Decimal
    channels: dict[int, int]
    discounts: dict[str, int | float | None]


class Rank(NamedTuple):
    """A place among others: 1 is the one with most observations; equals share a place."""

    rank: int
    of: int
    percentile: float


def figures(gathered: GroupedSeries) -> dict[Key, Figure]:
    """Return each segment's figures by its key."""
    positions = {segment: position for position, segment in enumerate(gathered.spread.segment.tolist())}
    channels = gathered.channels.each(len(gathered.keys))
    discounts = gathered.discounts.rows(np.arange(len(gathered.keys)))
    return {
        key: Figure(
            int(gathered.spread.n[positions[segment]]),
            int(gathered.items[segment]),
            gathered.spread.percentile(positions[segment], 50, key.currency),
            channels[segment],
            discounts[segment],
        )
        for segment, key in enumerate(gathered.keys)
    }


def counts(connection: Connection, scope: str, ids: list[int] | None, days: Range, chosen: Filter) -> Counts:
    """Count observations of a scope's rollups by period, from their counts by day: no price is read.

    Of the filter only currency and kinds matter: a rank is among all that the scope holds.
    """
    sums: Counts = defaultdict(lambda: defaultdict(int))
    months = list(days.months())
    cursor = connection.cursor(binary=True)
    values = (scope, months[0], months[-1], ids, chosen.currency, list(chosen.strata))
    for group_id, month, currency, n, _, packed in cursor.execute(SQL.heads, values):
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


def period_before(days: Range, period: int) -> int:
    """Return the start of the period before one."""
    if days.granularity is None:
        return number(days.before().first)
    if days.granularity == "month":
        return number((day_of(period) - timedelta(days=1)).replace(day=1))
    return period - (7 if days.granularity == "week" else 1)


def change(now: Decimal, before: Decimal | None) -> float | None:
    """Return by how much an amount changed, 0.1 being a tenth more; None where there was none before."""
    return round(float(now / before) - 1, 6) if before else None


def all_ranks(counts: Counts) -> dict[tuple[str, int], Ranks]:
    """Return the standings of every currency and period."""
    return {key: Ranks(observations) for key, observations in counts.items()}

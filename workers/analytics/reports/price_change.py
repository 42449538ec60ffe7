"""Figures of the insights: medians, counts, ranks, and the change of prices of the same items."""

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.db.connect import Connection
from shared.price_index.question import Question, method_named
from shared.price_index.rows import IndexRow, Resampling, index_rows
from workers.analytics.reports.aggregator import GroupedSeries, Key
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.reports.item_prices import ByPeriod, prices_by_period, table_of
from workers.analytics.reports.periods import Range, day_of, number
from workers.analytics.reports.query import ReportProgress
from workers.analytics.rollups.codec import unpack

# Figures that insights read from segments and from the heads of rollups: medians, counts, ranks.


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


# The change of prices of the same items against the period before; insights show it with that of the median.


REPLICATES = 200
PRICE_CHANGE = [
    ("index_change", pa.float64()),
    ("index_change_low", pa.float64()),
    ("index_change_high", pa.float64()),
    ("share_matched", pa.float64()),
    ("median_disagrees", pa.bool_()),
]
ROUNDED_PRICE_CHANGE = tuple(name for name, _ in PRICE_CHANGE[:4])
PRICE_CHANGE_UNITS = {
    **dict.fromkeys(("index_change", "index_change_low", "index_change_high"), "ratio"),
    "share_matched": "share of items",
}
PRICE_CHANGE_METHOD = (
    "index_change is the Jevons index of the items that both periods have, less 1, between 95 % bounds of "
    f"{REPLICATES} bootstrap samples of items; median_disagrees where median_change is outside them"
)
_QUESTION = Question(method_named("jevons"), output="pop")


class PriceChange(NamedTuple):
    """By how much prices of the same items changed, 0.1 being a tenth more, and the share of items compared."""

    change: float | None
    low: float | None
    high: float | None
    share_matched: float | None


_UNKNOWN = PriceChange(None, None, None, None)


class PriceChanges:
    """The changes of prices of a filter, period by period; of a filter of both kinds none is known."""

    def __init__(
        self,
        connection: Connection,
        tree: Tree,
        chosen: Filter,
        days: Range,
        seed: int,
        report_progress: ReportProgress,
    ) -> None:
        self._days = days
        self._found: dict[tuple[str, int, int], PriceChange] = {}
        if len(chosen.kinds) != 1:
            return
        by_group: ByPeriod = defaultdict(list)
        for span in (days.before(), days):
            for group, prices in prices_by_period(connection, tree, chosen, span, report_progress).items():
                by_group[group] += prices
        for (currency, group_number), prices in by_group.items():
            periods = sorted({period for period, _ in prices})
            table = table_of(prices)
            rows = index_rows(table.periods, table.panel, _QUESTION, 1.0, Resampling(REPLICATES, seed))
            for period, row in zip(periods, rows, strict=True):
                before = day_of(period_before(days, period)).isoformat()
                if row.compared_with == before:
                    self._found[currency, period, group_number] = _change(row)

    def columns(self, key: Key, median_change: float | None) -> dict[str, Any]:
        """Return the columns of a row; the key's first group is the brand where the filter groups by brands."""
        change = self._found.get((key.currency, key.period, key.first_group), _UNKNOWN)
        return {
            "index_change": change.change,
            "index_change_low": change.low,
            "index_change_high": change.high,
            "share_matched": change.share_matched,
            "median_disagrees": disagrees(median_change, change.low, change.high),
        }


def _change(row: IndexRow) -> PriceChange:
    change, low, high = (None if value is None else round(value - 1, 6) for value in (row.index, row.low, row.high))
    return PriceChange(change, low, high, None if row.share_matched is None else round(row.share_matched, 6))


def seed_of(connection: Connection, parameters: dict[str, Any]) -> int:
    """Return the same seed of a bootstrap for the same question of the same data_version."""
    row = connection.execute(SQL.data_version).fetchone()
    # Conversion comes after the statistics, so it must not draw other samples.
    requested = {name: value for name, value in parameters.items() if name not in ("convert", "rates")}
    text = json.dumps([requested, row and row[0]], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def disagrees(value: float | None, low: float | None, high: float | None) -> bool | None:
    """Return whether a value is outside the interval, all rounded as they are shown; None where one is unknown."""
    if value is None or low is None or high is None:
        return None
    return not round(low, 6) <= round(value, 6) <= round(high, 6)

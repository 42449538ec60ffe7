"""The range of days of a report, with its default filled in."""

from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from itertools import pairwise
from statistics import median, median_low
from typing import Any

import numpy as np

from shared.clock import utc_now
from shared.db.connect import Connection
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.reports.periods import Range
from workers.analytics.reports.query import Reader
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.codec import unpack

DEFAULT_DAYS = 90
ENOUGH_SHARE = 0.2
"""Of the median day's observations: with fewer, a day does not end the default window."""
# Days with observations that suffice to tell which of them are stray, where finding more means reading whole months.
_DAYS_JUDGED = 30
ISOLATED_DAYS = 30
"""A day without another one in so many days before it is mostly misdated; `window_end` says so of one item's days."""


def range_of(connection: Connection, tree: Tree, chosen: Filter, parameters: dict[str, Any]) -> Range:
    """Return the days asked for; by default 90, up to the last day with enough data of what is asked for."""
    granularity = parameters.get("granularity")
    first, last, ended_by = _day(parameters, "from"), _day(parameters, "to"), "request"
    if last is None:
        last, ended_by = _window_end(connection, tree, chosen)
        if first is not None and first > last:
            return Range(first, first, granularity, awaits_data=True)
    return Range(first or last - timedelta(days=DEFAULT_DAYS - 1), last, granularity, ended_by)


def _window_end(connection: Connection, tree: Tree, chosen: Filter) -> tuple[date, str]:
    """Return the last day of the default window: of what is asked for, else of the whole index, else today.

    Of the whole index those days count first that have the currency and the kind asked for.
    """
    alike = Filter(currency=chosen.currency, kinds=chosen.kinds)
    for ended_by, one in (("data", chosen), ("index", alike), ("index", Filter())):
        counts = _observations_by_day(connection, tree, one)
        if counts:
            return last_day_with_enough(counts), ended_by
    return utc_now().date(), "today"


def _observations_by_day(connection: Connection, tree: Tree, chosen: Filter) -> dict[date, int]:
    scope, ids = chosen.scope
    values = (scope, list(ids), chosen.currency, list(chosen.strata))
    counts: Counter[date] = Counter()
    for month, packed in connection.cursor(binary=True).execute(SQL.days, values):
        by_day = unpack(packed)[0]
        days = by_day.nonzero()[0]
        _add(counts, month, days, by_day.take(days))
    return _newest_matching(connection, tree, chosen, counts) if chosen.crosses_scope and counts else counts


def _newest_matching(connection: Connection, tree: Tree, chosen: Filter, counts: Counter[date]) -> Counter[date]:
    """Count the filter's own observations, of the newest months of its scope that have enough days to judge by."""
    matching: Counter[date] = Counter()
    reader = Reader(connection, tree, Range(min(counts), max(counts), None))
    for month in sorted({day.replace(day=1) for day in counts}, reverse=True):
        for part in reader.entries(chosen, month, with_ids=False):
            days, n = np.unique(part.day, return_counts=True)
            _add(matching, month, days - 1, n)
        if len(matching) >= _DAYS_JUDGED:
            break
    return matching


def _add(counts: Counter[date], month: date, days: Array, n: Array) -> None:
    """Add the counts of days of a month, of which the first is 0."""
    for day, count in zip(days.tolist(), n.tolist(), strict=True):
        counts[month + timedelta(days=day)] += count


def last_day_with_enough(counts: Mapping[date, int]) -> date:
    """Return the last day with at least a fifth of the median day's observations: a few stray rows end no window.

    Where data are so thin that one row is enough, a day that no other one is near is stray, unless most days are so.
    """
    enough = ENOUGH_SHARE * median(counts.values())
    days = sorted(counts)
    large = [place for place, day in enumerate(days) if counts[day] >= enough]
    near = (place for place in reversed(large) if place and (days[place] - days[place - 1]).days <= ISOLATED_DAYS)
    last = next(near, None)
    # Mostly the last one is near the one before it, and no other needs to be looked at.
    if last != large[-1] and (last is None or _are_mostly_isolated(days)):
        last = large[-1]
    return days[last]


def _are_mostly_isolated(days: list[date]) -> bool:
    return median_low((later - earlier).days for earlier, later in pairwise(days)) > ISOLATED_DAYS


def _day(parameters: dict[str, Any], name: str) -> date | None:
    text = parameters.get(name)
    return date.fromisoformat(text) if text else None

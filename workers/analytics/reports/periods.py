"""Days into periods: days, weeks from Monday, calendar months, quarters, years; cut at the range's ends. Pure."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np

from workers.analytics.rollups.codec import Array

GRANULARITIES = ("day", "week", "month")
LONGER = (*GRANULARITIES, "quarter", "year")
"""Granularities that a price index takes too; insights compare a period with the one before and stay with months."""
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
        """How many days there are."""
        return (self.last - self.first).days + 1

    def months(self) -> Iterator[date]:
        """Yield the first day of each month that the range touches."""
        month = self.first.replace(day=1)
        while month <= self.last:
            yield month
            month = (month + timedelta(days=32)).replace(day=1)

    def holds_month(self, month: date) -> bool:
        """Return whether the whole of a month is in the range and in one period."""
        after = (month + timedelta(days=32)).replace(day=1)
        return self.granularity == "month" and self.first <= month and after - timedelta(days=1) <= self.last

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

    def before(self) -> "Range":
        """Return the one period before the first: a whole one, or as many days as the range has."""
        first = day_of(self.periods_of(np.array([number(self.first)]))[0])
        last = first - timedelta(days=1)
        starts = {"month": last.replace(day=1), "week": last - timedelta(days=last.weekday()), "day": last}
        return Range(starts.get(self.granularity or "", first - timedelta(days=self.days)), last, self.granularity)


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

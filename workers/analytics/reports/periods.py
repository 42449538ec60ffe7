"""Days into periods: days, weeks from Monday, calendar months, quarters, years; cut at the range's ends. Pure."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np

from shared.calendar_periods import MONTHS, first_day, last_day, month_after
from workers.analytics.rollups.arrays import Array

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
        return self.granularity == "month" and self.within_one_period(month)

    def periods_of(self, days: Array) -> Array:
        """Return the first day of each day's period; days count from EPOCH, as the result does."""
        if self.granularity is None:
            return np.full(len(days), number(self.first), "i8")
        if self.granularity in MONTHS and len(days):
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
        months -= months % MONTHS[self.granularity or "month"]  # months count from January 1970
        first: Array = months.astype("M8[M]").astype("M8[D]").astype("i8")
        return first

    def within_one_period(self, month: date) -> bool:
        """Return whether the whole of a month is in the range, and all of its days in one period."""
        is_within = self.first <= month and last_day(month, "month") <= self.last
        return self.granularity in (None, *MONTHS) and is_within

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
        start = first_day(last, self.granularity) if self.granularity else first - timedelta(days=self.days)
        ends = last_day_of(first, self.granularity, self.last)
        return Range(start, ends if first < self.first and ends < self.last else last, self.granularity)


def last_day_of(first: date, granularity: str | None, last: date) -> date:
    """Return the last day of a period that begins on `first`, cut at the last day of its range."""
    return min(last_day(first, granularity), last) if granularity else last


def number(day: date) -> int:
    """Count a day from EPOCH."""
    return (day - EPOCH).days


def day_of(days: int) -> date:
    """Return the day of a count."""
    return EPOCH + timedelta(days=int(days))

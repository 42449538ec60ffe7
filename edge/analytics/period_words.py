"""Periods and days in words. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from shared.calendar_periods import first_day, last_day, quarter


@dataclass(frozen=True, slots=True)
class Periods:
    """The length of a result's periods, None where the whole range is one, and its first and last day with data.

    With `monthly`, data are of one day a month, which stands for all of it.
    """

    granularity: str | None = None
    first: date | None = None
    last: date | None = None
    monthly: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, Any], meta: Mapping[str, Any]) -> "Periods":
        """Return the periods of a stored result."""
        coverage = meta.get("coverage") or {}
        first, last = (date.fromisoformat(coverage[end]) if coverage.get(end) else None for end in ("first", "last"))
        days = coverage.get("observed_days", 0)
        monthly = first is not None and last is not None and first.day == last.day and 1 < days <= _months(first, last)
        return cls(parameters.get("granularity"), first, last, monthly)

    @property
    def span(self) -> str:
        """The days with data, as titles state them; empty where there are none."""
        return days_text(self.first, self.last) if self.first and self.last else ""

    def spanning(self, periods: Iterable[str]) -> str:
        """Return the days that these periods have data of: the coverage, or the periods where it is not theirs."""
        listed = sorted(periods)
        if not listed or self.first is None or self.granularity is None:
            return self.span
        before = self._ends(date.fromisoformat(listed[0])) < self.first
        return f"{self._short(listed[0])} to {self._short(listed[-1])}" if before else self.span

    def _short(self, period: str) -> str:
        return period[:7] if self.granularity == "month" else period

    @property
    def unit(self) -> str:
        """The length of a period as a word."""
        return self.granularity or "period"

    def is_partial(self, period: str) -> bool:
        """Return whether data begins after the period's first day, or ends before its last one.

        Where they are of one day a month, it is the month's first or last day that counts.
        """
        ends = self._ends(date.fromisoformat(period)) if self.granularity not in (None, "day") else None
        if ends is None or self.first is None or self.last is None or not self._has_data(period, ends):
            return False
        first, last = self.first, self.last
        if self.monthly and self.granularity != "week":
            first, last = first_day(first, "month"), last_day(last, "month")
        return date.fromisoformat(period) < first or ends > last

    def text(self, period: str) -> str:
        """Return a period by its days with data: never by a day before the first of them."""
        if self.first is None or self.last is None:
            return period
        if self.granularity is None:
            return self.span
        begins, ends = date.fromisoformat(period), self._ends(date.fromisoformat(period))
        if self.granularity == "day":
            return period
        if self.granularity == "year" and not self.is_partial(period):
            return period[:4]
        if not self.is_partial(period):
            return period[:7] if self.granularity == "month" else days_text(begins, ends)
        return days_text(max(begins, self.first), min(ends, self.last))

    def name(self, period: str) -> str:
        """Return a period as one among others: "2024-Q2", "the week of 2024-06-03", "the incomplete month 2024-07"."""
        begins = date.fromisoformat(period)
        names = {
            "week": f"of {max(begins, self.first or begins)}",
            "quarter": quarter(begins),
            "year": period[:4],
        }
        name = names.get(self.unit, self._short(period))
        if self.is_partial(period):
            return f"the incomplete {self.unit} {name}"
        return f"the week {name}" if self.unit == "week" else name

    def finer(self) -> str | None:
        """Return the longest length of period that would divide the days with data into several; None if none does."""
        if self.first is None or self.last is None:
            return None
        lengths = ["year", "quarter", "month", "week", "day"]
        shorter = lengths[lengths.index(self.granularity) + 1 :] if self.granularity else lengths[2:]
        if self.monthly:
            shorter = [name for name in shorter if name not in ("week", "day")]
        starts = {name: first_day(self.first, name) != first_day(self.last, name) for name in shorter}
        return next((name for name in shorter if starts[name]), None)

    def _has_data(self, period: str, ends: date) -> bool:
        assert self.first is not None
        assert self.last is not None
        return date.fromisoformat(period) <= self.last and ends >= self.first

    def _ends(self, begins: date) -> date:
        return last_day(begins, self.granularity or "day")


def coverage_text(meta: Mapping[str, Any]) -> str:
    """Return how many days of a result's range have prices; of how many months where that is one a month or fewer.

    A source of monthly prices is complete: "192 of 5,814 days" would say that nearly all of it is missing.
    """
    observed, days = meta["coverage"]["observed_days"], meta["coverage"]["days"]
    first, last = date.fromisoformat(meta["from"]), date.fromisoformat(meta["to"])
    months = _months(first, last)
    if Periods.of({}, meta).monthly and observed == months:
        return f"Prices of one day a month, for all {months:,} months"
    if 1 < observed <= months:
        return f"{observed:,} days in {months:,} months have prices"
    return f"{observed:,} of {days:,} {'day has' if days == 1 else 'days have'} prices"


def _months(first: date, last: date) -> int:
    """Return how many months the days from the first to the last are in."""
    return (last.year - first.year) * 12 + last.month - first.month + 1


def days_text(first: date, last: date) -> str:
    """Return a range of days in words."""
    return first.isoformat() if first == last else f"{first} to {last}"

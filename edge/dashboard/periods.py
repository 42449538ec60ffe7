"""The periods of a result as people name them, and which of them the data does not cover to their ends. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

_MONTHS = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True, slots=True)
class Periods:
    """The length of a result's periods, None where the whole range is one, and its first and last day with data."""

    granularity: str | None = None
    first: date | None = None
    last: date | None = None

    @classmethod
    def of(cls, parameters: Mapping[str, Any], meta: Mapping[str, Any]) -> "Periods":
        """Return the periods of a stored result."""
        coverage = meta.get("coverage") or {}
        first, last = (date.fromisoformat(coverage[end]) if coverage.get(end) else None for end in ("first", "last"))
        return cls(parameters.get("granularity"), first, last)

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
        """Return whether data begins after the period's first day, or ends before its last one."""
        ends = self._ends(date.fromisoformat(period)) if self.granularity not in (None, "day") else None
        if ends is None or self.first is None or self.last is None or not self._has_data(period, ends):
            return False
        return date.fromisoformat(period) < self.first or ends > self.last

    def text(self, period: str) -> str:
        """Return a period by its days with data: never by a day before the first of them."""
        if self.first is None or self.last is None:
            return period
        if self.granularity is None:
            return self.span
        begins, ends = date.fromisoformat(period), self._ends(date.fromisoformat(period))
        if self.granularity == "day":
            return period
        if not self.is_partial(period):
            return period[:7] if self.granularity == "month" else days_text(begins, ends)
        return days_text(max(begins, self.first), min(ends, self.last))

    def finer(self) -> str | None:
        """Return the longest length of period that would divide the days with data into several; None if none does."""
        if self.first is None or self.last is None:
            return None
        lengths = ("year", "quarter", "month", "week", "day")
        shorter = lengths[lengths.index(self.granularity) + 1 :] if self.granularity else lengths[2:]
        starts = {name: self._starts(name, self.first) != self._starts(name, self.last) for name in shorter}
        return next((name for name in shorter if starts[name]), None)

    def _has_data(self, period: str, ends: date) -> bool:
        assert self.first is not None
        assert self.last is not None
        return date.fromisoformat(period) <= self.last and ends >= self.first

    def _ends(self, begins: date) -> date:
        if self.granularity in _MONTHS:
            months = begins.year * 12 + begins.month - 1 + _MONTHS[self.granularity]
            return date(months // 12, months % 12 + 1, 1) - timedelta(days=1)
        return begins + timedelta(days=6 if self.granularity == "week" else 0)

    @staticmethod
    def _starts(length: str, day: date) -> date:
        if length in _MONTHS:
            return date(day.year, (day.month - 1) // _MONTHS[length] * _MONTHS[length] + 1, 1)
        return day - timedelta(days=day.weekday() if length == "week" else 0)


def days_text(first: date, last: date) -> str:
    """Return a range of days in words."""
    return first.isoformat() if first == last else f"{first} to {last}"

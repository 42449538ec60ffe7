"""Calendar periods are those of Python's calendar and of ISO 8601's weeks."""

import calendar
from datetime import date, timedelta

from shared.calendar_periods import first_day, last_day, month_after, quarter

DAYS = [date(1999, 12, 1) + timedelta(days=n) for n in range(2_000)]


def test_months_and_weeks_are_those_of_pythons_calendar() -> None:
    for day in DAYS:
        length = calendar.monthrange(day.year, day.month)[1]
        assert first_day(day, "month") == day.replace(day=1)
        assert last_day(day.replace(day=1), "month") == day.replace(day=length)
        assert month_after(day.replace(day=1)) == day.replace(day=length) + timedelta(days=1)
        monday = date.fromisocalendar(*day.isocalendar()[:2], 1)
        assert (first_day(day, "week"), last_day(monday, "week")) == (monday, monday + timedelta(days=6))
        assert first_day(day, "day") == last_day(day, "day") == day


def test_quarters_and_years_follow_one_another_without_a_gap() -> None:
    for length in ("quarter", "year"):
        first = date(2000, 1, 1)
        for _ in range(20):
            ends = last_day(first, length)
            assert {first_day(day, length) for day in (first, ends, first + (ends - first) / 2)} == {first}
            first = ends + timedelta(days=1)
        assert first == date(2005 if length == "quarter" else 2020, 1, 1)
    assert [quarter(date(2024, month, 1)) for month in (1, 3, 4, 12)] == ["2024-Q1", "2024-Q1", "2024-Q2", "2024-Q4"]

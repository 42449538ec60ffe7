"""Calendar periods: days, weeks from Monday, months, quarters and years. Pure."""

from datetime import date, timedelta

MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The periods that are made of whole months, and of how many."""


def first_day(day: date, granularity: str) -> date:
    """Return the first day of the period that a day is in."""
    if granularity in MONTHS:
        return date(day.year, (day.month - 1) // MONTHS[granularity] * MONTHS[granularity] + 1, 1)
    return day - timedelta(days=day.weekday() if granularity == "week" else 0)


def last_day(first: date, granularity: str) -> date:
    """Return the last day of the period that begins on a day."""
    if granularity in MONTHS:
        after = first.year * 12 + first.month - 1 + MONTHS[granularity]
        return date(after // 12, after % 12 + 1, 1) - timedelta(days=1)
    return first + timedelta(days=6 if granularity == "week" else 0)


def month_after(month: date) -> date:
    """Return the first day of the month after one that is given by its first day."""
    return last_day(month, "month") + timedelta(days=1)


def quarter(day: date) -> str:
    """Return the quarter that a day is in: "2024-Q2"."""
    return f"{day.year}-Q{(day.month + 2) // 3}"

"""Labels of periods: their order, and days put together to weeks, months, quarters or years. Pure."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from shared.price_index.panel import IndexNotDefined

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")


def ordered(labels: list[str]) -> list[str]:
    """Return the distinct labels in order: numbers by size, else text with the numbers in it by size (2024-9, 2024-10).

    ISO dates, months (2024-01), weeks (2024-W05) and quarters (2024-Q1) are in the order of time that way.
    """
    distinct = set(labels)
    if all(_NUMBER.fullmatch(label) for label in distinct):
        return sorted(distinct, key=lambda label: (float(label), label))
    return sorted(distinct, key=_natural)


def _natural(label: str) -> tuple[list[tuple[int, int, str]], str]:
    """Return a sort key in which runs of digits count as numbers; labels that differ never have the same key."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", label)
    return [(0, int(part), "") if part[0] in "0123456789" else (1, 0, part) for part in parts], label


def _week(day: date) -> str:
    return (day - timedelta(days=day.weekday())).isoformat()


GRANULARITIES: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "week": _week,
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": lambda day: f"{day:%Y}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day:%Y}",
}


def grouped(labels: list[str], granularity: str) -> list[str]:
    """Return the label of the period that each day belongs to: of a week its Monday, else 2024-01, 2024-Q1, 2024.

    Raises IndexNotDefined for a label that is not a day written YYYY-MM-DD.
    """
    name = GRANULARITIES[granularity]
    days: dict[str, str] = {}
    for label in set(labels):
        try:
            if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", label):
                raise ValueError
            days[label] = name(date.fromisoformat(label))
        except ValueError:
            raise IndexNotDefined("granularity: every period of the file must be a day, YYYY-MM-DD") from None
    return [days[label] for label in labels]

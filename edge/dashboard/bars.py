"""Bars with their figures and, where a figure has bounds, whiskers from the lower to the upper one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from edge.dashboard.tables import figure


class Bar(NamedTuple):
    """A figure as a number or its text, and the bounds of its interval, None where it has none."""

    label: str
    value: Any
    low: Any = None
    high: Any = None


def barred(title: str, bars: Sequence[Bar], *, percent: bool = False) -> dict[str, Any]:
    """Return one picture: shares fill the bar at 100 %, other figures at the highest of them or of their bounds."""
    ends = [abs(end) for bar in bars for end in (number(bar.value), number(bar.high)) if end is not None]
    full = 1.0 if percent else max(ends, default=1.0) or 1.0
    return {"title": title, "entries": [entry(bar, full, percent=percent) for bar in bars]}


def entry(bar: Bar, full: float, *, percent: bool = False) -> dict[str, Any]:
    """Return one bar of a picture: lengths in per cent of `full`, `whisker` as the places of both bounds or None."""
    value, low, high = number(bar.value) or 0.0, number(bar.low), number(bar.high)
    text, whisker = f"{100 * value:.1f} %" if percent else figure(bar.value), None
    if low is not None and high is not None:
        text, whisker = f"{text} ({figure(bar.low)} to {figure(bar.high)})", (_part(low, full), _part(high, full))
    return {"label": bar.label, "part": _part(value, full), "text": text, "whisker": whisker}


def number(value: Any) -> float | None:
    """Return the number that a figure or its text is, None for anything else."""
    try:
        return float(value) if value is not None else None
    except (TypeError, ValueError):
        return None


def _part(value: float, full: float) -> float:
    return round(100 * min(1.0, abs(value) / full), 1)

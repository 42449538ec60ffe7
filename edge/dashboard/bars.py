"""Bars of figures with their intervals. Pure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from edge.analytics.wording import estimate, figure, number


class Bar(NamedTuple):
    """A figure as a number or its text, and the bounds of its interval, None where it has none."""

    label: str
    value: Any
    low: Any = None
    high: Any = None


def bar_chart(title: str, bars: Sequence[Bar], *, percent: bool = False, of_whole: bool = True) -> dict[str, Any]:
    """Return one picture, the largest first: shares of a whole fill the bar at 100 %, others at the highest bound."""
    ends = [abs(end) for bar in bars for end in (number(bar.value), number(bar.high)) if end is not None]
    full = 1.0 if percent and of_whole else max(ends, default=1.0) or 1.0
    ordered = sorted(bars, key=lambda bar: -(number(bar.value) or 0.0))
    return {"title": title, "entries": [chart_entry(bar, full, percent=percent) for bar in ordered]}


def chart_entry(bar: Bar, full: float, *, percent: bool = False) -> dict[str, Any]:
    """Return one bar of a picture: lengths in % of `full`, `whisker` as the places of both bounds or None."""
    value, low, high = number(bar.value) or 0.0, number(bar.low), number(bar.high)
    text, whisker = f"{100 * value:.1f} %" if percent else figure(bar.value), None
    if low is not None and high is not None:
        shown = [estimate(100 * end if percent else end) for end in (value, low, high)]
        text = f"{shown[0]}{' %' if percent else ''} ({shown[1]} to {shown[2]})"
        whisker = (_part(low, full), _part(high, full))
    return {"label": bar.label, "part": _part(value, full), "text": text, "whisker": whisker}


def _part(value: float, full: float) -> float:
    return round(100 * min(1.0, abs(value) / full), 1)

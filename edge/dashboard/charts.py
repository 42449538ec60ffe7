"""From the rows of a report to pictures: lines over periods, bars of shares and distributions."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from edge.analytics.prices import Price
from edge.analytics.pricing import KINDS, median
from edge.reports.report import Picture
from shared.money import minor_digits

ROWS_MAX = 200
_SERIES_MAX = 6
_GROUPS = ("brand", "category", "channel")
Rows = list[dict[str, Any]]
Plot = dict[str, Any]


def plots(picture: Picture, rows: Rows) -> list[Plot]:
    """Return the line plots of a report, each with its title; none where it has no periods."""
    if not rows or rows[0].get("period") is None:
        return []
    made = _spread(picture, rows) if picture.spread else []
    for name in picture.lines:
        if any(row.get(name) is not None for row in rows):
            made.append(_lines(f"{name} per period", rows, name))
    return made


def bars(picture: Picture, rows: Rows) -> list[Plot]:
    """Return bar pictures: `entries` with label, share of the longest (0 to 100) and the figure as text."""
    if not rows:
        return []
    last = rows[-1]
    made = []
    if picture.bars:
        made.append(_bars(f"Distribution, {_moment(last)}", [(name, last[name]) for name in picture.bars]))
    channels = last.get("channels") or []
    if isinstance(channels, list) and channels and "share" in channels[0]:
        listed = [(str(c["channel"]), c["share"]) for c in channels]
        made.append(_bars(f"Share by channel, {_label(last)}", listed, percent=True))
    return made


def history(prices: Sequence[Price]) -> list[Plot]:
    """Return an item's median price per day and channel, a plot for each currency and kind; no data is a gap."""
    made = []
    for currency, kind in sorted({(price.currency, price.kind) for price in prices}):
        chosen = [price for price in prices if (price.currency, price.kind) == (currency, kind)]
        first, last = min(p.day for p in chosen), max(p.day for p in chosen)
        days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
        series = []
        for channel in sorted({price.channel for price in chosen})[:_SERIES_MAX]:
            by_day: dict[date, list[int]] = defaultdict(list)
            for price in chosen:
                if price.channel == channel:
                    by_day[price.day].append(price.minor)
            values = [float(scaled(median(sorted(by_day[day])), currency)) if day in by_day else None for day in days]
            series.append({"label": channel, "values": values})
        made.append(
            {
                "title": f"Median price per day, {currency}, {KINDS[kind]}s",
                "x": [day.isoformat() for day in days],
                "series": series,
                "kind": "lines",
            }
        )
    return made


def scaled(minor: Decimal, currency: str) -> Decimal:
    """Turn minor units into an amount."""
    return minor.scaleb(-minor_digits(currency))


def _spread(picture: Picture, rows: Rows) -> list[Plot]:
    labels = {_label(row, period=False) for row in rows}
    if len(labels) > 1:
        return [_lines(f"{picture.compared_title} per period", rows, picture.compared)]
    series = [{"label": name, "values": [_number(row[name]) for row in rows]} for name in picture.spread]
    title = ", ".join(part for part in (f"{picture.spread_title} per period", labels.pop()) if part)
    return [{"title": title, "x": [row["period"] for row in rows], "series": series, "kind": "lines"}]


def _lines(title: str, rows: Rows, name: str) -> Plot:
    periods = sorted({row["period"] for row in rows})
    by_group: dict[str, dict[str, Any]] = defaultdict(dict)
    for row in rows:
        by_group[_label(row, period=False)][row["period"]] = _number(row.get(name))
    shown = list(by_group)[:_SERIES_MAX]
    series = [
        {"label": label or name, "values": [by_group[label].get(period) for period in periods]} for label in shown
    ]
    more = f" (the first {_SERIES_MAX} of {len(by_group)})" if len(by_group) > _SERIES_MAX else ""
    return {"title": title + more, "x": periods, "series": series, "kind": "lines"}


def _bars(title: str, listed: list[tuple[str, Any]], *, percent: bool = False) -> Plot:
    numbers = [(label, _number(value)) for label, value in listed]
    longest = max((number for _, number in numbers if number), default=1.0)
    entries = [
        {
            "label": label,
            "part": round(100 * (number or 0) / longest, 1),
            "text": f"{100 * (number or 0):.1f} %" if percent else str(value),
        }
        for (label, number), (_, value) in zip(numbers, listed, strict=True)
    ]
    return {"title": title, "entries": entries}


def _group(row: dict[str, Any]) -> str:
    return ", ".join(str(row[name]) for name in _GROUPS if isinstance(row.get(name), str))


def _label(row: dict[str, Any], *, period: bool = True) -> str:
    currency, original = row.get("currency") or "", row.get("original_currency")
    converted = f"{currency} from {original}" if original and original != currency else str(currency)
    parts = [_group(row), converted, str(row.get("period") or "") if period else ""]
    return ", ".join(part for part in parts if part)


def _moment(row: dict[str, Any]) -> str:
    return ", ".join(str(row[name]) for name in ("period", "currency") if row.get(name))


def _number(value: Any) -> float | None:
    try:
        return float(value) if value is not None else None
    except (TypeError, ValueError):
        return None

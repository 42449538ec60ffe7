"""From the rows of a report to pictures: lines over periods, bars of shares and distributions."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from edge.analytics.prices import Price
from edge.analytics.pricing import KINDS, median
from edge.dashboard.tables import figure
from edge.reports.report import Picture
from shared.money import minor_digits

ROWS_MAX = 200
_SERIES_MAX = 6
_BARS_MAX = 20
_GROUPS = ("brand", "category", "channel")
Rows = list[dict[str, Any]]
Plot = dict[str, Any]


def plots(picture: Picture, rows: Rows) -> list[Plot]:
    """Return the line plots of a report, each with its title; none where fewer than two periods could be joined."""
    if len({row.get("period") for row in rows}) < 2:
        return []
    made = _spread(picture, rows) if picture.spread else []
    for name in picture.lines:
        if any(row.get(name) is not None for row in rows):
            made.append(_lines(f"{_words(name)} per period", rows, name))
    return made


def bars(picture: Picture, rows: Rows) -> list[Plot]:
    """Return bar pictures of the newest period: `entries` with label, length (0 to 100) and the figure as text.

    Rows of one group are drawn as their distribution and their shares. Several groups are compared, a bar each.
    """
    if not rows:
        return []
    newest = max((row["period"] for row in rows if row.get("period")), default=None)
    shown = [row for row in rows if row.get("period") == newest]
    by_currency: dict[str, Rows] = defaultdict(list)
    for row in shown:
        by_currency[str(row.get("currency") or "")].append(row)
    one_period = len({row.get("period") for row in rows}) == 1
    made: list[Plot] = []
    for alike in by_currency.values():
        made += _compared(picture, alike, one_period) if len(alike) > 1 else _alone(picture, alike[0], one_period)
    return made


def _alone(picture: Picture, row: dict[str, Any], one_period: bool) -> list[Plot]:
    made = []
    if picture.bars:
        made.append(_bars(f"Distribution, {_moment(row)}", [(_words(name), row[name]) for name in picture.bars]))
    channels = row.get("channels") or []
    # A group that is one channel has all of it by construction.
    if len(channels) > 1 and "share" in channels[0]:
        listed = [(str(c["channel"]), c["share"]) for c in channels]
        made.append(_bars(f"Share by channel, {_label(row)}", listed, percent=True))
    if one_period and picture.lines:
        listed = [(_words(name), row.get(name)) for name in picture.lines if row.get(name) is not None]
        made += [_bars(f"{label}, {_label(row)}", [(label, value)]) for label, value in listed]
    return made


def _compared(picture: Picture, rows: Rows, one_period: bool) -> list[Plot]:
    made = []
    for name in (picture.compared, *(picture.lines if one_period else ())):
        listed = [
            (_group(row) or _label(row, period=False) or "all", row[name])
            for row in rows
            if name and row.get(name) is not None
        ]
        if listed:
            more = f" (the first {_BARS_MAX} of {len(listed)})" if len(listed) > _BARS_MAX else ""
            title = picture.compared_title if name == picture.compared else _words(name)
            made.append(_bars(f"{title} by group, {_moment(rows[0])}{more}", listed[:_BARS_MAX]))
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
    plot: Plot = {"title": title, "x": [row["period"] for row in rows], "series": series, "kind": "lines"}
    if picture.band:
        plot["band"] = list(picture.band)
    return [plot]


def _lines(title: str, rows: Rows, name: str) -> Plot:
    periods = sorted({row["period"] for row in rows})
    by_group: dict[str, dict[str, Any]] = defaultdict(dict)
    for row in rows:
        by_group[_label(row, period=False)][row["period"]] = _number(row.get(name))
    shown = list(by_group)[:_SERIES_MAX]
    series = [
        {"label": label or _words(name), "values": [by_group[label].get(period) for period in periods]}
        for label in shown
    ]
    more = f" (the first {_SERIES_MAX} of {len(by_group)})" if len(by_group) > _SERIES_MAX else ""
    return {"title": title + more, "x": periods, "series": series, "kind": "lines"}


def _bars(title: str, listed: list[tuple[str, Any]], *, percent: bool = False) -> Plot:
    """Return one picture: shares fill the bar at 100 %, other figures at the highest of them."""
    numbers = [_number(value) or 0.0 for _, value in listed]
    full = 1.0 if percent else max((abs(number) for number in numbers), default=1.0) or 1.0
    entries = [
        {
            "label": label,
            "part": round(100 * min(1.0, abs(number) / full), 1),
            "text": f"{100 * number:.1f} %" if percent else figure(value),
        }
        for (label, value), number in zip(listed, numbers, strict=True)
    ]
    return {"title": title, "entries": entries}


def _words(name: str) -> str:
    return name.replace("_", " ")


def _group(row: dict[str, Any]) -> str:
    return ", ".join(f"no {name}" if row[name] is None else str(row[name]) for name in _GROUPS if name in row)


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

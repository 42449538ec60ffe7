"""Bars with their figures and, where a figure has bounds, whiskers from the lower to the upper one."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from edge.analytics.price_history import KINDS, Price, median
from edge.analytics.report import Picture
from edge.dashboard.tables import figure
from shared.money import minor_digits


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


# From the rows of a report to pictures: lines over periods, bars of shares and distributions.


ROWS_MAX = 200
SERIES_MAX = 6
_BARS_MAX = 20
_GROUPS = ("brand", "category", "channel")
Rows = list[dict[str, Any]]
Plot = dict[str, Any]


def plots(picture: Picture, rows: Rows) -> list[Plot]:
    """Return the line plots of a report, each with its title; none where fewer than two periods could be joined."""
    if len({row.get("period") for row in rows}) < 2:
        return []
    alone = len({_label(row, period=False) for row in rows}) == 1
    made = _spread(picture, rows) if picture.spread else []
    for name in (*picture.lines, *picture.changes):
        if alone and f"{name}_low" in picture.spread:
            continue  # it is drawn already
        if any(row.get(name) is not None for row in rows):
            drawn = _interval if alone and f"{name}_low" in rows[0] else _lines
            made.append(drawn(f"{_words(name)} per period", rows, name))
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
        made.append(barred(f"Distribution, {_moment(row)}", [Bar(_words(name), row[name]) for name in picture.bars]))
    channels = row.get("channels") or []
    # A group that is one channel has all of it by construction.
    if len(channels) > 1 and "share" in channels[0]:
        listed = [Bar(str(c["channel"]), c["share"]) for c in channels]
        made.append(barred(f"Share by channel, {_label(row)}", listed, percent=True))
    if one_period:
        drawn = [_bar(_words(name), row, name) for name in picture.lines if row.get(name) is not None]
        made += [barred(f"{bar.label}, {_label(row)}", [bar]) for bar in drawn]
    return made


def _compared(picture: Picture, rows: Rows, one_period: bool) -> list[Plot]:
    made = []
    for name in (picture.compared, *(picture.lines if one_period else ())):
        listed = [
            _bar(_group(row) or _label(row, period=False) or "all", row, name)
            for row in rows
            if name and row.get(name) is not None
        ]
        if listed:
            more = f" (the first {_BARS_MAX} of {len(listed)})" if len(listed) > _BARS_MAX else ""
            title = picture.compared_title if name == picture.compared else _words(name)
            made.append(barred(f"{title} by group, {_moment(rows[0])}{more}", listed[:_BARS_MAX]))
    return made


def _spread(picture: Picture, rows: Rows) -> list[Plot]:
    labels = {_label(row, period=False) for row in rows}
    if len(labels) > 1:
        return [_lines(f"{picture.compared_title} per period", rows, picture.compared)]
    series: list[Plot] = [{"label": name, "values": [number(row[name]) for row in rows]} for name in picture.spread]
    for one in series:
        if one["label"] == picture.compared:
            one["hollow"] = _flagged(rows)
    title = ", ".join(part for part in (f"{picture.spread_title} per period", labels.pop()) if part)
    plot: Plot = {"title": title, "x": [row["period"] for row in rows], "series": series, "kind": "lines"}
    if picture.band:
        plot["band"] = list(picture.band)
    return [plot]


def _lines(title: str, rows: Rows, name: str) -> Plot:
    periods = sorted({row["period"] for row in rows})
    by_group: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        by_group[_label(row, period=False)][row["period"]] = row
    series = []
    for label in list(by_group)[:SERIES_MAX]:
        points = [by_group[label].get(period, {}) for period in periods]
        values = [number(row.get(name)) for row in points]
        series.append({"label": label or _words(name), "values": values, "hollow": _flagged(points)})
    more = f" (the first {SERIES_MAX} of {len(by_group)})" if len(by_group) > SERIES_MAX else ""
    return {"title": title + more, "x": periods, "series": series, "kind": "lines"}


def _interval(title: str, rows: Rows, name: str) -> Plot:
    """Return the plot of a figure of one group between its bounds."""
    central = f"{name}_central" if f"{name}_central" in rows[0] else name
    names = (f"{name}_low", central, f"{name}_high")
    series = [{"label": one, "values": [number(row.get(one)) for row in rows]} for one in names]
    band = [names[0], names[2]]
    return {"title": title, "x": [row["period"] for row in rows], "series": series, "band": band, "kind": "lines"}


def _bar(label: str, row: dict[str, Any], name: str) -> Bar:
    stem = name.removesuffix("_central")
    return Bar(label, row[name], row.get(f"{stem}_low"), row.get(f"{stem}_high"))


def _flagged(rows: Rows) -> list[int]:
    """Return the places of the rows that outliers were found in: their points are drawn hollow."""
    return [position for position, row in enumerate(rows) if row.get("set_aside")]


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


# Pictures of one item: its prices by day with outliers apart, its footprint with intervals.


# From this ratio of the highest price to the lowest on, a linear axis would flatten the line below its outliers.
_LOG_RATIO_MIN = 5.0


def history(prices: Sequence[Price], outliers: Sequence[Price] = ()) -> list[dict[str, Any]]:
    """Return an item's median price per day and channel, a plot for each currency and kind; no data is a gap.

    Outliers have no part in the lines: they are series of hollow points, the median where a channel has several a day.
    """
    everything = (*prices, *outliers)
    made = []
    for currency, kind in sorted({(price.currency, price.kind) for price in everything}):
        chosen = [price for price in everything if (price.currency, price.kind) == (currency, kind)]
        first, last = min(p.day for p in chosen), max(p.day for p in chosen)
        days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
        series: list[dict[str, Any]] = []
        channels = sorted({price.channel for price in chosen})
        for colour, channel in enumerate(channels[:SERIES_MAX]):
            here = [price for price in chosen if price.channel == channel]
            values = _by_day([price for price in here if price.outlier is None], days, currency)
            series.append({"label": channel, "values": values, "colour": colour})
            values = _by_day([price for price in here if price.outlier is not None], days, currency)
            hollow = [position for position, value in enumerate(values) if value is not None]
            if hollow:
                label = f"{channel}, outliers"
                series.append({"label": label, "values": values, "colour": colour, "hollow": hollow, "line": False})
        scale = _scale(series)
        title = f"Median price per day, {currency}, {KINDS[kind]}s{', logarithmic scale' if scale == 'log' else ''}"
        if len(channels) > SERIES_MAX:
            title += f" (the first {SERIES_MAX} of {len(channels)} channels)"
        listed = [day.isoformat() for day in days]
        made.append({"title": title, "x": listed, "series": series, "kind": "lines", "scale": scale})
    return made


def footprint(figures: Iterable[Mapping[str, Any]], titles: Mapping[str, str]) -> dict[str, Any] | None:
    """Return bars of an item's figures with whiskers, each indicator on a scale of its own; None without figures."""
    entries = []
    for row in figures:
        if row["per_unit"] is None:
            continue
        bar = Bar(titles.get(row["indicator"], row["indicator"]), row["per_unit"], row["low"], row["high"])
        drawn = entry(bar, max(row["per_unit"], row["high"] or 0.0) or 1.0)
        entries.append({**drawn, "text": f"{drawn['text']} {row['unit']}"})
    title = "Footprint of one with its 95 % interval, each indicator on its own scale"
    return {"title": title, "entries": entries} if entries else None


def scaled(minor: Decimal, currency: str) -> Decimal:
    """Turn minor units into an amount."""
    return minor.scaleb(-minor_digits(currency))


def _by_day(prices: Iterable[Price], days: Iterable[date], currency: str) -> list[float | None]:
    by_day: dict[date, list[int]] = defaultdict(list)
    for price in prices:
        by_day[price.day].append(price.minor)
    return [float(scaled(median(sorted(by_day[day])), currency)) if day in by_day else None for day in days]


def _scale(series: Iterable[Mapping[str, Any]]) -> str:
    """Return `log` where outliers are so far from the other prices that the lines would be flat, else `linear`."""
    if all("hollow" not in one for one in series):
        return "linear"
    values = [value for one in series for value in one["values"] if value is not None]
    low, high = min(values), max(values)
    return "log" if low > 0 and high >= _LOG_RATIO_MIN * low else "linear"

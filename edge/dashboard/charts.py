"""From the rows of a report to pictures: lines over periods, bars of shares and distributions."""

from collections import defaultdict
from typing import Any

from edge.dashboard.bars import Bar, barred, number
from edge.reports.report import Picture

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

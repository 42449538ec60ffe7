"""Charts of a report's rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Sized
from typing import Any

from edge.analytics.reports.declaration import Picture
from edge.analytics.wording import (
    BY_CODE,
    GROUPS,
    PLAIN,
    RowContext,
    amount,
    differing,
    figure,
    group_name,
    money_of,
    number,
)
from edge.dashboard.bars import Bar, bar_chart
from edge.dashboard.tables import heading, is_amount, is_share

ROWS_MAX = 200
SERIES_MAX = 6
_BARS_MAX = 20
_LARGE_SHARE = 50  # per cent
# The percentiles of a box, from the end of its whisker inwards to its median and out again.
_BOX = ("min", "p10", "p25", "p50", "p75", "p90", "max")
# The fields of a row that list its parts with their shares, and what a part is.
_PARTS = {"channels": "shop", "categories": "category", "top_brands": "brand (the five largest)"}
_SERIES_NAMES = {
    "low": "95 % interval, low",
    "high": "95 % interval, high",
    "median_index": "Index of the median price",
}
# A report whose rows are of one indicator each states so the unit of its figures.
_OF_INDICATOR = "unit of the indicator"
Rows = list[dict[str, Any]]
Plot = dict[str, Any]


def plots(picture: Picture, rows: Rows, reading: RowContext = PLAIN) -> list[Plot]:
    """Return the line plots of a report, each with its title; none where fewer than two periods could be joined.

    Amounts of several currencies have no scale in common: each currency has its own plots.
    """
    currencies = sorted({str(row["currency"]) for row in rows if row.get("currency")})
    if len(currencies) > 1 and is_amount(picture.compared, reading.units):
        by_currency = ([row for row in rows if row.get("currency") == one] for one in currencies)
        return [plot for alike in by_currency for plot in plots(picture, alike, reading)]
    if len({row.get("period") for row in rows}) < 2:
        return []
    alone = len(set(_labels(rows, reading))) == 1
    made = _spread(picture, rows, reading) if picture.spread and len(_known(picture.compared, rows)) > 1 else []
    for name in (*picture.lines, *picture.changes):
        drawn = _drawn_name(name, rows)
        if picture.spread and (drawn == picture.compared or (alone and f"{name}_low" in picture.spread)):
            continue  # it is drawn already
        # One point is no line: it is a bar, with its unit.
        if len({row["period"] for row in rows if row.get(drawn) is not None}) > 1 and _is_any(drawn, rows):
            interval = alone and f"{name}_low" in rows[0]
            made.append(
                _interval(name, rows, reading)
                if interval
                else _lines(_title(drawn, rows, reading), rows, drawn, reading)
            )
    return made


def bars(picture: Picture, rows: Rows, reading: RowContext = PLAIN) -> list[Plot]:
    """Return bar pictures of the newest period: `entries` with label, length (0 to 100) and the figure as text.

    Rows of one group are drawn as their distribution and their shares. Several groups are compared, a bar each. A
    distribution is a box: `ends` are those of its scale, which need not begin at zero.
    """
    if not rows:
        return []
    newest = max((row["period"] for row in rows if row.get("period")), default=None)
    shown = [row for row in rows if row.get("period") == newest]
    by_currency: dict[str, Rows] = defaultdict(list)
    for row in shown:
        by_currency[str(row.get("currency") or "")].append(row)
    made: list[Plot] = []
    for alike in by_currency.values():
        made += _compared(picture, alike, rows, reading) if len(alike) > 1 else _alone(picture, alike[0], rows, reading)
    return made


def _alone(picture: Picture, row: dict[str, Any], rows: Rows, reading: RowContext) -> list[Plot]:
    made = []
    # Beside groups of other currencies it is not the only one: the title says which it is.
    own = group_name(row, reading.names, differing(rows))
    moment = ", ".join(part for part in (own, _moment(row, reading)) if part)
    if picture.boxes and len({row.get(name) for name in _BOX}) > 1:  # of one price the table says it all
        made.append(box_plot(f"Distribution of prices, {moment}", [("", row)]))
    if row.get("peers"):
        # Peers are of the brand's largest category, and so are their medians: its own must be of it too.
        shared = max(row["categories"], key=_part_size)
        listed = [
            Bar(name, _amount(one, "median", row.get("currency")))
            for name, one in ((row["name"], shared), *((one["name"], one) for one in row["peers"]))
        ]
        where = _group({"category": shared["category"]}, reading).rpartition(" › ")[2]
        made.append(bar_chart(f"Median price of the largest brands in {where}, {moment}", listed))
    for field, words in _PARTS.items():
        parts = row.get(field) or []
        # A group that is one channel has all of it by construction.
        if len(parts) > 1 and "share" in parts[0]:
            cut = [parts[place] for place in largest_places([_part_size(one) for one in parts], _BARS_MAX)]
            listed = [Bar(_group(one, reading).rpartition(" › ")[2], one["share"]) for one in cut]
            counted = "items" if "items" in parts[0] else "observations"
            title = f"Share of {counted} by {words}, {moment}{largest_of(_BARS_MAX, parts)}"
            made.append(bar_chart(title, listed, percent=True))
    return made


def _compared(picture: Picture, alike: Rows, rows: Rows, reading: RowContext) -> list[Plot]:
    made = []
    when, labelled = _moment(alike[0], reading), list(zip(_labels(alike, reading), alike, strict=True))

    def largest(name: str) -> tuple[list[tuple[str, dict[str, Any]]], str]:
        """Return the largest groups that have this figure, and words for how many there are."""
        known = [(label or "all", row) for label, row in labelled if row.get(name) is not None]
        places = largest_places([_size(row, name) for _, row in known], _BARS_MAX)
        return [known[place] for place in places], largest_of(_BARS_MAX, known, _by(alike))

    def add_bars(name: str, words: str) -> None:
        """Add the bars of a figure; none where all are zero."""
        listed, cut = largest(name)
        if not _is_any(name, [row for _, row in listed]):
            return
        unit = _unit(name, rows, reading) if alike[0].get("indicator") else ""
        title = ", ".join(part for part in (words, unit, f"{when}{cut}") if part)
        percent = is_share(name, reading.units)
        bars_of = [_bar(label, row, name) for label, row in listed]
        made.append(bar_chart(title, bars_of, percent=percent, of_whole=percent and name.startswith("share_")))

    listed, cut = largest(picture.compared)
    if picture.boxes and listed:
        made.append(box_plot(f"Distribution of prices, {when}{cut}", listed))
    else:
        add_bars(picture.compared, picture.compared_title)
    for name in picture.lines:
        drawn = _drawn_name(name, alike)
        if drawn != picture.compared and len(_known(drawn, rows)) == 1:
            add_bars(drawn, heading(drawn, reading.units))
    return made


def box_plot(title: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Plot:
    """Return box plots on one scale: a line from lowest to highest, a band from p10 to p90, a box of the quartiles."""
    found = [(number(row.get(name)), figure(_amount(row, name))) for _, row in rows for name in _BOX]
    ends = [(value, text) for value, text in found if value is not None]
    (low, lowest), (high, highest) = min(ends, default=(0.0, "0")), max(ends, default=(1.0, "1"))
    width = (high - low) or 1.0

    def place(value: Any) -> float:
        return round(100 * ((number(value) or low) - low) / width, 1)

    entries = [
        {
            "label": label,
            "box": {name: place(row.get(name)) for name in _BOX},
            "text": "{} ({} to {})".format(*(figure(_amount(row, name)) for name in ("p50", "p10", "p90"))),
        }
        for label, row in rows
    ]
    return {"title": title, "entries": entries, "ends": (lowest, highest)}


def _size(row: Mapping[str, Any], name: str = "") -> float:
    """Return how large a group is: by its observations, or if they are not counted, by the figure that is drawn."""
    return number(row.get("observations", row.get(name))) or 0.0


def _part_size(part: Mapping[str, Any]) -> float:
    """Return how large a part of a row is: by what its share counts."""
    return number(part.get("items", part.get("observations"))) or 0.0


def _by(rows: Rows) -> str:
    """Return in words what makes a group large where that is not the figure that is drawn."""
    return " by observations" if rows and "observations" in rows[0] else ""


def largest_places(sizes: Sequence[float], most: int) -> list[int]:
    """Return the places of the largest sizes, in their order."""
    return sorted(sorted(range(len(sizes)), key=lambda place: -sizes[place])[:most])


def largest_of(most: int, listed: Sized, what: str = "") -> str:
    return f" (the {most} largest of {len(listed)}{what})" if len(listed) > most else ""


def _drawn_name(name: str, rows: Rows) -> str:
    """Return the column that is drawn of an indicator: the median of its sum, which the interval is around."""
    return f"{name}_central" if rows and f"{name}_central" in rows[0] else name


def _is_any(name: str, rows: Rows) -> bool:
    """Return whether any figure of a column is not zero: of zeros alone a picture shows nothing."""
    return any(number(row.get(name)) for row in rows)


def _known(name: str, rows: Rows) -> set[Any]:
    return {row.get("period") for row in rows if row.get(name) is not None}


def _within(name: str, rows: Rows) -> Rows:
    """Return the rows from the first to the last period that has this figure: no plot has empty ends."""
    if not rows:
        return rows
    known = _known(name, rows)
    first, last = min(known), max(known)
    return [row for row in rows if first <= row["period"] <= last]


def _title(name: str, rows: Rows, reading: RowContext, words: str = "") -> str:
    """Return a plot's title: what it shows in which unit, by which period, and the days that have data."""
    currencies = {money_of(row) for row in rows if row.get("currency")}
    distinguishing = differing(rows)
    shared = group_name(rows[0], reading.names, [field for field in GROUPS if field not in distinguishing])
    parts = [f"{words or heading(name, reading.units)} per {reading.periods.unit}", shared]
    is_money = is_amount(name, reading.units) or (name not in reading.units and not is_share(name, reading.units))
    parts += sorted(currencies) if len(currencies) == 1 and "index" not in name and is_money else []
    return ", ".join(part for part in (*parts, reading.periods.spanning(_known(name, rows))) if part)


def _spread(picture: Picture, rows: Rows, reading: RowContext) -> list[Plot]:
    if len(set(_labels(rows, reading))) > 1:
        return [
            _lines(_title(picture.compared, rows, reading, picture.compared_title), rows, picture.compared, reading)
        ]
    rows = _within(picture.compared, rows)
    series: list[Plot] = [
        {"label": _series_name(name), "values": [number(row[name]) for row in rows]} for name in picture.spread
    ]
    for name, one in zip(picture.spread, series, strict=True):
        if name == picture.compared:
            one["hollow"] = _flagged(rows)
    title = _title(picture.compared, rows, reading, picture.spread_title)
    plot = _plot(title, [row["period"] for row in rows], series, reading, _unit(picture.compared, rows, reading))
    if picture.band:
        plot["band"] = [_series_name(name) for name in picture.band]
    return [plot]


def _lines(title: str, rows: Rows, name: str, reading: RowContext) -> Plot:
    rows = _within(name, rows)
    periods = sorted({row["period"] for row in rows})
    by_group: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for label, row in zip(_labels(rows, reading), rows, strict=True):
        by_group[label][row["period"]] = row
    series = []
    scale = 100 if is_share(name, reading.units) else 1
    groups = [label for label, known in by_group.items() if any(row.get(name) is not None for row in known.values())]
    sizes = [sum(_size(row, name) for row in by_group[label].values()) for label in groups]
    for label in (groups[place] for place in largest_places(sizes, SERIES_MAX)):
        points = [by_group[label].get(period, {}) for period in periods]
        values = [None if (value := number(row.get(name))) is None else scale * value for row in points]
        series.append({"label": label or heading(name), "values": values, "hollow": _flagged(points)})
    title += largest_of(SERIES_MAX, groups, _by(rows))
    plot = _plot(title, periods, series, reading, _unit(name, rows, reading))
    # Small shares would lie on the axis of a scale that ends at 100 %.
    highest = scale * max((number(row.get(name)) or 0 for row in rows), default=0)
    return {**plot, "scale": "share"} if name.startswith("share_") and highest >= _LARGE_SHARE else plot


def _interval(name: str, rows: Rows, reading: RowContext) -> Plot:
    """Return the plot of a figure of one group between its bounds."""
    central = _drawn_name(name, rows)
    rows = _within(central, rows)
    names = (f"{name}_low", central, f"{name}_high")
    scale = 100 if is_share(name, reading.units) else 1
    series = [
        {
            "label": _series_name(one),
            "values": [None if (value := number(row.get(one))) is None else scale * value for row in rows],
        }
        for one in names
    ]
    indicator = BY_CODE.get(name)
    words = f"{indicator.title}, {indicator.unit}" if indicator else ""
    title = _title(central, rows, reading, words)
    plot = _plot(title, [row["period"] for row in rows], series, reading, indicator.unit if indicator else "%")
    return {**plot, "band": [series[0]["label"], series[2]["label"]]}


def _unit(name: str, rows: Rows, reading: RowContext) -> str:
    """Return what the figures of a column are in, as the title of their axis; an index is no price."""
    indicator = BY_CODE.get(name.removesuffix("_central"))
    if indicator is not None:
        return indicator.unit
    if is_share(name, reading.units):
        return "%"
    if is_amount(name, reading.units):
        return ", ".join(sorted({str(row["currency"]) for row in rows if row.get("currency")}))
    unit = reading.units.get(name, "first period = 100" if "index" in name else "")
    of_rows = BY_CODE.get(rows[0].get("indicator", "")) if rows else None
    return unit.replace(_OF_INDICATOR, of_rows.unit) if of_rows else unit


def _plot(title: str, periods: Sequence[str], series: Rows, reading: RowContext, unit: str) -> Plot:
    """Return the data of a plot. `partial` are the places of periods whose days do not all have data yet."""
    partial = [place for place, period in enumerate(periods) if reading.periods.is_partial(period)]
    labels = [reading.periods.text(period) for period in periods]
    drawn: Plot = {"title": title, "x": list(periods), "labels": labels, "series": series, "kind": "lines"}
    return {**drawn, "partial": partial, "unit": unit}


def _series_name(name: str) -> str:
    """Return what a line is called in its legend: its place in the distribution or interval, not its column."""
    stem, _, bound = name.rpartition("_")
    if stem in BY_CODE or (stem and f"{stem}_{bound}" in ("index_change_low", "index_change_high")):
        return {"low": "95 % interval, low", "central": "Median", "high": "95 % interval, high"}[bound]
    return _SERIES_NAMES.get(name) or heading(name)


def _bar(label: str, row: dict[str, Any], name: str) -> Bar:
    stem = name.removesuffix("_central")
    value = _amount(row, name)
    if row.get("indicator") and isinstance(value, float):
        value = float(f"{value:.3g}")  # no figure of a footprint is known to more digits
    return Bar(label, value, row.get(f"{stem}_low"), row.get(f"{stem}_high"))


def _amount(row: Mapping[str, Any], name: str, currency: str | None = None) -> Any:
    return amount(row.get(name), currency or row.get("currency"))


def _flagged(rows: Rows) -> list[int]:
    """Return the places of the rows that outliers were found in: their points are drawn hollow."""
    return [position for position, row in enumerate(rows) if row.get("set_aside")]


def _group(row: dict[str, Any], reading: RowContext) -> str:
    return group_name(row, reading.names)


def _labels(rows: Rows, reading: RowContext) -> list[str]:
    """Return what distinguishes each row's line from the others: its group, and its currency if there are several.

    Of the group only what is not the same in all rows; that stands in the title.
    """
    several = len({(row.get("currency"), row.get("original_currency")) for row in rows}) > 1
    fields = differing(rows) or GROUPS

    def label(row: dict[str, Any]) -> str:
        currency, original = row.get("currency") or "", row.get("original_currency")
        converted = f"{currency} from {original}" if original and original != currency else str(currency)
        group = group_name(row, reading.names, fields)
        return ", ".join(part for part in (group, converted if several else "") if part)

    return [label(row) for row in rows]


def _moment(row: dict[str, Any], reading: RowContext) -> str:
    period = reading.periods.text(row["period"]) if row.get("period") else ""
    return ", ".join(part for part in (period, money_of(row)) if part)

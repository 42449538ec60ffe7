"""Pictures of reports and of items, as SVG."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Sized
from datetime import date, timedelta
from typing import Any, NamedTuple

from edge.analytics.price_history import Price, median
from edge.analytics.report_declarations import Picture
from edge.dashboard.tables import (
    BY_CODE,
    GROUPS,
    PLAIN,
    SHARE,
    Reading,
    amount,
    days_text,
    differing,
    estimate,
    figure,
    group_name,
    heading,
    is_amount,
    number,
)
from shared.analytics.observations import KIND_OF_LETTER
from shared.money import to_amount


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
    """Return one bar of a picture: lengths in % of `full`, `whisker` as the places of both bounds or None."""
    value, low, high = number(bar.value) or 0.0, number(bar.low), number(bar.high)
    text, whisker = f"{100 * value:.1f} %" if percent else figure(bar.value), None
    if low is not None and high is not None:
        text = f"{estimate(value)} ({estimate(low)} to {estimate(high)})"
        whisker = (_part(low, full), _part(high, full))
    return {"label": bar.label, "part": _part(value, full), "text": text, "whisker": whisker}


def _part(value: float, full: float) -> float:
    return round(100 * min(1.0, abs(value) / full), 1)


ROWS_MAX = 200
SERIES_MAX = 6
_BARS_MAX = 20
# The percentiles of a box, from the end of its whisker inwards to its median and out again.
_BOX = ("min", "p10", "p25", "p50", "p75", "p90", "max")
# The fields of a row that list its parts with their shares, and what a part is.
_PARTS = {"channels": "channel", "categories": "category", "top_brands": "brand (the five largest)"}
Rows = list[dict[str, Any]]
Plot = dict[str, Any]


def plots(picture: Picture, rows: Rows, reading: Reading = PLAIN) -> list[Plot]:
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
        if drawn == picture.compared or (alone and f"{name}_low" in picture.spread):
            continue  # it is drawn already
        # One point is no line: it is a bar, with its unit.
        if len({row["period"] for row in rows if row.get(drawn) is not None}) > 1:
            interval = alone and f"{name}_low" in rows[0]
            made.append(
                _interval(name, rows, reading)
                if interval
                else _lines(_title(drawn, rows, reading), rows, drawn, reading)
            )
    return made


def bars(picture: Picture, rows: Rows, reading: Reading = PLAIN) -> list[Plot]:
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


def _alone(picture: Picture, row: dict[str, Any], rows: Rows, reading: Reading) -> list[Plot]:
    made = []
    # Beside groups of other currencies it is not the only one: the title says which it is.
    own = group_name(row, reading.names, differing(rows))
    moment = ", ".join(part for part in (own, _moment(row, reading)) if part)
    if picture.boxes and len({row.get(name) for name in _BOX}) > 1:  # of one price the table says it all
        made.append(boxed(f"Distribution of prices, {moment}", [("", row)]))
    if row.get("peers"):
        # Peers are of the brand's largest category, and so are their medians: its own must be of it too.
        shared = max(row["categories"], key=_part_size)
        listed = [
            Bar(name, _amount(one, "median", row.get("currency")))
            for name, one in ((row["name"], shared), *((one["name"], one) for one in row["peers"]))
        ]
        where = _group({"category": shared["category"]}, reading).rpartition(" › ")[2]
        made.append(barred(f"Median price of the largest brands in {where}, {moment}", listed))
    for field, words in _PARTS.items():
        parts = row.get(field) or []
        # A group that is one channel has all of it by construction.
        if len(parts) > 1 and "share" in parts[0]:
            cut = [parts[place] for place in _largest([_part_size(one) for one in parts], _BARS_MAX)]
            listed = [Bar(_group(one, reading).rpartition(" › ")[2], one["share"]) for one in cut]
            counted = "items" if "items" in parts[0] else "observations"
            title = f"Share of {counted} by {words}, {moment}{_largest_of(_BARS_MAX, parts)}"
            made.append(barred(title, listed, percent=True))
    single = [name for name in picture.lines if name in BY_CODE and len(_known(_drawn_name(name, rows), rows)) == 1]
    indicators = [
        {
            "indicator": name,
            "unit": BY_CODE[name].unit,
            "per_unit": row[_drawn_name(name, rows)],
            "low": row.get(f"{name}_low"),
            "high": row.get(f"{name}_high"),
        }
        for name in single
    ]
    drawn = footprint(
        indicators,
        {name: BY_CODE[name].title for name in single},
        f"Footprint, {moment}, with its 95 % interval",
    )
    return [*made, *([drawn] if drawn else [])]


def _compared(picture: Picture, alike: Rows, rows: Rows, reading: Reading) -> list[Plot]:
    made = []
    when, labelled = _moment(alike[0], reading), list(zip(_labels(alike, reading), alike, strict=True))

    def largest(name: str) -> tuple[list[tuple[str, dict[str, Any]]], str]:
        """Return the largest groups that have this figure, and words for how many there are."""
        known = [(label or "all", row) for label, row in labelled if row.get(name) is not None]
        places = _largest([_size(row, name) for _, row in known], _BARS_MAX)
        return [known[place] for place in places], _largest_of(_BARS_MAX, known, _by(alike))

    listed, cut = largest(picture.compared)
    if picture.boxes and listed:
        made.append(boxed(f"Distribution of prices, {when}{cut}", listed))
    elif listed:
        bars_of = [_bar(label, row, picture.compared) for label, row in listed]
        made.append(barred(f"{picture.compared_title}, {when}{cut}", bars_of))
    for name in picture.lines:
        drawn = _drawn_name(name, alike)
        if drawn != picture.compared and len(_known(drawn, rows)) == 1:
            listed, cut = largest(drawn)
            bars_of = [_bar(label, row, drawn) for label, row in listed]
            if bars_of:
                title = f"{heading(drawn, reading.units)}, {when}{cut}"
                made.append(barred(title, bars_of, percent=name.startswith("share_")))
    return made


def boxed(title: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Plot:
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


def _largest(sizes: Sequence[float], most: int) -> list[int]:
    """Return the places of the largest sizes, in their order."""
    return sorted(sorted(range(len(sizes)), key=lambda place: -sizes[place])[:most])


def _largest_of(most: int, listed: Sized, what: str = "") -> str:
    return f" (the {most} largest of {len(listed)}{what})" if len(listed) > most else ""


def _drawn_name(name: str, rows: Rows) -> str:
    """Return the column that is drawn of an indicator: the median of its sum, which the interval is around."""
    return f"{name}_central" if rows and f"{name}_central" in rows[0] else name


def _known(name: str, rows: Rows) -> set[Any]:
    return {row.get("period") for row in rows if row.get(name) is not None}


def _within(name: str, rows: Rows) -> Rows:
    """Return the rows from the first to the last period that has this figure: no plot has empty ends."""
    if not rows:
        return rows
    known = _known(name, rows)
    first, last = min(known), max(known)
    return [row for row in rows if first <= row["period"] <= last]


def _title(name: str, rows: Rows, reading: Reading, words: str = "") -> str:
    """Return a plot's title: what it shows in which unit, by which period, and the days that have data."""
    currencies = {str(row["currency"]) for row in rows if row.get("currency")}
    distinguishing = differing(rows)
    shared = group_name(rows[0], reading.names, [field for field in GROUPS if field not in distinguishing])
    parts = [f"{words or heading(name, reading.units)} per {reading.periods.unit}", shared]
    parts += sorted(currencies) if len(currencies) == 1 else []
    return ", ".join(part for part in (*parts, reading.periods.spanning(_known(name, rows))) if part)


def _spread(picture: Picture, rows: Rows, reading: Reading) -> list[Plot]:
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
    plot = _plot(
        _title(picture.compared, rows, reading, picture.spread_title), [row["period"] for row in rows], series, reading
    )
    if picture.band:
        plot["band"] = [_series_name(name) for name in picture.band]
    return [plot]


def _lines(title: str, rows: Rows, name: str, reading: Reading) -> Plot:
    rows = _within(name, rows)
    periods = sorted({row["period"] for row in rows})
    by_group: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for label, row in zip(_labels(rows, reading), rows, strict=True):
        by_group[label][row["period"]] = row
    series = []
    scale = 100 if SHARE.search(name) else 1
    groups = [label for label, known in by_group.items() if any(row.get(name) is not None for row in known.values())]
    sizes = [sum(_size(row, name) for row in by_group[label].values()) for label in groups]
    for label in (groups[place] for place in _largest(sizes, SERIES_MAX)):
        points = [by_group[label].get(period, {}) for period in periods]
        values = [None if (value := number(row.get(name))) is None else scale * value for row in points]
        series.append({"label": label or heading(name), "values": values, "hollow": _flagged(points)})
    plot = _plot(title + _largest_of(SERIES_MAX, groups, _by(rows)), periods, series, reading)
    return {**plot, "scale": "share"} if name.startswith("share_") else plot


def _interval(name: str, rows: Rows, reading: Reading) -> Plot:
    """Return the plot of a figure of one group between its bounds."""
    central = _drawn_name(name, rows)
    rows = _within(central, rows)
    names = (f"{name}_low", central, f"{name}_high")
    scale = 1 if name in BY_CODE else 100
    series = [
        {
            "label": _series_name(one),
            "values": [None if (value := number(row.get(one))) is None else scale * value for row in rows],
        }
        for one in names
    ]
    indicator = BY_CODE.get(name)
    words = f"{indicator.title}, {indicator.unit}" if indicator else ""
    plot = _plot(_title(central, rows, reading, words), [row["period"] for row in rows], series, reading)
    return {**plot, "band": [series[0]["label"], series[2]["label"]]}


def _plot(title: str, periods: Sequence[str], series: Rows, reading: Reading) -> Plot:
    """Return the data of a plot. `partial` are the places of periods whose days do not all have data yet."""
    partial = [place for place, period in enumerate(periods) if reading.periods.is_partial(period)]
    labels = [reading.periods.text(period) for period in periods]
    return {"title": title, "x": list(periods), "labels": labels, "series": series, "kind": "lines", "partial": partial}


def _series_name(name: str) -> str:
    """Return what a line is called in its legend: its place in the distribution or interval, not its column."""
    stem, _, bound = name.rpartition("_")
    if stem in BY_CODE or (stem and f"{stem}_{bound}" in ("index_change_low", "index_change_high")):
        return {"low": "95 % interval, low", "central": "Median", "high": "95 % interval, high"}[bound]
    return {"low": "95 % interval, low", "high": "95 % interval, high", "median_index": "Median price"}.get(
        name
    ) or heading(name)


def _bar(label: str, row: dict[str, Any], name: str) -> Bar:
    stem = name.removesuffix("_central")
    return Bar(label, _amount(row, name), row.get(f"{stem}_low"), row.get(f"{stem}_high"))


def _amount(row: Mapping[str, Any], name: str, currency: str | None = None) -> Any:
    return amount(row.get(name), currency or row.get("currency"))


def _flagged(rows: Rows) -> list[int]:
    """Return the places of the rows that outliers were found in: their points are drawn hollow."""
    return [position for position, row in enumerate(rows) if row.get("set_aside")]


def _group(row: dict[str, Any], reading: Reading) -> str:
    return group_name(row, reading.names)


def _labels(rows: Rows, reading: Reading) -> list[str]:
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


def _moment(row: dict[str, Any], reading: Reading) -> str:
    period = reading.periods.text(row["period"]) if row.get("period") else ""
    return ", ".join(part for part in (period, str(row.get("currency") or "")) if part)


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
        counts = Counter(sorted(price.channel for price in chosen))
        channels = list(counts)
        for colour, place in enumerate(_largest(list(counts.values()), SERIES_MAX)):
            channel = channels[place]
            here = [price for price in chosen if price.channel == channel]
            values = _by_day([price for price in here if price.outlier is None], days, currency)
            series.append({"label": channel, "values": values, "colour": colour})
            values = _by_day([price for price in here if price.outlier is not None], days, currency)
            hollow = [position for position, value in enumerate(values) if value is not None]
            if hollow:
                label = f"{channel}, outliers"
                series.append({"label": label, "values": values, "colour": colour, "hollow": hollow, "line": False})
        scale = _scale(series)
        logarithmic = ", logarithmic scale" if scale == "log" else ""
        title = f"Median price per day, {KIND_OF_LETTER[kind]}s, {currency}, {days_text(first, last)}{logarithmic}"
        title += _largest_of(SERIES_MAX, channels, " channels")
        listed = [day.isoformat() for day in days]
        made.append({"title": title, "x": listed, "series": series, "kind": "lines", "scale": scale})
    return made


def footprint(
    figures: Iterable[Mapping[str, Any]],
    titles: Mapping[str, str],
    title: str = "Footprint of one item with its 95 % interval",
) -> dict[str, Any] | None:
    """Return bars of an item's figures with whiskers, each indicator on a scale of its own; None without figures."""
    entries = []
    for row in figures:
        if row["per_unit"] is None:
            continue
        bar = Bar(titles.get(row["indicator"], row["indicator"]), row["per_unit"], row["low"], row["high"])
        drawn = entry(bar, max(row["per_unit"], row["high"] or 0.0) or 1.0)
        entries.append({**drawn, "text": f"{drawn['text']} {row['unit']}"})
    return {"title": f"{title}, each indicator on a scale of its own", "entries": entries} if entries else None


def _by_day(prices: Iterable[Price], days: Iterable[date], currency: str) -> list[float | None]:
    by_day: dict[date, list[int]] = defaultdict(list)
    for price in prices:
        by_day[price.day].append(price.minor)
    return [float(to_amount(median(sorted(by_day[day])), currency)) if day in by_day else None for day in days]


def _scale(series: Iterable[Mapping[str, Any]]) -> str:
    """Return `log` where outliers are so far from the other prices that the lines would be flat, else `linear`."""
    if all("hollow" not in one for one in series):
        return "linear"
    values = [value for one in series for value in one["values"] if value is not None]
    low, high = min(values), max(values)
    return "log" if low > 0 and high >= _LOG_RATIO_MIN * low else "linear"

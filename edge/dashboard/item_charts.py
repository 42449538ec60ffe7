"""Pictures of one item: its prices by day with outliers apart, its footprint with intervals."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from edge.analytics.price_history import KINDS, median
from edge.analytics.prices import Price
from edge.dashboard.bars import Bar, entry
from edge.dashboard.charts import SERIES_MAX
from shared.money import minor_digits

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

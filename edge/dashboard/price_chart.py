"""The chart of an item's prices."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from edge.analytics.period_words import days_text
from edge.analytics.price_history import ObservedPrice, median
from edge.dashboard.charts import SERIES_MAX, largest_of, largest_places
from shared.analytics.observations import ObservationKind
from shared.money import to_amount, to_text

# From this ratio of the highest price to the lowest on, a linear axis would flatten the line below its outliers.
_LOG_RATIO_MIN = 5.0
# Of fewer years the picture says it all.
_YEARS_MIN = 3


class YearPrice(NamedTuple):
    """The median price of an item in a year, and how much its newest price is above it, as a share."""

    year: int
    currency: str
    kind: str
    median: str
    change: float


def years(prices: Sequence[ObservedPrice]) -> list[YearPrice]:
    """Return the prices of each year, the newest first, where there are several years of a currency and kind."""
    listed = []
    for currency, kind in sorted({(price.currency, price.kind) for price in prices}):
        by_year: dict[int, list[int]] = defaultdict(list)
        chosen = [price for price in prices if (price.currency, price.kind) == (currency, kind)]
        for price in chosen:
            by_year[price.day.year].append(price.minor)
        if len(by_year) < _YEARS_MIN:
            continue
        last = max(price.day for price in chosen)
        newest = median(sorted(price.minor for price in chosen if price.day == last))
        for year in sorted(by_year, reverse=True):
            middle = median(sorted(by_year[year]))
            words = f"{ObservationKind(kind).text}s"
            if middle:
                change = float(newest / middle) - 1
                listed.append(YearPrice(year, currency, words, to_text(middle, currency), change))
    return listed


def history(prices: Sequence[ObservedPrice], outliers: Sequence[ObservedPrice] = ()) -> list[dict[str, Any]]:
    """Return an item's median price per day and channel, a plot for each currency and kind; no data is a gap.

    Outliers have no part in the lines: they are series of hollow points, the median where a channel has several a day.
    """
    everything = (*prices, *outliers)
    made = []
    for currency, kind in sorted({(price.currency, price.kind) for price in everything}):
        chosen = [price for price in everything if (price.currency, price.kind) == (currency, kind)]
        first, last = min(p.day for p in chosen), max(p.day for p in chosen)
        days = _steps(first, last, {price.day for price in chosen})
        series: list[dict[str, Any]] = []
        counts = Counter(sorted(price.channel for price in chosen))
        channels = list(counts)
        for colour, place in enumerate(largest_places(list(counts.values()), SERIES_MAX)):
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
        step = "month" if _is_monthly({price.day for price in chosen}) else "day"
        observations = f"{ObservationKind(kind).text}s"
        title = f"Median price per {step}, {observations}, {currency}, {days_text(first, last)}{logarithmic}"
        title += largest_of(SERIES_MAX, channels, " shops")
        listed = [day.isoformat() for day in days]
        made.append({"title": title, "x": listed, "series": series, "kind": "lines", "scale": scale, "unit": currency})
    return made


def _is_monthly(days: set[date]) -> bool:
    """Return whether prices are of whole months: several days, each the first of its month."""
    return len(days) > 1 and all(day.day == 1 for day in days)


def _steps(first: date, last: date, observed: set[date]) -> list[date]:
    """Return every day from the first to the last; of prices of whole months, every month."""
    if not _is_monthly(observed):
        return [first + timedelta(days=n) for n in range((last - first).days + 1)]
    months = range(12 * first.year + first.month - 1, 12 * last.year + last.month)
    return [date(month // 12, month % 12 + 1, 1) for month in months]


def _by_day(prices: Iterable[ObservedPrice], days: Iterable[date], currency: str) -> list[float | None]:
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

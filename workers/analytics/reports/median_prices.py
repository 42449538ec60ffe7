"""The median price of each item in each period, group and currency."""

from typing import NamedTuple

import numpy as np

from workers.analytics.reports.aggregator import Key, Segments
from workers.analytics.reports.filters import Filter
from workers.analytics.reports.query import Reader
from workers.analytics.rollups.arrays import Array, joined, starts_of, sums_by


class MedianPrices(NamedTuple):
    """A row for each segment, item and currency: units, and the median price in minor units of the currency.

    `segment` counts into `keys`, `currency` into `currencies`.
    """

    keys: list[Key]
    currencies: list[str]
    segment: Array
    item: Array
    currency: Array
    units: Array
    median: Array


def read_median_prices(reader: Reader, chosen: Filter) -> MedianPrices:
    """Read the prices that a filter finds, and take the median of each item's, over its observations."""
    segments, currencies = Segments(reader.days), dict[str, int]()
    counted: list[tuple[Array, ...]] = []
    months = list(reader.days.months())
    for done, month in enumerate(months):
        reader.report_progress("prices", done, len(months))
        pieces = []
        for part in reader.entries(chosen, month):
            if len(part.day):
                segment = segments.of_entries("", month, part.day, part.groups(chosen))
                number = currencies.setdefault(part.currency, len(currencies))
                columns = (segment, part.ids, np.full(len(segment), number), part.price, part.units)
                pieces.append(tuple(column.astype("i8") for column in columns))
        if pieces:
            *keys, units = joined(pieces)
            counted.append(sums_by(tuple(keys), None, units))
    reader.report_progress("prices", len(months), len(months))
    if not counted:
        return MedianPrices([], [], *(np.empty(0, "i8"),) * 5)
    *keys, rows, units = joined(counted)
    segment, item, currency, price, rows, units = sums_by(tuple(keys), rows, units)
    starts = starts_of(segment, item, currency)
    medians = _medians(price, rows, starts)
    return MedianPrices(
        segments.keys,
        list(currencies),
        segment.take(starts),
        item.take(starts),
        currency.take(starts),
        np.add.reduceat(units, starts),
        medians,
    )


def _medians(price: Array, rows: Array, starts: Array) -> Array:
    """Return the median of each stretch of ascending prices, each of which counts as often as it was observed."""
    ends = np.cumsum(rows)
    before, total = ends.take(starts) - rows.take(starts), np.add.reduceat(rows, starts)
    middle = (np.searchsorted(ends, before + offset, side="right") for offset in ((total - 1) // 2, total // 2))
    lower, upper = (price.take(places) for places in middle)
    medians: Array = (lower + upper) / 2
    return medians

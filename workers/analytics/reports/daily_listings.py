"""Listings day by day: the lowest price of each item in each channel and currency, series after series."""

from datetime import timedelta
from typing import NamedTuple

import numpy as np

from shared.price_index.panel import Mask
from shared.prior_price import WINDOW_DAYS
from workers.analytics.reports.filters import Filter
from workers.analytics.reports.periods import Range
from workers.analytics.reports.query import Reader
from workers.analytics.rollups.arrays import Array, coded, joined, order_by, starts_of

GAP_DAYS_MAX = WINDOW_DAYS + 1
"""What was observed longer ago says nothing of a price: else the first day that is read would decide about it."""


class DailyListings(NamedTuple):
    """The lowest listing of each currency, item, channel and day, in that order; `day` counts from 1970.

    Items are numbered as they come, `currency` are places in `currencies`, groups are those of the filter, else 0.
    """

    currencies: tuple[str, ...]
    currency: Array
    item: Array
    channel: Array
    day: Array
    price: Array
    list_price: Array
    first_group: Array
    second_group: Array

    @classmethod
    def read(cls, reader: Reader, chosen: Filter, days_before: int, days_after: int = 0) -> "DailyListings":
        """Read the listings of the range, and of the days before and after it."""
        days = reader.days
        first, last = days.first - timedelta(days=days_before), days.last + timedelta(days=days_after)
        wider = reader.of(Range(first, last, days.granularity))
        currencies: dict[str, int] = {}
        parts: list[tuple[Array, ...]] = [(np.empty(0, "i4"), *(np.empty(0, "i8"),) * 7)]
        for part, day, *groups in wider.dated_entries(chosen):
            currency = np.full(len(day), currencies.setdefault(part.currency, len(currencies)), "i4")
            prices = part.price.astype("i8"), part.list_price.astype("i8")
            parts.append((currency, part.ids, part.channel.astype("i4"), day, *prices, *groups))
        currency, item, channel, day, price, *others = joined(parts)
        item = coded(item)[1]
        listings = cls(tuple(currencies), currency, item, channel, day, price, *others)
        return listings.take(order_by(currency, item, channel, day - day.min(initial=0)))._lowest()

    def _lowest(self) -> "DailyListings":
        """Return one row of each day: the lowest price, of equal ones the one with the lowest list price, if any."""
        starts = starts_of(self.currency, self.item, self.channel, self.day)
        lengths = np.diff(starts, append=len(self.day))
        several = np.flatnonzero(np.repeat(lengths > 1, lengths))  # few, and sorting prices is dear
        order, list_price = np.arange(len(self.day)), self.list_price.take(several)
        unlisted = np.where(list_price, list_price, list_price.max(initial=0) + 1)
        group = np.repeat(starts, lengths).take(several)
        order[several] = several.take(np.lexsort((unlisted, self.price.take(several), group)))
        return self.take(order.take(starts))

    def take(self, rows: Array) -> "DailyListings":
        """Return some of the rows."""
        return DailyListings(self.currencies, *(column.take(rows) for column in self[1:]))

    def series(self) -> Array:
        """Return where each series begins."""
        return starts_of(self.currency, self.item, self.channel)

    def series_starts(self, rows: Array) -> Array:
        """Return where the series of each of some rows begins."""
        starts = self.series()
        return starts.take(np.searchsorted(starts, rows, side="right") - 1)

    def follow_another(self) -> Mask:
        """Return which rows have another one of their series in the GAP_DAYS_MAX days before."""
        follow = np.ones(len(self.day), bool)
        follow[1:] = np.diff(self.day) <= GAP_DAYS_MAX
        follow[self.series()] = False
        return follow

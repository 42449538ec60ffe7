"""Insights of brands and of categories: how they do, period by period, against the one before and their equals."""

from collections import defaultdict
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from workers.analytics.reports.aggregator import GroupedSeries, Key
from workers.analytics.reports.columns import channel_codes
from workers.analytics.reports.filters import Filter
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.periods import day_of
from workers.analytics.reports.price_change import PriceChanges, change, period_before
from workers.analytics.reports.query import Reader
from workers.analytics.reports.standings import ItemCounts, Moment, Subject, TotalOf

FILTERED_BY = ("channel", "currency", "kind", "outliers")
STANDING_METHOD = (
    "the period before is the whole one of the same kind right before, or as many days as the range has; ranks and "
    "shares count the distinct items that the filters find, in each channel apart where rows are grouped by channel"
)


class Figure(NamedTuple):
    """A segment in short."""

    n: int
    items: int
    median: Decimal
    discounts: dict[str, int | float | None]


def figures(gathered: GroupedSeries) -> dict[Key, Figure]:
    """Return each segment's figures by its key."""
    n = dict(zip(gathered.spread.segment.tolist(), gathered.spread.n.tolist(), strict=True))
    medians, discounts = gathered.medians(), gathered.discounts.rows(np.arange(len(gathered.keys)))
    return {
        key: Figure(n[segment], int(gathered.items[segment]), medians[key], discounts[segment])
        for segment, key in enumerate(gathered.keys)
    }


class _Gathered(NamedTuple):
    """Figures of each period, with those of the period before the first, those of parts, and the changes of prices."""

    now: dict[Key, Figure]
    known: dict[Key, Figure]
    parts: list[dict[Key, Figure]]
    prices: PriceChanges


def by_moment(parts: dict[Key, Figure]) -> dict[tuple[str, int], list[Key]]:
    """Return the keys of each currency and period."""
    keys: dict[tuple[str, int], list[Key]] = defaultdict(list)
    for key in parts:
        keys[key.currency, key.period].append(key)
    return keys


class Insights:
    """Insights of a snapshot; outliers and days with data are counted over all rows.

    `subject`: whose ranks they show; `by_channel`: whether each row is of one channel, and so is its rank.
    """

    def __init__(
        self, reader: Reader, chosen: Filter, subject: Subject, *, by_channel: bool, total_of: TotalOf
    ) -> None:
        self._reader = reader
        self._before = reader.of(reader.days.before())
        self._chosen = chosen
        self._grouped = by_channel
        self._codes = channel_codes(reader.connection)
        self._outliers: dict[Key, int] = {}
        self.seen: set[int] = set()
        self.aside = SetAside(reader, chosen)
        self._counted = ItemCounts(reader, subject, chosen, by_channel=by_channel, total_of=total_of)
        # A first period that the range cuts ranks as it is, but as a whole where the second is compared with it.
        self._counted_before = self._counted.now | self._counted.before

    def _moment(self, key: Key, chosen: Filter) -> Moment:
        channel = chosen.channels[0] if self._grouped and chosen.channels else 0
        return channel, key.currency, key.period

    def _gather(self, chosen: Filter, *parts: tuple[str, ...]) -> _Gathered:
        """Return the figures of each period, in the groups of a filter and in parts of other groups."""
        whole, *others = self._reader.gather_each([chosen, *(chosen.grouped(*names) for names in parts)])
        self.seen |= whole.days
        self._outliers = self.aside.of(chosen)
        now = figures(whole)
        known = {**now, **figures(self._before.gather(chosen))}
        return _Gathered(now, known, list(map(figures, others)), PriceChanges(self._reader, chosen))

    def _earlier(self, key: Key) -> Key:
        return key._replace(period=period_before(self._reader.days, key.period))

    def _row(self, key: Key, now: Figure, was: Figure | None, prices: PriceChanges) -> dict[str, Any]:
        """Return the columns that all insights have."""
        median_change = change(now.median, was.median if was else None)
        return {
            "period": day_of(key.period),
            "currency": key.currency,
            "items": now.items,
            "observations": now.n,
            "set_aside": self._outliers.get(key, 0),
            "median": now.median,
            "median_change": median_change,
            "kind": self._chosen.kind,
            **now.discounts,
            **prices.columns(key),
        }

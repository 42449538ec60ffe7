"""Promotions: how deep, how often and how long items are on offer, recognized by a stated rule."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shared.analytics.observations import OBSERVATION_KINDS
from shared.analytics.results import SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.price_index.rows import MATCHED_LEAST
from shared.prior_price import HISTORY_DAYS
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.columns import Names, figures_or_none, grouped_schema, in_row_order
from workers.analytics.reports.daily_listings import GAP_DAYS_MAX, DailyListings
from workers.analytics.reports.filters import Filter, Tree, filter_of
from workers.analytics.reports.intervals import BOUNDS
from workers.analytics.reports.item_percentiles import distinct_items, percentiles
from workers.analytics.reports.item_ratios import METHOD as INTERVALS
from workers.analytics.reports.item_ratios import item_ratios
from workers.analytics.reports.offers import OFFER_DAYS, Offers, announced, below_prior_price, returned
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.periods import Range, day_of, number
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import numbered_rows

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_START = [pa.field("weekday", pa.string()), pa.field("offers", pa.int64()), pa.field("share", pa.float64())]
_FIGURES = [
    ("channel", pa.string()),
    ("currency", pa.string()),
    ("rule", pa.string()),
    ("items", pa.int64()),
    ("item_days", pa.int64()),
    ("item_days_on_offer", pa.int64()),
    *((name, pa.float64()) for name in ("share_on_offer", "share_on_offer_low", "share_on_offer_high")),
    ("items_on_offer", pa.int64()),
    ("offers", pa.int64()),
    ("offers_per_item", pa.float64()),
    *((name, pa.float64()) for name in ("depth_mean", "depth_mean_low", "depth_mean_high", "depth_median")),
    ("offers_ended", pa.int64()),
    ("duration_median", pa.float64()),
    ("starts", pa.list_(pa.struct(_START))),
]
UNITS = {
    **dict.fromkeys(("items", "items_on_offer"), "items"),
    **dict.fromkeys(("item_days", "item_days_on_offer"), "days × items"),
    **dict.fromkeys(("share_on_offer", "share_on_offer_low", "share_on_offer_high"), "share of days × items"),
    **dict.fromkeys(("offers", "offers_ended", "starts.offers"), "offers"),
    "offers_per_item": "offers per item",
    **dict.fromkeys(("depth_mean", "depth_mean_low", "depth_mean_high", "depth_median"), "share of the price before"),
    "duration_median": "days",
    "starts.share": "share of offers",
}
_BOUNDED = ("share_on_offer", "depth_mean")
ROUNDING = {
    **dict.fromkeys((*_BOUNDED, "offers_per_item", "depth_median", "starts.share"), SIX_DECIMALS),
    **{f"{name}_{end}": BOUNDS for name in _BOUNDED for end in ("low", "high")},
}
_RULES = {
    "list_price": "an item is on offer while its lowest listing of the day is below its list price",
    "return": (
        "an item is on offer from a fall of its price to the return to exactly the price before, "
        "if that is within {days} days"
    ),
    "prior_price": (
        "an item is on offer while its lowest listing of the day is below its list price, if on the first day it is "
        "below the lowest price of the 30 days before (Directive 98/6/EC Art. 6a), all of which were observed"
    ),
}
METHOD = (
    "{rule}; depth is 1 - lowest price / {level}; an offer counts in the period in which it began, if one of the 31 "
    f"days before was observed; durations are of offers whose end was observed; {INTERVALS}; {OUTLIERS}"
)
_LEVELS = {
    "list_price": "list price",
    "return": "price before",
    "prior_price": "lowest price of the 30 days before",
}


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute promotions.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    rule, offer_days = parameters.get("rule") or "list_price", parameters.get("offer_days") or OFFER_DAYS
    with snapshot(connection):
        tree = Tree.read(connection)
        every_price = {"outliers": "include", **parameters}
        chosen = replace(filter_of(connection, tree, every_price), kinds=OBSERVATION_KINDS["listing"])
        days = range_of(connection, tree, chosen, parameters)
        reader = Reader(connection, tree, days, report_progress)
        before = {"list_price": 0, "return": offer_days, "prior_price": HISTORY_DAYS}[rule]
        after = offer_days if rule == "return" else 0
        listings = DailyListings.read(reader, chosen, before + GAP_DAYS_MAX, after)
        aside = SetAside(reader, chosen)
        aside.of(chosen)
        offers = _recognized(listings, days, rule, offer_days)
        figures = _PromotionFigures(listings, offers, days)
        names = Names.read(connection, tree, chosen, figures.keys)
    schema = grouped_schema(chosen.group_by, _FIGURES)
    rows = Rows.of([{"rule": rule, **row} for row in figures.rows(chosen, names)], schema)
    method = METHOD.format(rule=_RULES[rule].format(days=offer_days), level=_LEVELS[rule])
    summary = aside.summary()
    rows = in_row_order(rows, chosen.group_by)
    return Answer(rows, days, figures.seen, UNITS, method, ROUNDING, kind="listing", outliers=summary)


def _recognized(listings: DailyListings, days: Range, rule: str, offer_days: int) -> Offers:
    """Return the offers that a rule finds; by the prior price, those only that have a day in the range."""
    if rule == "return":
        return returned(listings, offer_days)
    offers = announced(listings)
    if rule == "list_price":
        return offers
    offers = offers.take(np.flatnonzero(offers.begins & (listings.day.take(offers.last) >= number(days.first))))
    return below_prior_price(listings, offers)


class _PromotionFigures:
    """The figures of each period, group, channel and currency."""

    def __init__(self, listings: DailyListings, offers: Offers, days: Range) -> None:
        in_range = (listings.day >= number(days.first)) & (listings.day <= number(days.last))
        shown = np.flatnonzero(in_range)
        here, on_offer = listings.take(shown), offers.cover(len(listings.day)).take(shown).astype("i8")
        self.seen = {int(day) for day in np.unique(here.day)}
        period = days.periods_of(here.day.astype("i8"))
        (period, *groups, channel, currency), row = numbered_rows(
            period, here.first_group, here.second_group, here.channel, here.currency
        )
        count = len(period)
        columns = (period.tolist(), *(group.tolist() for group in groups))
        self._channel = channel
        self.keys = [
            Key(listings.currencies[code], *key) for code, *key in zip(currency.tolist(), *columns, strict=True)
        ]
        self._items = distinct_items(row, here.item, count)
        self._item_days, self._on_offer = (np.bincount(row, n, count).astype("i8") for n in (None, on_offer))
        self._share = item_ratios(row, here.item, on_offer, np.ones(len(row), "i8"), count)
        is_on = np.flatnonzero(on_offer)
        self._items_on_offer = distinct_items(row.take(is_on), here.item.take(is_on), count)
        began = offers.take(np.flatnonzero(offers.begins & in_range.take(offers.first)))
        row = row.take(np.searchsorted(shown, began.first))
        item, day = listings.item.take(began.first), listings.day.take(began.first)
        self._offers = np.bincount(row, minlength=count)
        self._depth = item_ratios(row, item, began.depth, np.ones(len(row), "i8"), count)
        self._depth_median = figures_or_none(percentiles(row, item, began.depth, count, (50,))[0])
        ended = np.flatnonzero(began.ends)
        duration = (listings.day.take(began.last) - day + 1).astype("f8")
        self._ended = np.bincount(row.take(ended), minlength=count)
        self._duration_median = figures_or_none(
            percentiles(row.take(ended), item.take(ended), duration.take(ended), count, (50,))[0]
        )
        weekdays = len(WEEKDAYS)
        weekday = (day + 3) % weekdays  # 1 January 1970 was a Thursday
        self._starts = np.bincount(row * weekdays + weekday, minlength=count * weekdays).reshape(-1, weekdays)

    def rows(self, chosen: Filter, names: Names) -> Iterator[dict[str, Any]]:
        """Yield the rows, in no order."""
        for row, key in enumerate(self.keys):
            items, offers = int(self._items[row]), int(self._offers[row])
            share, depth = self._share[row], self._depth[row]
            yield {
                "period": day_of(key.period),
                **names.of(chosen.group_by, key),
                "channel": names.channels[int(self._channel[row])],
                "currency": key.currency,
                "items": items,
                "item_days": int(self._item_days[row]),
                "item_days_on_offer": int(self._on_offer[row]),
                "share_on_offer": share.value,
                "share_on_offer_low": share.low,
                "share_on_offer_high": share.high,
                "items_on_offer": int(self._items_on_offer[row]),
                "offers": offers,
                "offers_per_item": round(offers / items, 6) if items >= MATCHED_LEAST else None,
                "depth_mean": depth.value,
                "depth_mean_low": depth.low,
                "depth_mean_high": depth.high,
                "depth_median": self._depth_median[row],
                "offers_ended": int(self._ended[row]),
                "duration_median": self._duration_median[row],
                "starts": [
                    {"weekday": WEEKDAYS[weekday], "offers": n, "share": round(n / offers, 6)}
                    for weekday, n in enumerate(self._starts[row].tolist())
                    if n
                ],
            }

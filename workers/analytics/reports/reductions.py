"""Announced reductions: how many of those that began in a period hold against the prior price of their channel."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.observations import OBSERVATION_KINDS
from shared.analytics.results import SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.prior_price import HISTORY_DAYS, Options, Reason, Reference, reference
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.columns import Names, grouped_schema, in_row_order
from workers.analytics.reports.daily_listings import GAP_DAYS_MAX, DailyListings
from workers.analytics.reports.filters import Filter, Tree, filter_of
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.periods import Range, day_of, number
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import Array

VERDICTS = ("holding", "overstated", "not_below", "undecided")
_FIGURES = [
    ("channel", pa.string()),
    ("currency", pa.string()),
    ("items", pa.int64()),
    ("announced", pa.int64()),
    *((verdict, pa.int64()) for verdict in VERDICTS),
    ("share_holding", pa.float64()),
]
UNITS = {
    "items": "items",
    **dict.fromkeys(("announced", *VERDICTS), "reductions"),
    "share_holding": "share of the reductions that can be judged",
}
ROUNDING = {"share_holding": SIX_DECIMALS}
METHOD = (
    "a reduction is announced on the day on which a listing falls below its list price, or falls further; it is "
    "compared with the lowest price of the 30 days before (Directive 98/6/EC Art. 6a): holding: the list price is not "
    "above it; overstated: the price is below it and the list price above; not_below: the price is not below it; "
    "undecided: a day was not observed, or an earlier step is within the 30 days and `progressive` is not stated; "
    f"{OUTLIERS}"
)


class _Announced(NamedTuple):
    """One announced reduction."""

    key: Key
    channel: int
    item: int
    verdict: str


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Judge announced reductions.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    with snapshot(connection):
        tree = Tree.read(connection)
        every_price = {"outliers": "include", **parameters}
        chosen = replace(filter_of(connection, tree, every_price), kinds=OBSERVATION_KINDS["listing"])
        days = range_of(connection, tree, chosen, parameters)
        reader = Reader(connection, tree, days, report_progress)
        options = Options(parameters.get("progressive"), parameters.get("progressive_days"))
        prices = DailyListings.read(reader, chosen, _lookback_days(options))
        aside = SetAside(reader, chosen)
        aside.of(chosen)
        announced = list(_announced(prices, days, options, report_progress))
        names = Names.read(connection, tree, chosen, [reduction.key for reduction in announced])
    schema = grouped_schema(chosen.group_by, _FIGURES)
    rows = in_row_order(Rows.of(list(_rows(announced, chosen, names)), schema), chosen.group_by)
    seen = {int(day) for day in np.unique(prices.day) if number(days.first) <= day}
    return Answer(rows, days, seen, UNITS, METHOD, ROUNDING, kind="listing", outliers=aside.summary())


def _lookback_days(options: Options) -> int:
    """Return how many days before a reduction judge it: with a progressive rule those since its first step too."""
    return HISTORY_DAYS if options.progressive else GAP_DAYS_MAX


def _announced(
    prices: DailyListings, days: Range, options: Options, report_progress: ReportProgress
) -> Iterator[_Announced]:
    """Yield the announced reductions that began in the range."""
    if not len(prices.item):
        return
    series = prices.series()
    begins = _begins(prices)
    begins = begins[(prices.day[begins] >= number(days.first)) & (prices.day[begins] <= number(days.last))]
    periods = days.periods_of(prices.day[begins])
    first = series[np.searchsorted(series, begins, side="right") - 1]
    for done, (row, start, period) in enumerate(zip(begins.tolist(), first.tolist(), periods.tolist(), strict=True)):
        report_progress("judging", done, len(begins))
        # A row a day: these hold the window and the day before it, where an earlier step may have begun.
        known_from = max(start, row - _lookback_days(options))
        prior = reference(list(map(prices.moment, range(known_from, row + 1))), options=options)
        currency = prices.currencies[int(prices.currency[row])]
        yield _Announced(
            Key(currency, period, int(prices.first_group[row]), int(prices.second_group[row])),
            int(prices.channel[row]),
            int(prices.item[row]),
            verdict(prior, Decimal(int(prices.list_price[row]))),
        )


def _begins(prices: DailyListings) -> Array:
    """Return the rows on which a listing is below its list price and was not before, or was dearer."""
    announced = prices.list_price > prices.price
    begins = announced.copy()
    begins[1:] &= ~announced[:-1] | (prices.price[1:] < prices.price[:-1]) | ~prices.follow_another()[1:]
    rows: Array = np.flatnonzero(begins)
    return rows


def verdict(prior: Reference, list_price: Decimal) -> str:
    """Return which of VERDICTS a reduction from a list price deserves."""
    if prior.applicable and prior.prior_price is not None:
        return "holding" if list_price <= prior.prior_price else "overstated"
    return "not_below" if prior.reason == Reason.NOT_BELOW else "undecided"


def _rows(announced: list[_Announced], chosen: Filter, names: Names) -> Iterator[dict[str, Any]]:
    """Yield the rows, in no order."""
    groups: dict[tuple[Key, int], list[_Announced]] = defaultdict(list)
    for reduction in announced:
        groups[reduction.key, reduction.channel].append(reduction)
    for (key, channel), group in groups.items():
        yield {
            "period": day_of(key.period),
            **names.of(chosen.group_by, key),
            "channel": names.channels[channel],
            "currency": key.currency,
            **_figures(group),
        }


def _figures(group: list[_Announced]) -> dict[str, Any]:
    counts = {name: sum(reduction.verdict == name for reduction in group) for name in VERDICTS}
    judged = len(group) - counts["undecided"]
    return {
        "items": len({reduction.item for reduction in group}),
        "announced": len(group),
        **counts,
        "share_holding": round(counts["holding"] / judged, 6) if judged else None,
    }

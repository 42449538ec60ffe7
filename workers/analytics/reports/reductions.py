"""Announced reductions: how many of those that began in a period hold against the prior price of their channel."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.observations import OBSERVATION_KINDS
from shared.analytics.results import SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.prior_price import HISTORY_DAYS, Options
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.columns import Names, grouped_schema, in_row_order
from workers.analytics.reports.daily_listings import GAP_DAYS_MAX, DailyListings
from workers.analytics.reports.filters import Filter, Tree, filter_of
from workers.analytics.reports.intervals import BOUNDS, ENDS
from workers.analytics.reports.item_percentiles import distinct_items
from workers.analytics.reports.item_ratios import METHOD as INTERVALS
from workers.analytics.reports.item_ratios import item_ratios
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.periods import Range, day_of, number
from workers.analytics.reports.prior_prices import UNKNOWN, announced_falls, prior_prices_of_steps
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import Array, numbered_rows

VERDICTS = ("holding", "overstated", "not_below", "undecided")
_FIGURES = [
    ("channel", pa.string()),
    ("currency", pa.string()),
    ("items", pa.int64()),
    ("announced", pa.int64()),
    *((verdict, pa.int64()) for verdict in VERDICTS),
    *((f"share_holding{bound}", pa.float64()) for bound in ENDS),
]
UNITS = {
    "items": "items",
    **dict.fromkeys(("announced", *VERDICTS), "reductions"),
    **{f"share_holding{bound}": "share of the reductions that can be judged" for bound in ENDS},
}
ROUNDING = {"share_holding": SIX_DECIMALS, **{f"share_holding{bound}": BOUNDS for bound in ENDS[1:]}}
METHOD = (
    "a reduction is announced on the day on which a listing falls below its list price, or falls further; it is "
    "compared with the lowest price of the 30 days before (Directive 98/6/EC Art. 6a): holding: the list price is not "
    "above it; overstated: the price is below it and the list price above; not_below: the price is not below it; "
    "undecided: a day was not observed, or an earlier step is within the 30 days and `progressive` is not stated; "
    f"{INTERVALS}; {OUTLIERS}"
)


class _Announced(NamedTuple):
    """Announced reductions by their rows among daily listings, and the place of each verdict in VERDICTS."""

    row: Array
    verdict: Array


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
        report_progress("judging", 0, None)
        figures = _Figures(prices, _judge(prices, days, options), days)
        names = Names.read(connection, tree, chosen, figures.keys)
    schema = grouped_schema(chosen.group_by, _FIGURES)
    rows = in_row_order(Rows.of(list(figures.rows(chosen, names)), schema), chosen.group_by)
    seen = {int(day) for day in np.unique(prices.day) if number(days.first) <= day}
    return Answer(rows, days, seen, UNITS, METHOD, ROUNDING, kind="listing", outliers=aside.summary())


def _lookback_days(options: Options) -> int:
    """Return how many days before a reduction judge it: with a progressive rule those since its first step too."""
    return HISTORY_DAYS if options.progressive else GAP_DAYS_MAX


def _judge(prices: DailyListings, days: Range, options: Options) -> _Announced:
    """Return the announced reductions that began in the range, judged."""
    begins = announced_falls(prices)
    day = prices.day.take(begins)
    begins = begins[(day >= number(days.first)) & (day <= number(days.last))]
    prior = prior_prices_of_steps(prices, begins, options)
    holds = prices.list_price.take(begins) <= prior
    is_below = prices.price.take(begins) < prior
    by_verdict = [is_below & holds, is_below, prior != UNKNOWN]
    return _Announced(begins, np.select(by_verdict, range(len(by_verdict)), len(by_verdict)))


class _Figures:
    """The figures of each period, group, channel and currency."""

    def __init__(self, prices: DailyListings, announced: _Announced, days: Range) -> None:
        here = prices.take(announced.row)
        period = days.periods_of(here.day.astype("i8"))
        columns = period, here.first_group, here.second_group, here.channel, here.currency
        (*key, self._channel, currency), row = numbered_rows(*columns)
        codes = [prices.currencies[code] for code in currency.tolist()]
        self.keys = [Key(*one) for one in zip(codes, *(column.tolist() for column in key), strict=True)]
        shape = len(self.keys), len(VERDICTS)
        self._items = distinct_items(row, here.item, shape[0])
        counts = np.bincount(row * shape[1] + announced.verdict, minlength=shape[0] * shape[1])
        self._counts = counts.reshape(shape)
        judged = np.flatnonzero(announced.verdict != VERDICTS.index("undecided"))
        holding = (announced.verdict == VERDICTS.index("holding")).astype("i8")
        of_rows = row.take(judged), here.item.take(judged), holding.take(judged)
        self._share = item_ratios(*of_rows, np.ones(len(judged), "i8"), shape[0])

    def rows(self, chosen: Filter, names: Names) -> Iterator[dict[str, Any]]:
        """Yield the rows, in no order."""
        for row, key in enumerate(self.keys):
            counts = dict(zip(VERDICTS, self._counts[row].tolist(), strict=True))
            yield {
                "period": day_of(key.period),
                **names.of(chosen.group_by, key),
                "channel": names.channels[int(self._channel[row])],
                "currency": key.currency,
                "items": int(self._items[row]),
                "announced": sum(counts.values()),
                **counts,
                **dict(zip((f"share_holding{bound}" for bound in ENDS), self._share[row], strict=True)),
            }

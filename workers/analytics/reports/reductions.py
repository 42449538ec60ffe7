"""Announced reductions: how many of those that began in a period hold against the prior price of their channel."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.observations import OBSERVATION_KINDS
from shared.analytics.results import SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.prior_price import HISTORY_DAYS, WINDOW_DAYS, Moment, Options, Reason, Reference, reference
from workers.analytics.reports.aggregator import Range, day_of, number
from workers.analytics.reports.filters import Filter, Tree, filter_of
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import METHOD as OUTLIERS
from workers.analytics.reports.result import Answer, SetAside, channel_codes
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.codec import Array, joined, starts_of

VERDICTS = ("holding", "overstated", "not_below", "undecided")
SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        ("channel", pa.string()),
        ("currency", pa.string()),
        ("items", pa.int64()),
        ("announced", pa.int64()),
        *((verdict, pa.int64()) for verdict in VERDICTS),
        ("share_holding", pa.float64()),
    ]
)
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


class _Prices(NamedTuple):
    """The lowest listing of each currency, item, channel and day, in that order; `day` counts from 1970."""

    currency: Array
    item: Array
    channel: Array
    day: Array
    price: Array
    list_price: Array


class _Announced(NamedTuple):
    """One announced reduction."""

    period: int
    channel: int
    currency: str
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
        prices = _read(reader, chosen, _lookback_days(options))
        aside = SetAside(reader, chosen)
        aside.of(chosen)
        codes = channel_codes(connection)
    rows = _rows(_announced(prices, days, options, report_progress), codes)
    seen = {int(day) for day in np.unique(prices.day) if number(days.first) <= day}
    return Answer(Rows.of(rows, SCHEMA), days, seen, UNITS, METHOD, ROUNDING, kind="listing", outliers=aside.summary())


def _lookback_days(options: Options) -> int:
    """Return how many days before a reduction judge it: with a progressive rule those since its first step too."""
    return HISTORY_DAYS if options.progressive else WINDOW_DAYS + 1


def _read(reader: Reader, chosen: Filter, lookback_days: int) -> _Prices:
    """Read the listings of the range, and of the days before it that its first reductions are judged by."""
    days = reader.days
    wider = reader.of(Range(days.first - timedelta(days=lookback_days), days.last, days.granularity))
    months = list(wider.days.months())
    parts: list[tuple[Array, ...]] = []
    for done, month in enumerate(months):
        reader.report_progress("reading", done, len(months))
        for part in wider.entries(chosen, month):
            since_1970 = number(month) - 1 + part.day.astype("i8")
            channel, price, list_price = (column.astype("i8") for column in (part.channel, part.price, part.list_price))
            parts.append((np.full(len(price), part.currency, "U3"), part.ids, channel, since_1970, price, list_price))
    reader.report_progress("reading", len(months), len(months))
    empty = (np.empty(0, "U3"), *(np.empty(0, "i8"),) * 5)
    prices = _Prices(*joined([empty, *parts]))
    order = np.lexsort((-prices.price, prices.day, prices.channel, prices.item, prices.currency))
    prices = _Prices(*(column.take(order) for column in prices))
    first_of_day = starts_of(prices.currency, prices.item, prices.channel, prices.day)
    last_of_day = np.append(first_of_day, len(order))[1:] - 1  # the lowest
    return _Prices(*(column.take(last_of_day) for column in prices))


def _announced(prices: _Prices, days: Range, options: Options, report_progress: ReportProgress) -> Iterator[_Announced]:
    """Yield the announced reductions that began in the range."""
    if not len(prices.item):
        return
    series = starts_of(prices.currency, prices.item, prices.channel)
    begins = _begins(prices, series)
    begins = begins[(prices.day[begins] >= number(days.first)) & (prices.day[begins] <= number(days.last))]
    periods = days.periods_of(prices.day[begins])
    first = series[np.searchsorted(series, begins, side="right") - 1]
    for done, (row, start, period) in enumerate(zip(begins.tolist(), first.tolist(), periods.tolist(), strict=True)):
        report_progress("judging", done, len(begins))
        # A row a day: these hold the window and the day before it, where an earlier step may have begun.
        known_from = max(start, row - _lookback_days(options))
        prior = reference([_moment(prices, position) for position in range(known_from, row + 1)], options=options)
        yield _Announced(
            period,
            int(prices.channel[row]),
            str(prices.currency[row]),
            int(prices.item[row]),
            verdict(prior, Decimal(int(prices.list_price[row]))),
        )


def _begins(prices: _Prices, series: Array) -> Array:
    """Return the rows on which a listing is below its list price and was not before, or was dearer.

    What was observed earlier than the window and the day before it says nothing: else the first day of a range, from
    which on prices are read, would decide.
    """
    announced = prices.list_price > prices.price
    begins = announced.copy()
    unknown = np.diff(prices.day) > WINDOW_DAYS + 1
    begins[1:] &= ~announced[:-1] | (prices.price[1:] < prices.price[:-1]) | unknown
    begins[series] = announced[series]
    rows: Array = np.flatnonzero(begins)
    return rows


def _moment(prices: _Prices, position: int) -> Moment:
    listed = int(prices.list_price[position])
    price = Decimal(int(prices.price[position]))
    return Moment(day_of(prices.day[position]), price=price, list_price=Decimal(listed) if listed else None)


def verdict(prior: Reference, list_price: Decimal) -> str:
    """Return which of VERDICTS a reduction from a list price deserves."""
    if prior.applicable and prior.prior_price is not None:
        return "holding" if list_price <= prior.prior_price else "overstated"
    return "not_below" if prior.reason == Reason.NOT_BELOW else "undecided"


def _rows(announced: Iterator[_Announced], codes: dict[int, str]) -> list[dict[str, Any]]:
    groups: dict[tuple[date, str, str], list[_Announced]] = defaultdict(list)
    for reduction in announced:
        groups[day_of(reduction.period), codes[reduction.channel], reduction.currency].append(reduction)
    return [
        {"period": period, "channel": channel, "currency": currency, **_figures(groups[period, channel, currency])}
        for period, channel, currency in sorted(groups)
    ]


def _figures(group: list[_Announced]) -> dict[str, Any]:
    counts = {name: sum(reduction.verdict == name for reduction in group) for name in VERDICTS}
    judged = len(group) - counts["undecided"]
    return {
        "items": len({reduction.item for reduction in group}),
        "announced": len(group),
        **counts,
        "share_holding": round(counts["holding"] / judged, 6) if judged else None,
    }

"""GET /index/pricing/{iid}: the prices of an item, day by day."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from aiohttp import web

from edge.analytics.conversion import in_currency
from edge.analytics.envelope import in_thread_if_large, light_offer
from edge.analytics.light_reads import ConvertibleAmounts, LightRead, ReadRows, range_of
from edge.analytics.schemas import PricingQuery, PricingReport
from edge.http.answer_cache import AnswerOffer
from edge.http.validation import PATH, QUERY
from shared.analytics.exchange import ROUNDING as ROUNDED
from shared.analytics.exchange import Converter
from shared.analytics.observations import ObservationKind, coverage
from shared.analytics.outliers import MODES
from shared.analytics.results import SIX_DECIMALS
from shared.db.queries import load_queries
from shared.money import minor_digits, to_amount, to_text
from shared.prior_price import HISTORY_DAYS, Moment, Options, Reference, as_fields, reference
from shared.units.names import Content, contents
from shared.units.quantity import decimal_text

WINDOWS = (7, 30, 90, 365)
ROUNDING = dict.fromkeys(("unit_prices.low", "unit_prices.median", "unit_prices.high"), SIX_DECIMALS)
MONEY = ("low", "median", "high", "close")
UNITS = {"low": "currency", "median": "currency", "high": "currency", "close": "currency", "n": "observations"}
METHOD = (
    "exact: medians are percentile_cont over the observed prices; close is the day's price where all that was observed "
    "of it is one price, and null where there are several, as sources state no time of day; statistics end on `to`; "
    "prices that nothing confirms are outliers and count only with outliers=include"
)
_MONEY = pa.decimal128(38, 6)
SCHEMA = pa.schema(
    [
        ("day", pa.date32()),
        ("channel", pa.string()),
        ("kind", pa.string()),
        ("currency", pa.string()),
        ("low", _MONEY),
        ("median", _MONEY),
        ("high", _MONEY),
        ("close", _MONEY),
        ("n", pa.int64()),
    ]
)


class ObservedPrice(NamedTuple):
    """One observation: `kind` is `l` (listing) or `s` (sale), amounts are in minor units of the currency.

    `outlier` is the letter of its cause (`OutlierCause` in shared/analytics/outliers.py), None for a plausible price.
    """

    day: date
    channel: str
    kind: str
    currency: str
    minor: int
    list_minor: int | None = None
    outlier: str | None = None


class Reduction(NamedTuple):
    """The verdict of the rule on one channel on `as_of`, its last observed day or the day asked about."""

    channel: str
    currency: str
    as_of: date
    reference: Reference


def reductions(prices: Sequence[ObservedPrice], as_of: date | None, options: Options) -> Iterator[Reduction]:
    """Yield the running reduction of each channel and currency that has listings, in that order.

    Several prices of one day all count as applied on it, the lowest as the last one: sources give no time of day.
    """
    listings = sorted(
        (price for price in prices if price.kind == ObservationKind.LISTING),
        key=lambda price: (price.channel, price.currency, price.day, -price.minor),
    )
    for (channel, currency), group in groupby(listings, key=lambda price: (price.channel, price.currency)):
        moments = [_moment(price) for price in group]
        yield Reduction(channel, currency, as_of or moments[-1].day, reference(moments, as_of, options))


def as_row(reduction: Reduction) -> dict[str, Any]:
    """Return a reduction with its evidence, as the fields of an answer."""
    fields = as_fields(reduction.reference, lambda amount: _money(amount, reduction.currency))
    del fields["reduction_began_at"]  # sources give no time of day
    return {"channel": reduction.channel, "currency": reduction.currency, "as_of": reduction.as_of, **fields}


def summary(reduction: Reduction) -> dict[str, Any]:
    """Return a reduction without its evidence, for the meta of a pricing history."""
    return {name: value for name, value in as_row(reduction).items() if name not in ("lowest_on", "evidence")}


def _money(amount: Decimal, currency: str) -> str:
    """Write an amount with the digits of its currency."""
    return to_text(amount.scaleb(minor_digits(currency)), currency)


def _moment(price: ObservedPrice) -> Moment:
    scale = -minor_digits(price.currency)
    listed = None if price.list_minor is None else Decimal(price.list_minor).scaleb(scale)
    return Moment(price.day, price=Decimal(price.minor).scaleb(scale), list_price=listed)


SQL = load_queries(__file__, "price_history.sql")


class History(NamedTuple):
    """The observations of a range that count, its outliers, and what must be said of them."""

    prices: list[ObservedPrice]
    outliers: list[ObservedPrice]
    meta: dict[str, Any]


class PriceHistory(LightRead):
    """Reads what an item sold for."""

    kind = "pricing"
    path = "pricing/{iid}"
    operation = "getPricing"
    summary = "Price history of one item"
    description = "Per day, channel and kind: low, median, high, close. Statistics over 7, 30, 90 and 365 days."
    query = PricingQuery
    reply = PricingReport
    answer = "The prices, or with `dry_run` their cost"

    async def read(
        self,
        iid: str,
        first: date | None,
        to: date | None,
        channels: Sequence[str],
        currency: str | None,
        kind: str | None = None,
        *,
        include: bool = False,
        query_string: str = "",
    ) -> History:
        """Return what an item sold for, outliers apart unless they are included. Raises what `find` does."""
        letter = kind[0] if kind else None
        values = (iid, first, to, channels, currency, letter, HISTORY_DAYS)
        row = await self.item_row(SQL.prices, *values, channels=channels, query_string=query_string)
        first, last = range_of(first, to, row["last_day"])
        prices = msgspec.json.decode(row["prices"] or b"[]", type=list[ObservedPrice])
        attributes = msgspec.json.decode(row["attributes"], type=dict[str, Any])
        in_range = [price for price in prices if price.day >= first]
        shown = [price for price in in_range if include or price.outlier is None]
        outliers = [price for price in in_range if price.outlier is not None]
        meta = {
            "data_version": row["version"],
            "from": first,
            "to": last,
            "coverage": coverage_of(first, last, shown),
            "units": UNITS,
            "method": METHOD,
            "rounding": ROUNDING,
            "outliers": {"mode": MODES[include], "set_aside": len(outliers)},
            **await in_thread_if_large(len(prices), _figures, prices, last, include, contents(row["name"], attributes)),
        }
        return History(shown, outliers, meta)

    async def find(self, request: web.Request) -> ReadRows:
        query = request[QUERY]
        history = await self.read(
            request[PATH]["iid"],
            query["from_"],
            query["to"],
            query["channel"],
            query["currency"],
            query["kind"],
            include=query["outliers"] == "include",
            query_string=request.rel_url.raw_query_string,
        )
        listed = rows(history.prices)
        return ReadRows(listed, SCHEMA, history.meta, _amounts(history, listed))

    async def cacheable(self, iid: str) -> AnswerOffer:
        """Return the answer to a call without parameters, as JSON. Raises what `read` does."""
        history = await self.read(iid, None, None, (), None)
        return await light_offer(rows(history.prices), SCHEMA, history.meta, "json")


def _amounts(history: History, listed: list[dict[str, Any]]) -> ConvertibleAmounts:
    """Return the amounts of the rows and of the meta, whose statistics end on the last day of the range."""
    meta = history.meta
    first = min([meta["from"], *(reduction["as_of"] for reduction in meta["reductions"])])
    parts = (meta["statistics"], meta["reductions"])
    currencies = {price.currency for price in history.prices} | {row["currency"] for part in parts for row in part}

    def convert(converter: Converter) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        converted = [in_currency(row, MONEY, row["day"], converter) for row in listed]
        return converted, converted_meta(meta, converter)

    return ConvertibleAmounts(currencies, first, meta["to"], convert)


def converted_meta(meta: dict[str, Any], converter: Converter) -> dict[str, Any]:
    """Return the meta with its amounts converted: statistics at the rates of their last day, reductions of theirs."""
    changed = {
        name: [in_currency(row, ("low", "median", "high"), meta["to"], converter) for row in meta[name]]
        for name in ("statistics", "unit_prices")
    }
    changed["reductions"] = [
        in_currency(row, ("price", "prior_price", "at_most"), row["as_of"], converter) for row in meta["reductions"]
    ]
    return {**meta, **changed, "rounding": {**meta["rounding"], **dict.fromkeys(MONEY, ROUNDED)}}


def _figures(
    prices: Sequence[ObservedPrice], last: date, include: bool, held: Sequence[Content]
) -> dict[str, list[dict[str, Any]]]:
    running = reductions(prices, None, Options())  # the law asks for every price
    windows = list(statistics(prices, last, include=include))
    return {
        "statistics": windows,
        "unit_prices": list(unit_prices(windows, held)),
        "reductions": [summary(reduction) for reduction in running],
    }


def unit_prices(statistics: Sequence[Mapping[str, Any]], held: Sequence[Content]) -> Iterator[dict[str, Any]]:
    """Yield each window's prices for each unit of the content; nothing where the content is unknown."""
    stated = [(content, decimal_text(content.amount)) for content in held]
    for row in statistics:
        for content, amount in stated:
            yield {
                "days": row["days"],
                "currency": row["currency"],
                "kind": row["kind"],
                "per": content.per,
                "content": amount,
                "read_in": content.read_in,
                **{name: row[name] and content.unit_price(row[name]) for name in ("low", "median", "high")},
            }


def rows(prices: Sequence[ObservedPrice]) -> list[dict[str, Any]]:
    """Make a row for each day, channel, kind and currency. The prices come in that order, each group's ascending."""
    made = []
    for (day, channel, kind, currency), group in groupby(prices, key=lambda price: price[:4]):
        minors = [price.minor for price in group]
        low, high = minors[0], minors[-1]
        made.append(
            {
                "day": day,
                "channel": channel,
                "kind": ObservationKind(kind).text,
                "currency": currency,
                "low": to_amount(low, currency),
                "median": to_amount(median(minors), currency),
                "high": to_amount(high, currency),
                "close": to_amount(low, currency) if low == high else None,
                "n": len(minors),
            }
        )
    return made


def statistics(prices: Sequence[ObservedPrice], last: date, *, include: bool) -> Iterator[dict[str, Any]]:
    """Yield the figures of each window that ends on the last day, one for each currency and kind: none are mixed.

    Outliers are counted, and count in the other figures only if they are to be included.
    """
    groups: defaultdict[tuple[str, str], list[ObservedPrice]] = defaultdict(list)
    for price in prices:
        groups[price.currency, price.kind].append(price)
    for days in WINDOWS:
        first = last - timedelta(days=days - 1)
        for currency, kind in sorted(groups):
            observed = [price for price in groups[currency, kind] if price.day >= first]
            chosen = [price for price in observed if include or price.outlier is None]
            minors = sorted(price.minor for price in chosen)
            figures = (minors[0], median(minors), minors[-1]) if minors else (None, None, None)
            low, middle, high = (to_text(figure, currency) if figure is not None else None for figure in figures)
            yield {
                "days": days,
                "currency": currency,
                "kind": ObservationKind(kind).text,
                "from": first,
                "to": last,
                "low": low,
                "median": middle,
                "high": high,
                "n": len(minors),
                "observed_days": len({price.day for price in chosen}),
                "set_aside": sum(price.outlier is not None for price in observed),
            }


def median(ascending: Sequence[int]) -> Decimal:
    """Return the median of prices, exactly; half a minor unit stays half a one."""
    middle, odd = divmod(len(ascending), 2)
    if odd:
        return Decimal(ascending[middle])
    return Decimal(ascending[middle - 1] + ascending[middle]) / 2


def coverage_of(first: date, last: date, prices: Sequence[ObservedPrice]) -> dict[str, Any]:
    """Return which days of the range hold data."""
    seen = {price.day for price in prices}
    return coverage(first, last, len(seen), min(seen, default=None), max(seen, default=None))

"""GET /index/pricing/{iid}/reference: the price that a channel's running reduction must be compared with."""

import asyncio
from typing import Any

import msgspec
import pyarrow as pa
from aiohttp import web

from edge.analytics.conversion import in_currency
from edge.analytics.light_reads import ConvertibleAmounts, LightRead, ReadRows, range_of
from edge.analytics.price_history import ObservedPrice, as_row, coverage_of, reductions
from edge.analytics.schemas import PriorPriceQuery, PriorPriceReport
from edge.http.validation import PATH, QUERY
from shared.analytics.exchange import ROUNDING as ROUNDED
from shared.analytics.exchange import Converter
from shared.db.queries import load_queries
from shared.prior_price import HISTORY_DAYS, Options

SQL = load_queries(__file__, "prior_price.sql")
METHOD = (
    "Directive 98/6/EC Art. 6a, C-330/23: the lowest price of the 30 days before the reduction began, per channel; a "
    "day without an observation leaves it unknown; where a channel has list prices, a reduction is a price below them"
)
MONEY = ("price", "prior_price", "at_most")
UNITS = {"price": "currency", "prior_price": "currency", "at_most": "currency", "percent": "percent of prior_price"}
ROUNDING = {"percent": "half-up to 2 decimals"}
SCHEMA = pa.schema(
    [
        ("channel", pa.string()),
        ("currency", pa.string()),
        ("as_of", pa.date32()),
        ("price", pa.string()),
        ("reduction_began_on", pa.date32()),
        ("prior_price", pa.string()),
        ("percent", pa.string()),
        ("applicable", pa.bool_()),
        ("reason", pa.string()),
        ("known", pa.bool_()),
        ("at_most", pa.string()),
        ("lowest_on", pa.list_(pa.date32())),
        ("evidence", pa.list_(pa.struct([("day", pa.date32()), ("price", pa.string())]))),
    ]
)


class PriorPrice(LightRead):
    """Reads the running reductions of an item: one row for each channel and currency."""

    kind = "prior-price"
    path = "pricing/{iid}/reference"
    operation = "getPriorPrice"
    summary = "Prior price of one item's reductions"
    description = (
        "For each channel: the current reduction, the lowest price of the 30 days before it, and the evidence."
    )
    query = PriorPriceQuery
    reply = PriorPriceReport
    answer = "The reductions, or with `dry_run` their cost"

    async def find(self, request: web.Request) -> ReadRows:
        """Return the reductions that run on the day asked about."""
        query, channels = request[QUERY], request[QUERY]["channel"]
        include = query["outliers"] == "include"
        values = (request[PATH]["iid"], query["asked_on"], channels, query["currency"], HISTORY_DAYS, include)
        query_string = request.rel_url.raw_query_string
        row = await self.item_row(SQL.listings, *values, channels=channels, query_string=query_string)
        listed, meta = await asyncio.to_thread(_judged, row, query)
        return ReadRows(listed, SCHEMA, meta, _amounts(listed, meta))


def _amounts(listed: list[dict[str, Any]], meta: dict[str, Any]) -> ConvertibleAmounts:
    days = [row["as_of"] for row in listed] or [meta["to"]]

    def convert(converter: Converter) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        rounding = {**ROUNDING, **dict.fromkeys(MONEY, ROUNDED)}
        return [_converted(row, converter) for row in listed], {**meta, "rounding": rounding}

    return ConvertibleAmounts({row["currency"] for row in listed}, min(days), max(days), convert)


def _converted(row: dict[str, Any], converter: Converter) -> dict[str, Any]:
    """Return a reduction with its amounts converted, its evidence too: all at the rates of the day of judgement."""
    converted = [
        in_currency({**day, "currency": row["currency"]}, ("price",), row["as_of"], converter)
        for day in row["evidence"]
    ]
    evidence = [{"day": day["day"], "price": day["price"]} for day in converted]
    return {**in_currency(row, MONEY, row["as_of"], converter), "evidence": evidence}


def _judged(row: Any, query: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the reductions of what was read, and the meta of the answer."""
    prices = msgspec.json.decode(row["prices"] or b"[]", type=list[ObservedPrice])
    options = Options(
        query["progressive"], query["progressive_days"], bool(query["first_offered"]), query["first_offered"]
    )
    first, last = range_of(min((price.day for price in prices), default=None), None, row["last_day"])
    meta = {
        "data_version": row["version"],
        "from": first,
        "to": last,
        "coverage": coverage_of(first, last, prices),
        "units": UNITS,
        "method": METHOD,
        "rounding": ROUNDING,
    }
    return [as_row(one) for one in reductions(prices, query["asked_on"], options)], meta

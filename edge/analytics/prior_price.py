"""GET /index/pricing/{iid}/reference: the price that a channel's running reduction must be compared with."""

import asyncio
from datetime import date
from typing import Any

import msgspec
import pyarrow as pa
from aiohttp import web
from aiohttp_apispec import docs, match_info_schema, querystring_schema, response_schema

from edge.analytics import envelope
from edge.analytics.conversion import in_currency, read_converter, with_original
from edge.analytics.items import range_of, require_active_item
from edge.analytics.price_history import Price, as_row, coverage, reductions
from edge.analytics.schemas import PriorPriceQuery, PriorPriceReport
from edge.http.context import CONTEXT
from edge.http.parameters import PATH, QUERY
from edge.index.schemas import IidPath
from edge.quota.billing import Billing
from edge.storage.database import Database
from shared.analytics.exchange import ROUNDING as ROUNDED
from shared.analytics.exchange import Converter
from shared.analytics.results import MEDIA_TYPES
from shared.db.queries import beside
from shared.prior_price.model import Options

SQL = beside(__file__, "prior_price.sql")
HISTORY_DAYS = 730
"""How far back listings are read: a reduction that began earlier has no known beginning."""
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


class PriorPrice:
    """The handler."""

    def __init__(self, database: Database, base_url: str, billing: Billing) -> None:
        self._database = database
        self._base_url = base_url
        self._billing = billing

    @docs(
        operationId="getPriorPrice",
        summary="Prior price of one item's reductions",
        description="Per channel, the running reduction, the lowest price of the 30 days before it, and the evidence.",
        tags=["reports"],
        produces=list(MEDIA_TYPES.values()),
        responses={
            "301": {"description": "Location names the item that it was merged into."},
            "304": {"description": "Your copy is current."},
        },
    )
    @match_info_schema(IidPath())
    @querystring_schema(PriorPriceQuery())
    @response_schema(PriorPriceReport(), 200, description="The reductions, or with `dry_run` their cost")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one row for each channel and currency."""
        charge = await self._billing.charge(request[CONTEXT], envelope.light_units(request))
        return await charge.settle(self._respond(request))

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        query = request[QUERY]
        row = await self._listings(request)
        if query["dry_run"]:
            return envelope.estimate(request, "prior-price", row["version"])
        listed, meta = await asyncio.to_thread(_judged, row, query)
        if query["convert"] is None:
            return await envelope.light_answer(request, listed, SCHEMA, meta)
        converter, version = await self._converter(listed, query["convert"], query["rates"], meta["to"])
        while version != meta["data_version"]:  # a load has committed between the two statements
            listed, meta = await asyncio.to_thread(_judged, await self._listings(request), query)
            converter, version = await self._converter(listed, query["convert"], query["rates"], meta["to"])
        listed = [_converted(one, converter) for one in listed]
        meta |= {"rounding": {**ROUNDING, **dict.fromkeys(MONEY, ROUNDED)}, "conversion": converter.meta()}
        return await envelope.light_answer(request, listed, with_original(SCHEMA), meta)

    async def _listings(self, request: web.Request) -> Any:
        query, iid = request[QUERY], request[PATH]["iid"]
        include = query["outliers"] == "include"
        values = (iid, query["asked_on"], query["channel"], query["currency"], HISTORY_DAYS, include)
        row = await self._database.fetch_row(SQL.listings, *values)
        query_string = request.rel_url.raw_query_string
        return require_active_item(row, f"{self._base_url}/index/pricing", query["channel"], "/reference", query_string)

    async def _converter(self, listed: list[dict[str, Any]], to: str, name: str, last: date) -> tuple[Converter, int]:
        days = [one["as_of"] for one in listed] or [last]
        currencies = {one["currency"] for one in listed}
        return await read_converter(self._database, to, name, currencies, min(days), max(days))


def _converted(row: dict[str, Any], converter: Converter) -> dict[str, Any]:
    """Return a reduction with its amounts converted, its evidence too: all at the rates of the day of judgement."""
    days = [{**one, "currency": row["currency"]} for one in row["evidence"]]
    evidence = [in_currency(one, ("price",), row["as_of"], converter) for one in days]
    return {**in_currency(row, MONEY, row["as_of"], converter), "evidence": evidence}


def _judged(row: Any, query: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the reductions of what was read, and the meta of the answer."""
    prices = msgspec.json.decode(row["prices"] or b"[]", type=list[Price])
    options = Options(
        query["progressive"], query["progressive_days"], bool(query["first_offered"]), query["first_offered"]
    )
    first, last = range_of(min((price.day for price in prices), default=None), None, row["last_day"])
    meta = {
        "data_version": row["version"],
        "from": first,
        "to": last,
        "coverage": coverage(first, last, prices),
        "units": UNITS,
        "method": METHOD,
        "rounding": ROUNDING,
    }
    return [as_row(one) for one in reductions(prices, query["asked_on"], options)], meta

"""GET /index/pricing/{iid}: the prices of an item, day by day."""

from typing import Any

from aiohttp import web
from aiohttp_apispec import docs, match_info_schema, querystring_schema, response_schema

from edge.analytics import envelope, schemas
from edge.analytics.conversion import in_currency, read_converter, with_original
from edge.analytics.price_history import SCHEMA, History, PriceHistory, rows
from edge.http.context import CONTEXT
from edge.http.parameters import PATH, QUERY
from edge.index.schemas import IidPath
from edge.quota.billing import Billing
from edge.storage.database import Database
from shared.analytics.exchange import ROUNDING as ROUNDED
from shared.analytics.exchange import Converter
from shared.analytics.results import MEDIA_TYPES

MONEY = ("low", "median", "high", "close")


class Pricing:
    """The handler."""

    def __init__(self, history: PriceHistory, database: Database, billing: Billing) -> None:
        self._history = history
        self._database = database
        self._billing = billing

    @docs(
        operationId="getPricing",
        summary="Pricing history of one item",
        description="Per day, channel and kind: low, median, high, close. Statistics over 7, 30, 90 and 365 days.",
        tags=["reports"],
        produces=list(MEDIA_TYPES.values()),
        responses={
            "301": {"description": "Location names the item that it was merged into."},
            "304": {"description": "Your copy is current."},
        },
    )
    @match_info_schema(IidPath())
    @querystring_schema(schemas.PricingQuery())
    @response_schema(schemas.PricingReport(), 200, description="The prices, or with `dry_run` their cost")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the days of one item."""
        charge = await self._billing.charge(request[CONTEXT], envelope.light_units(request))
        return await charge.settle(self._respond(request))

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        query = request[QUERY]
        history = await self._read_history(request)
        if query["dry_run"]:
            return envelope.estimate(request, "pricing", history.meta["data_version"])
        listed = rows(history.prices)
        if query["convert"] is None:
            return await envelope.light_answer(request, listed, SCHEMA, history.meta)
        converter, version = await self._converter(history, query["convert"], query["rates"])
        while version != history.meta["data_version"]:  # a load has committed between the two statements
            history = await self._read_history(request)
            converter, version = await self._converter(history, query["convert"], query["rates"])
        listed = [in_currency(row, MONEY, row["day"], converter) for row in rows(history.prices)]
        meta = converted_meta(history.meta, converter)
        return await envelope.light_answer(request, listed, with_original(SCHEMA), meta)

    async def _read_history(self, request: web.Request) -> History:
        query = request[QUERY]
        return await self._history.read(
            request[PATH]["iid"],
            query["from_"],
            query["to"],
            query["channel"],
            query["currency"],
            query["kind"],
            include=query["outliers"] == "include",
            query_string=request.rel_url.raw_query_string,
        )

    async def _converter(self, history: History, to: str, name: str) -> tuple[Converter, int]:
        """Return what converts the rows and the meta, whose statistics end on the last day of the range."""
        last = history.meta["to"]
        first = min([history.meta["from"], *(one["as_of"] for one in history.meta["reductions"])])
        parts = (history.meta["statistics"], history.meta["reductions"])
        currencies = {price.currency for price in history.prices} | {one["currency"] for part in parts for one in part}
        return await read_converter(self._database, to, name, currencies, first, last)


def converted_meta(meta: dict[str, Any], converter: Converter) -> dict[str, Any]:
    """Return the meta with its amounts converted: statistics at the rates of their last day, reductions of theirs."""
    changed = {
        name: [in_currency(row, ("low", "median", "high"), meta["to"], converter) for row in meta[name]]
        for name in ("statistics", "unit_prices")
    }
    changed["reductions"] = [
        in_currency(row, ("price", "prior_price", "at_most"), row["as_of"], converter) for row in meta["reductions"]
    ]
    rounding = {**meta["rounding"], **dict.fromkeys(MONEY, ROUNDED)}
    return {**meta, **changed, "rounding": rounding, "conversion": converter.meta()}

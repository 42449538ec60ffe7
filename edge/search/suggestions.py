"""GET /index/suggest: what a person may mean while typing."""

from typing import Any

import msgspec
from aiohttp import web
from marshmallow import Schema, fields, validate

from edge.http.context import CONTEXT
from edge.http.json import CACHE_CONTROL
from edge.http.parameters import QueryParameters, Utf8, WholeNumber, field_doc
from edge.http.routing import operation
from edge.http.validation import QUERY
from edge.quota.suggestions import SuggestionBilling
from edge.search.engine import SearchEngine
from shared.search.suggesting import SUGGESTIONS_MAX

_DEFAULT = 8


class SuggestParameters(QueryParameters):
    """Query of suggestions."""

    q = Utf8(1, 200, required=True, metadata=field_doc("What has been typed so far", example="vitas"))
    limit = WholeNumber(1, SUGGESTIONS_MAX, load_default=_DEFAULT)


class SuggestionEntry(Schema):
    """A brand, a category or an item that may be meant."""

    kind = fields.Str(required=True, validate=validate.OneOf(["brand", "category", "item"]))
    value = fields.Str(
        required=True,
        metadata=field_doc(
            "Slug of a brand and code of a category, as the filters of a search take them; IID of an item"
        ),
    )
    name = fields.Str(required=True)
    context = fields.Str(
        required=True,
        allow_none=True,
        metadata=field_doc("Parents of a category, brand of an item: tells apart what has the same name"),
    )
    items = fields.Int(
        required=True, allow_none=True, metadata=field_doc("Items of the brand or category; null for an item")
    )


class SuggestionList(Schema):
    """Suggestions, best first."""

    data = fields.List(fields.Nested(SuggestionEntry()), required=True)
    count = fields.Int(required=True)
    query = fields.Dict(required=True)
    data_version = fields.Int(required=True)


class Suggest:
    def __init__(self, engine: SearchEngine, billing: SuggestionBilling) -> None:
        self._engine = engine
        self._billing = billing

    @operation("index", "suggest", SuggestParameters, answers={200: (SuggestionList, "Suggestions, best first")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Suggest brands, categories and items while a person types.

        Brands and categories whose name, or a later word of it, begins with `q` come first, those with most items
        before others; then the items that have all words, the last one perhaps only begun: the most popular first, by
        observations, channels and the last day on which they were observed. Where nothing fits, the last word may have
        a letter wrong. Keys pay nothing for suggestions, which their limit of a second bounds; other callers pay one
        unit for ten. A free sign-up is needed.
        """
        async with self._billing.charge(request[CONTEXT]) as charge:
            return charge.settle(await self._respond(request[QUERY]))

    async def _respond(self, query: dict[str, Any]) -> web.Response:
        version, found = await self._engine.suggest(query["q"], query["limit"])
        answer = {"data": found, "count": len(found), "query": query, "data_version": version}
        body = msgspec.json.encode(answer)
        return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})

"""GET /index/search: items by any of their words, or by the beginning of their IID."""

from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, querystring_schema, response_schema

from edge.http.cursors import CursorSigner
from edge.http.envelope import envelope
from edge.http.parameters import QUERY
from edge.middleware.answer_keeping import offer
from edge.search import schemas
from edge.search.identifiers import ItemSearch
from shared.errors import InvalidCursor
from shared.search.model import Hit, Position, SearchQuery

KIND = "search"


class Search:
    """The handler."""

    def __init__(self, engine: ItemSearch, cursors: CursorSigner, base_url: str) -> None:
        self._engine = engine
        self._cursors = cursors
        self._base_url = base_url

    @docs(
        operationId="searchItems",
        summary="Search items",
        description="All words count, in any order, in name, brand, product type and category; of the last word "
        "its beginning suffices, and typing errors are forgiven. If few items have all words, items with some of them "
        "follow: `total.all_words` counts the former, and `all_words` of each hit tells them apart. "
        "A `q` that begins with `IID-` finds the items whose IID has this prefix. Items of an identifier in `q` (a "
        "GTIN, an ISBN, a part number, a source's own number, an address) come first.",
        tags=["index"],
    )
    @querystring_schema(schemas.SearchQuery())
    @response_schema(schemas.SearchList(), 200, description="One page of hits")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        requested: dict[str, Any] = request[QUERY]
        query = {name: requested[name] for name in ("q", "limit", "brand", "category", "product_type")}
        after = self._position(query, requested["cursor"])
        page = await self._engine.find(SearchQuery(**query, after=after))
        end = msgspec.to_builtins(page.next) if page.next else None
        response = envelope(
            [self._entry(hit) for hit in page.hits],
            total=page.total,
            exact=page.exact,
            all_words=page.all_words,
            next_cursor=self._cursors.seal(KIND, query, end) if end else None,
            query=query,
            data_version=page.data_version,
        )
        if page.whole:
            offer(request, response)
        return response

    def _position(self, query: dict[str, Any], cursor: str | None) -> Position | None:
        if cursor is None:
            return None
        try:
            return msgspec.convert(self._cursors.open(KIND, query, cursor), Position)
        except msgspec.ValidationError:
            raise InvalidCursor from None

    def _entry(self, hit: Hit) -> dict[str, Any]:
        return {
            **msgspec.structs.asdict(hit.item),
            "score": hit.score,
            "matched_on": hit.matched_on,
            "all_words": hit.all_words,
            "links": {"self": f"{self._base_url}/index/lookup/{hit.item.iid}"},
        }

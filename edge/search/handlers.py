"""GET /index/search: items by any of their words, or by the beginning of their IID."""

from aiohttp import web
from aiohttp_apispec import docs, querystring_schema, response_schema

from edge.http.parameters import QUERY
from edge.middleware.answer_keeping import offer
from edge.search import schemas
from edge.search.answers import SearchAnswers


class Search:
    """The handler."""

    def __init__(self, answers: SearchAnswers) -> None:
        self._answers = answers

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
        response, until = await self._answers.make(request[QUERY])
        offer(request, response, until=until)
        return response

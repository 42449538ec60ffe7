"""GET /index/search: items by any of their words, or by the beginning of their IID."""

from typing import Any
from urllib.parse import parse_qsl

import msgspec
from aiohttp import web
from marshmallow import Schema, ValidationError, fields, validate

from edge.http.answer_cache import DO_NOT_CACHE, UNTIL_THE_DATA_CHANGES
from edge.http.lists import CursorSigner, ListEnvelope, PageTotalSchema, SelfLink, envelope
from edge.http.parameters import QUERY, CursorText, QueryParameters, Utf8, WholeNumber, described
from edge.http.representation import cacheable
from edge.http.routing import operation
from edge.index.schemas import IID, BrandRef, CategoryRef
from edge.search.engine import ItemSearch
from shared.errors import InvalidCursor
from shared.search.model import Brand, Category, Hit, MatchedOn, Position, SearchQuery


class SearchParameters(QueryParameters):
    """Query of a search."""

    q = Utf8(
        1,
        200,
        required=True,
        metadata=described(
            "Brand, product type, category, name, identifier, or the beginning of an IID", example="soy milk"
        ),
    )
    limit = WholeNumber(1, 50, load_default=20)
    brand = Utf8(1, 200, load_default=None, metadata=described("Only this brand (slug)"))
    category = Utf8(
        1, 400, load_default=None, metadata=described("Only this category (code), including its subcategories")
    )
    product_type = Utf8(1, 200, load_default=None, metadata=described("Only this product type"))
    cursor = CursorText()


class SearchHit(Schema):
    """One hit of a search."""

    iid = fields.Str(required=True, metadata=IID)
    name = fields.Str(required=True)
    brand = fields.Nested(BrandRef(), required=True, allow_none=True)
    product_type = fields.Str(required=True, allow_none=True)
    category = fields.Nested(CategoryRef(), required=True, allow_none=True)
    score = fields.Float(required=True, validate=validate.Range(0, 1))
    matched_on = fields.List(
        fields.Str(validate=validate.OneOf(["brand", "product_type", "category", "name", "iid_prefix", "identifier"])),
        required=True,
    )
    all_words = fields.Bool(
        required=True, metadata=described("Whether it has all words; for the last word, a prefix suffices")
    )
    links = fields.Nested(SelfLink(), required=True)


class SearchTotal(PageTotalSchema):
    """Number of hits, in total and with all words."""

    all_words = fields.Int(
        required=True,
        metadata=described("Hits that have all words, which come first; a lower bound if the relation is `gte`"),
    )


class SearchList(ListEnvelope):
    """One page of hits, best first; equal scores are sorted by IID."""

    total = fields.Nested(SearchTotal(), required=True)
    data = fields.List(fields.Nested(SearchHit()), required=True)


KIND = "search"
_FIELDS = SearchParameters().fields


def search_parameters(query: str) -> dict[str, Any] | None:
    """Return the parameters of a raw query as validation does; None for a query that it may refuse."""
    if "#" in query:  # begins what is no part of the query
        return None
    try:
        given = parse_qsl(query, keep_blank_values=True, strict_parsing=True, errors="strict")
        parameters = {name: _FIELDS[name].deserialize(text) for name, text in given}
    except (ValueError, KeyError, ValidationError):
        return None
    if len(parameters) < len(given) or "q" not in parameters:
        return None
    return {name: field.load_default for name, field in _FIELDS.items()} | parameters


class _Entry(msgspec.Struct, frozen=True):
    """A hit as the answer shows it; a struct is made and written in less time than a dict."""

    iid: str
    name: str
    brand: Brand | None
    product_type: str | None
    category: Category | None
    score: float
    matched_on: list[MatchedOn]
    all_words: bool
    links: dict[str, str]


class SearchAnswers:
    """Makes the answers."""

    def __init__(self, engine: ItemSearch, cursors: CursorSigner, base_url: str) -> None:
        self._engine = engine
        self._cursors = cursors
        self._base_url = base_url

    async def make(self, requested: dict[str, Any]) -> tuple[web.Response, float]:
        """Return the answer to a search, and until when it may be kept.

        Raises InvalidCursor, and what `ItemSearch.find` raises.
        """
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
        return response, UNTIL_THE_DATA_CHANGES if page.whole else DO_NOT_CACHE

    def _position(self, query: dict[str, Any], cursor: str | None) -> Position | None:
        if cursor is None:
            return None
        try:
            return msgspec.convert(self._cursors.open(KIND, query, cursor), Position)
        except msgspec.ValidationError:
            raise InvalidCursor from None

    def _entry(self, hit: Hit) -> _Entry:
        item, links = hit.item, {"self": f"{self._base_url}/index/lookup/{hit.item.iid}"}
        return _Entry(
            item.iid,
            item.name,
            item.brand,
            item.product_type,
            item.category,
            hit.score,
            hit.matched_on,
            hit.all_words,
            links,
        )


class Search:
    def __init__(self, answers: SearchAnswers) -> None:
        self._answers = answers

    @operation("index", "searchItems", SearchParameters, answers={200: (SearchList, "One page of hits")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Search items.

        Matches all words, in any order, in name, brand, product type and category. The beginning of the last word is
        enough, and typing errors are tolerated. If few items have all words, items with some of them follow:
        `total.all_words` counts those with all words, and `all_words` of each hit states whether it does. A `q` that
        begins with `IID-` finds the items whose IID has this prefix. If `q` contains an identifier (a GTIN, an ISBN, a
        part number, a source's own number, a URL), its items come first. Only the first 16 words of `q` count; of a
        script without spaces between words, each pair of characters is a word.
        """
        response, until = await self._answers.make(request[QUERY])
        cacheable(request, response, until=until)
        return response

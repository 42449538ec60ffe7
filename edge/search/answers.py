"""GET /index/search: items by any of their words, or by the beginning of their IID."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from aiohttp import web
from marshmallow import ValidationError

from edge.http.answer_cache import DO_NOT_CACHE, UNTIL_THE_DATA_CHANGES
from edge.http.answer_keeping import cacheable
from edge.http.cursors import CursorSigner
from edge.http.lists import envelope
from edge.http.routing import operation
from edge.http.validation import QUERY
from edge.index.members import members_of
from edge.index.record import ItemRecord
from edge.search.item_search import ItemSearch
from edge.search.schemas import SearchList, SearchParameters
from edge.search.understanding import Understood, understand
from shared.errors import InvalidCursor, InvalidParameter, MissingParameter
from shared.money import minor_digits
from shared.search.model import Hit, Position, SearchQuery
from shared.search.paging import begins_iid

KIND = "search"
ReadRecords = Callable[[Sequence[str]], Awaitable[Mapping[str, ItemRecord]]]
_WORDS_ALONE = ("q", "limit", "brand", "category", "product_type")
_ALL_FIELDS = SearchParameters().fields
_FIELDS = {name: _ALL_FIELDS[name] for name in (*_WORDS_ALONE, "cursor")}
_DEFAULTS = {
    name: field.load_default() if callable(field.load_default) else field.load_default
    for name, field in _ALL_FIELDS.items()
}
_EPOCH = date(1970, 1, 1)


def search_parameters(query: str) -> dict[str, Any] | None:
    """Return the parameters of a raw query of words and filters as validation does; None for one that it may refuse."""
    if "#" in query:  # begins what is no part of the query
        return None
    try:
        given = parse_qsl(query, keep_blank_values=True, strict_parsing=True, errors="strict")
        parameters = {name: _FIELDS[name].deserialize(text) for name, text in given}
    except (ValueError, KeyError, ValidationError):
        return None
    if len(parameters) < len(given) or "q" not in parameters:
        return None
    return _DEFAULTS | parameters


class SearchAnswers:
    """Makes the answers."""

    def __init__(self, engine: ItemSearch, read_records: ReadRecords, cursors: CursorSigner, base_url: str) -> None:
        self._engine = engine
        self._read_records = read_records
        self._cursors = cursors
        self._base_url = base_url

    async def make(self, requested: dict[str, Any]) -> tuple[web.Response, float]:
        """Return the answer to a search, and until when it may be kept.

        Raises InvalidCursor, InvalidParameter, and what `ItemSearch.find` raises.
        """
        query = _repeated(requested)
        after = self._position(query, requested["cursor"])
        understood = None if requested["verbatim"] else understand(requested["q"])
        page = await self._engine.find(_search(requested, understood, after))
        end = msgspec.to_builtins(page.next) if page.next else None
        response = envelope(
            await self._entries(page.hits, requested["members"]),
            total=page.total,
            exact=page.exact,
            all_words=page.all_words,
            next_cursor=self._cursors.seal(KIND, query, end) if end else None,
            query=query,
            data_version=page.data_version,
            facets=page.facets or None,
            meta=_meta(understood, page.unpriced),
        )
        return response, UNTIL_THE_DATA_CHANGES if page.whole else DO_NOT_CACHE

    def _position(self, query: dict[str, Any], cursor: str | None) -> Position | None:
        if cursor is None:
            return None
        try:
            return msgspec.convert(self._cursors.open(KIND, query, cursor), Position)
        except msgspec.ValidationError:
            raise InvalidCursor from None

    async def _entries(self, hits: Sequence[Hit], members: Sequence[str]) -> list[dict[str, Any]]:
        records = await self._read_records([hit.item.iid for hit in hits]) if members else {}
        return [self._entry(hit) | members_of(records.get(hit.item.iid), members) for hit in hits]

    def _entry(self, hit: Hit) -> dict[str, Any]:
        return {
            **msgspec.structs.asdict(hit.item),
            "score": hit.score,
            "matched_on": hit.matched_on,
            "all_words": hit.all_words,
            "links": {"self": f"{self._base_url}/index/lookup/{hit.item.iid}"},
        }


def _repeated(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what the answer repeats of the parameters: of filters that came later only those that were sent."""
    sent = {name: value for name, value in asked.items() if name != "cursor" and value != _DEFAULTS[name]}
    sent = {
        _ALL_FIELDS[name].data_key or name: value.isoformat() if isinstance(value, date) else value
        for name, value in sent.items()
    }
    return {name: asked[name] for name in _WORDS_ALONE} | sent


def _search(asked: dict[str, Any], understood: Understood | None, after: Position | None) -> SearchQuery:
    """Return the question. Raises MissingParameter and InvalidParameter."""
    q, currency, low, high = (asked[name] for name in ("q", "currency", "price_min", "price_max"))
    if understood is not None and understood.currency is not None and (currency, low, high) == (None, None, None):
        q, currency, low, high = understood.q, understood.currency, understood.price_min, understood.price_max
    bound = "price_min" if low is not None else "price_max" if high is not None else None
    priced = "sort" if asked["sort"] in ("price", "unit_price") else bound
    if priced is not None and currency is None:
        raise MissingParameter("currency", f"is required with `{priced}`")
    if begins_iid(q) and (asked["facets"] or asked["sort"] != "relevance"):
        raise InvalidParameter("facets" if asked["facets"] else "sort", "cannot be combined with an IID in `q`")
    price_min, price_max = _minor(low, currency), _minor(high, currency)
    if price_min is not None and price_max is not None and price_min > price_max:
        raise InvalidParameter("price_min", "must not be above `price_max`", low)
    as_asked = ("limit", "brand", "category", "product_type", "channel", "sort", "verbatim")
    return SearchQuery(
        **{name: asked[name] for name in as_asked},
        q=q,
        currency=currency,
        price_min=price_min,
        price_max=price_max,
        seen_since=asked["seen_since"] and (asked["seen_since"] - _EPOCH).days,
        facets=tuple(asked["facets"]),
        after=after,
    )


def _minor(amount: float | str | None, currency: str | None) -> float | None:
    # The product of floats may be a billionth less than the amount in minor units, which it must equal.
    return None if amount is None or currency is None else round(float(amount) * 10 ** minor_digits(currency), 6)


def _meta(understood: Understood | None, unpriced: int | None) -> dict[str, Any] | None:
    remarks: dict[str, Any] = {} if understood is None else {"understood": understood}
    return remarks | ({} if unpriced is None else {"unpriced": unpriced}) or None


class Search:
    def __init__(self, answers: SearchAnswers) -> None:
        self._answers = answers

    @operation("index", "searchItems", SearchParameters, answers={200: (SearchList, "One page of hits")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Search items.

        Matches all words, in any order, in name, brand, product type and category. The beginning of the last word is
        enough, and typing errors are tolerated. If few items have all words, items with some of them follow, for a `q`
        of six words or more on the next page: `total.all_words` counts those with all words, and `all_words` of each
        hit states whether it does. A `q` that
        begins with `IID-` finds the items whose IID has this prefix. If `q` contains an identifier (a GTIN, an ISBN, a
        part number, a source's own number, a URL), its items come first. Only the first 16 words of `q` count; of a
        script without spaces between words, each pair of characters is a word. A bound of the price in one currency
        (`under 20 hkd`) is a filter, and a quantity (`1l`) is found in all its spellings: `meta.understood` states
        what was read, and `verbatim=true` refuses it. A page costs one unit, whatever is asked for.
        """
        response, until = await self._answers.make(request[QUERY])
        cacheable(request, response, until=until)
        return response

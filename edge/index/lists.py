"""GET /index/brands, /index/categories and /index/channels: lists of the index, each declared for one handler."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from aiohttp import web
from asyncpg import Record
from marshmallow import Schema

from edge import rules
from edge.http.answer_keeping import cacheable
from edge.http.lists import Paginator
from edge.http.parameters import QueryParameters
from edge.http.routing import API_PATH, Handler, Route, operation
from edge.http.validation import QUERY, Query
from edge.index.list_schemas import BrandList, BrandsQuery, CategoriesQuery, CategoryList, ChannelList, ChannelsQuery
from edge.storage.database import Database
from shared.clock import rfc3339
from shared.db.queries import load_queries
from shared.errors import InvalidParameter, UnknownTerm
from shared.index.identifiers import beginning_of_slug
from shared.text import fold

SQL = load_queries(__file__, "lists.sql")
_LIKE_WILDCARDS = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})

Key = tuple[Callable[[Record], object], ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """One list: how the document describes it, the statements that find its rows, and what an entry shows."""

    name: str
    operation: str
    summary: str
    description: str
    query: type[QueryParameters]
    reply: type[Schema]
    parameters: tuple[str, ...]
    """The parameters that a cursor is bound to."""
    arguments: Callable[[Query], tuple[object, ...]]
    """The arguments of both statements; those of the page are followed by the cursor's position and the limit."""
    page: Callable[[Query], tuple[str, Key]]
    """The statement of a page, and the parts of a row that the cursor holds."""
    total: str
    entry: Callable[[Record], dict[str, object]]


def routes(database: Database, lists: Paginator) -> tuple[Route, ...]:
    return tuple(
        Route("GET", f"{API_PATH}/index/{listing.name}", _handler(listing, database, lists), rules.free(listing.name))
        for listing in (_BRANDS, _CATEGORIES, _CHANNELS)
    )


def _handler(listing: Listing, database: Database, lists: Paginator) -> Handler:
    @operation(
        "index",
        listing.operation,
        listing.query,
        answers={200: (listing.reply, f"One page of {listing.name}")},
        summary=listing.summary,
        description=listing.description,
    )
    async def answer(request: web.Request) -> web.StreamResponse:
        requested = request[QUERY]
        query = {name: requested[name] for name in listing.parameters}
        arguments = listing.arguments(query)
        statement, key = listing.page(query)

        async def find(*after: object) -> tuple[Sequence[Record], int]:
            rows = await database.fetch(statement, *arguments, *after, query["limit"] + 1)
            [counted] = await database.fetch(listing.total, *arguments)
            if not counted.get("parent_exists", True):
                raise UnknownTerm("parent", "category", query["parent"])
            return rows, counted["total"]

        response = await lists.answer(listing.name, query, requested["cursor"], find, listing.entry, *key)
        cacheable(request, response)
        return response

    return answer


def beginning_of_name(text: str) -> str:
    """Return a text as the statements compare it with the beginning of names: folded, its wildcards as characters."""
    return fold(text).translate(_LIKE_WILDCARDS)


def _beginning(query: Query, compared: Callable[[str], str]) -> str | None:
    """Return `q` as it is compared. Raises InvalidParameter where nothing is left of it, with which all would begin."""
    if query["q"] is None:
        return None
    beginning = compared(query["q"])
    if not beginning:
        raise InvalidParameter("q", "must have a letter or a digit", query["q"])
    return beginning


def _folded_name(row: Record) -> str:
    return fold(row["name"])


def _items_first(row: Record) -> int:
    return -int(row["item_count"])


_BRAND_ORDERS: dict[str, tuple[str, Key]] = {
    "name": (SQL.brands, (_folded_name, itemgetter("id"))),
    "items": (SQL.brands_by_items, (_items_first, _folded_name, itemgetter("id"))),
}


_BRANDS = Listing(
    name="brands",
    operation="listBrands",
    summary="List the brands",
    description="Sorted by name, or with the most items first (`sort=items`). `q` narrows the list to "
    "names with this prefix, ignoring accents and case. Sorted by items, pages of one `data_version` never overlap.",
    query=BrandsQuery,
    reply=BrandList,
    parameters=("q", "sort", "limit"),
    arguments=lambda query: (_beginning(query, beginning_of_name),),
    page=lambda query: _BRAND_ORDERS[query["sort"]],
    total=SQL.brands_total,
    entry=lambda row: {**row, "updated_at": rfc3339(row["updated_at"])},
)


_CATEGORIES = Listing(
    name="categories",
    operation="listCategories",
    summary="List the categories",
    description="Sorted by code. `parent` selects the direct children of a category, `level=1` the "
    "top categories; `q` narrows the list to names with this prefix, ignoring accents and case.",
    query=CategoriesQuery,
    reply=CategoryList,
    parameters=("parent", "level", "q", "limit"),
    arguments=lambda query: (query["parent"], query["level"], _beginning(query, beginning_of_slug)),
    page=lambda query: (SQL.categories, (itemgetter("code"),)),
    total=SQL.categories_total,
    entry=dict,
)


_CHANNELS = Listing(
    name="channels",
    operation="listChannels",
    summary="List the channels",
    description="Sorted by code, the value of the `channel` parameter of reports; `q` narrows the list to "
    "codes with this prefix, ignoring case.",
    query=ChannelsQuery,
    reply=ChannelList,
    parameters=("q", "limit"),
    arguments=lambda query: (query["q"],),
    page=lambda query: (SQL.channels, (itemgetter("code"),)),
    total=SQL.channels_total,
    entry=dict,
)

"""GET /index/brands: the brands, by name or by their number of items."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from aiohttp import web
from aiohttp_apispec import docs, querystring_schema, response_schema

from edge.http.answer_keeping import offer
from edge.http.lists import Paginator
from edge.http.parameters import QUERY
from edge.index import schemas
from edge.storage.database import Database
from shared.clock import rfc3339
from shared.db.queries import beside
from shared.text import fold

SQL = beside(__file__, "brands.sql")
KIND = "brands"
_LIKE_WILDCARDS = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})


class Brands:
    """The handler."""

    def __init__(self, database: Database, lists: Paginator) -> None:
        self._database = database
        self._lists = lists

    @docs(
        operationId="listBrands",
        summary="List the brands",
        description="In the order of their names, or with the most items first (`sort=items`). `q` narrows the list to "
        "names with this prefix, accents and case folded. Pages by items never overlap within one `data_version`.",
        tags=["index"],
    )
    @querystring_schema(schemas.BrandsQuery())
    @response_schema(schemas.BrandList(), 200, description="One page of brands")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        requested: dict[str, Any] = request[QUERY]
        query = {"q": requested["q"], "sort": requested["sort"], "limit": requested["limit"]}
        prefix = beginning_of_name(query["q"]) if query["q"] else None
        statement, key = _SORTS[query["sort"]]
        find = partial(self._find, statement, prefix, query["limit"])
        response = await self._lists.answer(KIND, query, requested["cursor"], find, _entry, *key)
        offer(request, response)
        return response

    async def _find(self, statement: str, prefix: str | None, limit: int, *after: Any) -> tuple[Sequence[Any], int]:
        rows = await self._database.fetch(statement, prefix, *after, limit + 1)
        [counted] = await self._database.fetch(SQL.total, prefix)
        return rows, counted["total"]


def beginning_of_name(text: str) -> str:
    """Return a text as the statements compare it with the beginning of names: folded, its wildcards as characters."""
    return fold(text).translate(_LIKE_WILDCARDS)


def _folded_name(row: Any) -> str:
    return fold(row["name"])


def _items_first(row: Any) -> int:
    return -int(row["item_count"])


# By each `sort` the statement of a page, and the parts of a row that the cursor holds.
_SORTS: dict[str, tuple[str, tuple[Callable[[Any], Any], ...]]] = {
    "name": (SQL.page, (_folded_name, itemgetter("id"))),
    "items": (SQL.page_by_items, (_items_first, _folded_name, itemgetter("id"))),
}


def _entry(row: Any) -> dict[str, Any]:
    first_seen_on = row["first_seen_on"]
    return {
        "id": row["id"],
        "name": row["name"],
        "slug": row["slug"],
        "item_count": row["item_count"],
        "top_categories": row["top_categories"],
        "channels": row["channels"],
        "first_seen_on": first_seen_on.isoformat() if first_seen_on else None,
        "updated_at": rfc3339(row["updated_at"]),
    }

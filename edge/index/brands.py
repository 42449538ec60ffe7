"""GET /index/brands: the brands in the order of their names."""

from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from aiohttp import web
from aiohttp_apispec import docs, querystring_schema, response_schema

from edge.http.lists import Paginator
from edge.http.parameters import QUERY
from edge.index import schemas
from edge.storage.database import Database
from shared.clock import rfc3339
from shared.db.queries import beside
from shared.search.text import fold

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
        description="In the order of their names; `q` narrows to names that begin so, accents and case folded.",
        tags=["index"],
    )
    @querystring_schema(schemas.BrandsQuery())
    @response_schema(schemas.BrandList(), 200, description="One page of brands")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        asked: dict[str, Any] = request[QUERY]
        query = {"q": asked["q"], "limit": asked["limit"]}
        prefix = fold(query["q"]).translate(_LIKE_WILDCARDS) if query["q"] else None
        find = partial(self._find, prefix, query["limit"])
        return await self._lists.answer(KIND, query, asked["cursor"], find, _entry, _folded_name, itemgetter("id"))

    async def _find(
        self, prefix: str | None, limit: int, after_name: str | None, after_id: int | None
    ) -> tuple[Sequence[Any], int]:
        rows = await self._database.fetch(SQL.page, prefix, after_name, after_id, limit + 1)
        [counted] = await self._database.fetch(SQL.total, prefix)
        return rows, counted["total"]


def _folded_name(row: Any) -> str:
    return fold(row["name"])


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

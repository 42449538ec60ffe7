"""GET /index/categories: the tree of categories, level by level or as a flat list, with counts."""

from collections.abc import Sequence
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
from shared.db.queries import beside
from shared.errors import InvalidParameter
from shared.index.slugs import beginning_of_slug

SQL = beside(__file__, "categories.sql")
KIND = "categories"


class Categories:
    """The handler."""

    def __init__(self, database: Database, lists: Paginator) -> None:
        self._database = database
        self._lists = lists

    @docs(
        operationId="listCategories",
        summary="List the categories",
        description="In the order of their codes. `parent` selects the direct children of a category, `level=1` the "
        "top categories; `q` narrows the list to names with this prefix, accents and case folded.",
        tags=["index"],
    )
    @querystring_schema(schemas.CategoriesQuery())
    @response_schema(schemas.CategoryList(), 200, description="One page of categories")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        requested: dict[str, Any] = request[QUERY]
        query = {name: requested[name] for name in ("parent", "level", "q", "limit")}
        prefix = beginning_of_slug(query["q"]) if query["q"] else None
        if prefix == "":
            raise InvalidParameter("q", "must have a letter or a digit", query["q"])
        find = partial(self._find, query["parent"], query["level"], prefix, query["limit"])
        response = await self._lists.answer(KIND, query, requested["cursor"], find, _entry, itemgetter("code"))
        offer(request, response)
        return response

    async def _find(
        self, parent: str | None, level: int | None, prefix: str | None, limit: int, after: str | None
    ) -> tuple[Sequence[Any], int]:
        rows = await self._database.fetch(SQL.page, parent, level, prefix, after, limit + 1)
        [counted] = await self._database.fetch(SQL.total, parent, level, prefix)
        if not counted["parent_exists"]:
            raise InvalidParameter("parent", "is not a known category; see /v1/index/categories", parent)
        return rows, counted["total"]


def _entry(row: Any) -> dict[str, Any]:
    return {
        "code": row["code"],
        "name": row["path"][-1],
        "path": row["path"],
        "parent": row["parent"],
        "level": row["level"],
        "item_count": row["item_count"],
        "item_count_total": row["item_count_total"],
        "children": row["children"],
    }

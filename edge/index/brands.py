"""GET /index/brands: the brands in the order of their names."""

from typing import Any

from aiohttp import web
from aiohttp_apispec import docs, querystring_schema, response_schema

from edge.cache.versions import DataVersion
from edge.http.cursors import Cursors
from edge.http.envelope import envelope
from edge.http.parameters import QUERY
from edge.index import schemas
from edge.store.database import Database
from shared.clock import rfc3339
from shared.db.queries import beside
from shared.errors import InvalidCursor
from shared.search.text import fold

SQL = beside(__file__, "brands.sql")
KIND = "brands"
_LIKE_WILDCARDS = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})


class Brands:
    """The handler."""

    def __init__(self, database: Database, version: DataVersion, cursors: Cursors) -> None:
        self._database = database
        self._version = version
        self._cursors = cursors

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
        after: tuple[str | None, int | None] = (None, None)
        if asked["cursor"] is not None:
            position = self._cursors.open(KIND, query, asked["cursor"])
            if len(position) != 2:
                raise InvalidCursor
            after = (position[0], position[1])
        prefix = fold(query["q"]).translate(_LIKE_WILDCARDS) if query["q"] else None
        rows = await self._database.fetch(SQL.page, prefix, *after, query["limit"] + 1)
        total = await self._database.fetch_row(SQL.total, prefix)
        page, more = rows[: query["limit"]], len(rows) > query["limit"]
        last = page[-1] if page else None
        cursor = self._cursors.seal(KIND, query, [fold(last["name"]), last["id"]]) if more and last else None
        return envelope(
            [_entry(row) for row in page],
            total=total["total"] if total else 0,
            exact=True,
            next_cursor=cursor,
            query=query,
            data_version=self._version.current,
        )


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

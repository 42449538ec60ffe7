"""GET /index/channels: where items were seen, how often, and until when."""

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

SQL = beside(__file__, "channels.sql")
KIND = "channels"


class Channels:
    """The handler."""

    def __init__(self, database: Database, lists: Paginator) -> None:
        self._database = database
        self._lists = lists

    @docs(
        operationId="listChannels",
        summary="List the channels",
        description="In the order of their codes, which the `channel` parameter of the reports takes; `q` narrows to "
        "codes with this prefix, case folded.",
        tags=["index"],
    )
    @querystring_schema(schemas.ChannelsQuery())
    @response_schema(schemas.ChannelList(), 200, description="One page of channels")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        requested: dict[str, Any] = request[QUERY]
        query = {"q": requested["q"], "limit": requested["limit"]}
        find = partial(self._find, query["q"], query["limit"])
        response = await self._lists.answer(KIND, query, requested["cursor"], find, _entry, itemgetter("code"))
        offer(request, response)
        return response

    async def _find(self, prefix: str | None, limit: int, after: str | None) -> tuple[Sequence[Any], int]:
        rows = await self._database.fetch(SQL.page, prefix, after, limit + 1)
        [counted] = await self._database.fetch(SQL.total, prefix)
        return rows, counted["total"]


def _entry(row: Any) -> dict[str, Any]:
    last_seen_on = row["last_seen_on"].isoformat()
    return {"code": row["code"], "observations": row["observations"], "last_seen_on": last_seen_on}

"""GET /index/lookup/{iid}: one record."""

from collections.abc import Sequence

from aiohttp import web
from aiohttp_apispec import docs, match_info_schema, response_schema

from edge.http.conditional import none_match
from edge.http.parameters import PATH
from edge.index import record, schemas
from edge.index.records import Record, RecordCache
from edge.storage.database import Database
from shared.db.queries import beside
from shared.errors import ItemMerged, ItemMistyped, ItemNotFound
from shared.ids import is_mistyped

SQL = beside(__file__, "record.sql")
CACHE_CONTROL = "private, max-age=60"


class RecordLoader:
    """Reads records from PostgreSQL, for `RecordCache`."""

    def __init__(self, database: Database, base_url: str) -> None:
        self._database = database
        self._base_url = base_url

    async def __call__(self, iids: Sequence[str]) -> dict[str, Record]:
        """Return what each canonical IID leads to, in one query. Raises StoreUnavailable."""
        rows = {row["iid"]: row for row in await self._database.fetch(SQL.records, list(iids))}
        return {iid: record.make(dict(rows[iid]), self._base_url) if iid in rows else record.ABSENT for iid in iids}


class Lookup:
    """The handler."""

    def __init__(self, records: RecordCache, base_url: str) -> None:
        self._records = records
        self._base_url = base_url

    @docs(
        operationId="lookupItem",
        summary="Look one item up by its IID",
        description="Everything that the index knows about one item. Lower case is accepted. A merged IID redirects to "
        "its survivor.",
        tags=["index"],
        responses={
            "301": {"description": "Location names the item that it was merged into."},
            "304": {"description": "Your copy is current."},
        },
    )
    @match_info_schema(schemas.IidPath())
    @response_schema(schemas.Item(), 200, description="The record")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one record, or 304 when the caller has it."""
        iid: str = request[PATH]["iid"]
        try:
            record = (await self._records.find(iid)).or_raise()
        except ItemMerged as merged:
            raise web.HTTPMovedPermanently(f"{self._base_url}/index/lookup/{merged.survivor}") from None
        except ItemNotFound:
            raise (ItemMistyped if is_mistyped(iid) else ItemNotFound) from None
        return answer(record, request.headers.get("If-None-Match"))


def answer(record: Record, if_none_match: str | None, address: str | None = None) -> web.Response:
    """Make the answer for a record, which has an address of its own where it was asked for otherwise.

    The fast path makes the same one, byte for byte.
    """
    fields: dict[str, str] = {"Cache-Control": CACHE_CONTROL}
    if address is not None:
        fields["Content-Location"] = address
    fields["ETag"] = record.etag
    if none_match(if_none_match, record.etag):
        return web.Response(status=304, headers=fields)
    return web.Response(body=record.body, content_type="application/json", headers=fields)

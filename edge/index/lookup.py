"""GET /index/lookup/{iid}: one record. GET /index/lookup?iid=…: many, each with its own status."""

from collections.abc import Mapping
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, match_info_schema, querystring_schema, response_schema

from edge.http.conditional import none_match
from edge.http.context import CONTEXT
from edge.http.parameters import PATH, QUERY
from edge.http.problems import Problem, problem_of
from edge.index import record, schemas
from edge.index.records import Record, RecordCache
from edge.storage.database import Database
from shared.db.queries import beside
from shared.errors import InvalidIid, InvalidParameter, ItemIndexError, ItemMerged, ItemMistyped, ItemNotFound
from shared.ids import canonical_iid, is_mistyped

SQL = beside(__file__, "record.sql")
CACHE_CONTROL = "private, max-age=60"
IIDS_PER_UNIT = 10
_ENCODER = msgspec.json.Encoder()


class RecordLoader:
    """Reads one record from PostgreSQL: what `RecordCache` asks when nobody nearer knows."""

    def __init__(self, database: Database, base_url: str) -> None:
        self._database = database
        self._base_url = base_url

    async def __call__(self, iid: str) -> Record:
        """Return what a canonical IID leads to."""
        row = await self._database.fetch_row(SQL.record, iid)
        return record.make(dict(row), self._base_url) if row else record.ABSENT


class Lookup:
    """The handlers."""

    def __init__(self, records: RecordCache, base_url: str) -> None:
        self._records = records
        self._base_url = base_url

    @docs(
        operationId="lookupItem",
        summary="Look one item up by its IID",
        description="All the index knows of one item. Lower case is accepted. A merged IID redirects to its survivor.",
        tags=["index"],
        responses={
            "301": {"description": "The item was merged; Location names the survivor."},
            "304": {"description": "Your copy is current."},
        },
    )
    @match_info_schema(schemas.IidPath())
    @response_schema(schemas.Record(), 200, description="The record")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one record, or 304 when the caller has it."""
        iid: str = request[PATH]["iid"]
        try:
            found = (await self._records.find(iid)).or_raise()
        except ItemMerged as merged:
            raise web.HTTPMovedPermanently(f"{self._base_url}/index/lookup/{merged.survivor}") from None
        except ItemNotFound:
            raise (ItemMistyped if is_mistyped(iid) else ItemNotFound) from None
        return answer(found, request.headers.get("If-None-Match"))

    @docs(
        operationId="lookupItems",
        summary="Look many items up in one call",
        description="Up to 100 IIDs (Brand) or 1,000 (Institutional), each with its own status. One unit for each ten.",
        tags=["index"],
    )
    @querystring_schema(schemas.IidList())
    @response_schema(schemas.LookupList(), 200, description="One entry for each IID, in the order asked")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one entry for each IID asked."""
        asked: list[str] = request[QUERY]["iid"]
        entries = [await self._entry(text) for text in asked]
        body = b'{"data":[' + b",".join(entries) + b'],"count":%d}' % len(entries)
        return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})

    async def _entry(self, text: str) -> bytes:
        try:
            iid = canonical_iid(text)
            if iid is None:
                raise InvalidIid
            found = (await self._records.find(iid)).or_raise()
        except ItemMerged as merged:
            return _ENCODER.encode(
                {"iid": iid, "status": 301, "record": None, "survivor": merged.survivor, "problem": None}
            )
        except ItemIndexError as error:
            return _ENCODER.encode(
                {"iid": text[:80], "status": _status(error), "record": None, "survivor": None, "problem": _slug(error)}
            )
        head = _ENCODER.encode({"iid": iid, "status": 200, "survivor": None, "problem": None})
        return head[:-1] + b',"record":' + found.body + b"}"


def batch_units(request: web.Request) -> int:
    """Return what a batch lookup costs; raise InvalidParameter where the plan does not allow so many IIDs."""
    asked: list[str] = request[QUERY]["iid"]
    principal = request[CONTEXT].principal
    assert principal is not None
    if len(asked) > principal.plan.batch_iids_max:
        raise InvalidParameter("iid", f"{principal.plan.batch_iids_max} at most with the plan {principal.plan.title}")
    return -(-len(asked) // IIDS_PER_UNIT)


def answer(found: Record, if_none_match: str | None) -> web.Response:
    """Make the answer for a record. The fast lane makes the same one, byte for byte."""
    fields: Mapping[str, Any] = {"Cache-Control": CACHE_CONTROL, "ETag": found.etag}
    if none_match(if_none_match, found.etag):
        return web.Response(status=304, headers=fields)
    return web.Response(body=found.body, content_type="application/json", headers=fields)


def _problem(error: ItemIndexError) -> Problem:
    known = problem_of(error)
    return known or Problem("internal-error", "")


def _status(error: ItemIndexError) -> int:
    return _problem(error).type.status


def _slug(error: ItemIndexError) -> str:
    return _problem(error).type.slug

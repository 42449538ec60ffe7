"""POST and GET /index/exports, GET and DELETE /index/exports/{id}, GET …/files/{file}."""

from functools import partial
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, json_schema, match_info_schema, querystring_schema, response_schema

from edge.exports import estimates, schemas
from edge.exports.repository import ExportRepository
from edge.exports.serializers import ExportSerializer, signed_of
from edge.exports.service import ExportRequest, ExportService
from edge.http import idempotency_key
from edge.http.context import CONTEXT
from edge.http.lists import Paginator
from edge.http.parameters import BODY, PATH, QUERY, LinkQuery
from edge.http.problems import Problem
from edge.http.signed_urls import Link, SignedUrls
from edge.jobs.handlers import organization_of
from edge.jobs.service import Charge
from edge.quota.limiter import RateLimiter
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import Database
from shared.accounts import Principal
from shared.errors import ResultGone, StoreUnavailable
from shared.jobs.contract import EXPORT

KIND = "exports"
BOOKING: web.RequestKey[ExportRequest] = web.RequestKey("booking", ExportRequest)
_TAGS = ["exports"]
_RETRY_SECONDS = 2
_FILE_KINDS = [
    "application/vnd.apache.parquet",
    "application/vnd.apache.arrow.stream",
    "text/csv",
    "application/x-ndjson",
    "application/gzip",
    "application/zstd",
]


_PARTS = {
    "200": {"description": "The file"},
    "206": {"description": "The part that `Range` asks for."},
    "304": {"description": "Your copy is current."},
}


class Exports:
    """The handlers."""

    def __init__(
        self,
        database: Database,
        desk: ExportService,
        shelf: ExportRepository,
        meter: RateLimiter,
        documents: ExportSerializer,
        links: SignedUrls,
        lists: Paginator,
        version: DataVersionWatcher,
        rank_min: int,
    ) -> None:
        self._database = database
        self._desk = desk
        self._shelf = shelf
        self._meter = meter
        self._documents = documents
        self._links = links
        self._lists = lists
        self._version = version
        self._rank_min = rank_min

    async def units(self, request: web.Request) -> int:
        """Return what a request costs; whoever repeats one under its key, or only asks, pays nothing."""
        booking = await self._desk.book(_principal(request), request[BODY], idempotency_key.idempotency_key_of(request))
        request[BOOKING] = booking
        free = booking.replayed is not None or request[QUERY]["dry_run"] or request[QUERY]["preview"]
        return 0 if free else EXPORT.units

    @docs(
        operationId="createExport",
        summary="Order an export",
        description="Repeat a request under the same `Idempotency-Key` as often as you like: it is one export, paid "
        "once. `dry_run` and `preview` say what it would be and cost nothing.",
        tags=_TAGS,
        parameters=[idempotency_key.PARAMETER],
    )
    @querystring_schema(schemas.NewExportQuery())
    @json_schema(schemas.NewExport())
    @response_schema(schemas.Export(), 202, description="The export's job; `Location` is its address")
    @response_schema(schemas.ExportEstimate(), 200, description="With `dry_run` or `preview`")
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Place the order, or say what it would be."""
        if request[QUERY]["dry_run"] or request[QUERY]["preview"]:
            parameters, with_rows = request[BOOKING].parameters, request[QUERY]["preview"]
            return _json(await estimates.offer(self._database, parameters, self._version.current, with_rows=with_rows))
        order_id = request[BOOKING].replayed or await self._place(request)
        order = await self._shelf.find(organization_of(request), order_id)
        fields = {"Location": self._documents.url(order.id), "Retry-After": str(_RETRY_SECONDS)}
        return _json(self._documents.make(order, organization_of(request)), 202, fields)

    @docs(
        operationId="listExports",
        summary="List your organization's exports",
        description="The newest first.",
        tags=_TAGS,
    )
    @querystring_schema(schemas.ExportsQuery())
    @response_schema(schemas.ExportList(), 200, description="One page of exports")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        asked: dict[str, Any] = request[QUERY]
        query = {name: asked[name] for name in ("state", "limit")}
        find = partial(self._shelf.listed, organization_of(request), query["state"], query["limit"])
        entry = self._documents.listed
        response = await self._lists.answer(KIND, query, asked["cursor"], find, entry, lambda order: order.id)
        response.headers["Cache-Control"] = "no-store"
        return response

    @docs(
        operationId="getExport",
        summary="How is an export doing, and what are its files?",
        tags=_TAGS,
        description="The job, and when it has succeeded the manifest. 410 when its time is over.",
    )
    @match_info_schema(schemas.ExportPath())
    @response_schema(schemas.Export(), 200, description="The export")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the export as it is now."""
        order = await self._shelf.find(organization_of(request), request[PATH]["id"])
        if order.state == "expired":
            raise ResultGone(order.id)
        return _json(self._documents.make(order, organization_of(request)))

    @docs(
        operationId="endExport",
        summary="Cancel an export, or delete its files",
        tags=_TAGS,
        description="One that is under way is cancelled and costs nothing. Of one that is done the files are "
        "deleted. Twice is no error.",
        responses={"204": {"description": "It has ended"}},
    )
    @match_info_schema(schemas.ExportPath())
    async def end(self, request: web.Request) -> web.StreamResponse:
        """Cancel what is under way, let go what is there."""
        await self._shelf.end(organization_of(request), request[PATH]["id"])
        return web.Response(status=204)

    @docs(
        operationId="getExportFile",
        summary="Download a file of an export",
        description="With strong ETag, `Range`, `If-Range` and `Repr-Digest`. Costs nothing.",
        tags=_TAGS,
        produces=_FILE_KINDS,
        responses=_PARTS,
    )
    @match_info_schema(schemas.FilePath())
    async def file(self, request: web.Request) -> web.StreamResponse:
        """Send a file that the manifest names."""
        path = request[PATH]
        return await self._shelf.send(request, organization_of(request), path["id"], path["file"])

    @docs(
        operationId="getSignedExportFile",
        summary="Download a file of an export by its signed address",
        description="Needs no other credential, takes ranges, and works until the address expires.",
        tags=_TAGS,
        produces=_FILE_KINDS,
        responses=_PARTS,
    )
    @match_info_schema(schemas.FilePath())
    @querystring_schema(LinkQuery())
    async def signed(self, request: web.Request) -> web.StreamResponse:
        """Send a file to who has a link that we made, while its time lasts and its organization may read."""
        path, link = request[PATH], Link(**request[QUERY])
        if not self._links.holds(link, signed_of(path["id"], path["file"])):
            raise Problem("invalid-signature", "The address was changed. Read the export again.")
        if link.expires <= self._documents.now():
            raise Problem("expired-signature", "The address was good for its time. Read the export again.")
        if await self._shelf.rank_of(link.organization) < self._rank_min:
            raise Problem("invalid-signature", "The organization of the address may not read it any more.")
        return await self._shelf.send(request, link.organization, path["id"], path["file"])

    async def _place(self, request: web.Request) -> str:
        context = request[CONTEXT]
        assert context.account is not None
        charge = Charge(context.account, context.charge_id, context.charged_day, context.charged_units)
        try:
            order_id, new = await self._desk.place(
                _principal(request), request[BOOKING], charge, context.step.traceparent
            )
        except StoreUnavailable:
            # It may or may not have been placed: given back now, so that a later refund gives nothing.
            context.charge, context.units = "kept", 0
            if charge.units:
                await self._meter.settle(charge.account, charge.charge_id, charge.day, charge.units)
            raise
        context.charge = "kept" if new else "returned"
        return order_id


def _principal(request: web.Request) -> Principal:
    principal = request[CONTEXT].principal
    assert principal is not None
    return principal


def _json(document: dict[str, Any], status: int = 200, fields: dict[str, str] | None = None) -> web.Response:
    body = msgspec.json.encode(document)
    head = {"Cache-Control": "no-store", **(fields or {})}
    return web.Response(status=status, body=body, content_type="application/json", headers=head)

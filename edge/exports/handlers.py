"""POST and GET /index/exports, GET and DELETE /index/exports/{id}, GET …/files/{file}."""

from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, json_schema, match_info_schema, querystring_schema, response_schema

from edge.cache.versions import DataVersion
from edge.exports import estimates, schemas
from edge.exports.booking import BOOKING, SQL, Booking, BookingDesk
from edge.exports.document import ExportDocuments
from edge.http.cursors import Cursors
from edge.http.envelope import envelope
from edge.http.parameters import PATH, QUERY
from edge.http.problems import Problem
from edge.jobs.handlers import organization_of
from edge.jobs.orders import Order, Orders
from edge.results.download import Downloads, StoredFile
from edge.store.database import Database
from shared.errors import InvalidCursor, JobNotFound, ResultGone
from shared.exports.manifest import described
from shared.exports.request import Request
from shared.jobs.contract import EXPORT
from shared.releases.datasets import DATASETS

KIND = "exports"
_TAGS = ["exports"]
_RETRY_SECONDS = 2
_FILE_KINDS = [
    "application/vnd.apache.parquet", "application/vnd.apache.arrow.stream", "text/csv", "application/x-ndjson",
    "application/gzip", "application/zstd",
]  # fmt: skip


class Exports:
    """The handlers."""

    def __init__(
        self, database: Database, desk: BookingDesk, orders: Orders, documents: ExportDocuments, downloads: Downloads,
        cursors: Cursors, version: DataVersion,
    ) -> None:  # fmt: skip
        self._database = database
        self._desk = desk
        self._orders = orders
        self._documents = documents
        self._downloads = downloads
        self._cursors = cursors
        self._version = version

    async def units(self, request: web.Request) -> int:
        """Return what an order costs."""
        return await self._desk.units(request)

    @docs(
        operationId="createExport",
        summary="Order an export",
        description="Repeat a request under the same `Idempotency-Key` as often as you like: it is one export, paid "
        "once. `dry_run` and `preview` say what it would be and cost nothing.",
        tags=_TAGS,
        parameters=[{"in": "header", "name": "Idempotency-Key", "schema": {"type": "string"}, "required": False}],
    )
    @querystring_schema(schemas.NewExportQuery())
    @json_schema(schemas.NewExport())
    @response_schema(schemas.Export(), 202, description="The export's job; `Location` is its address")
    @response_schema(schemas.ExportEstimate(), 200, description="With `dry_run` or `preview`")
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Place the order, or say what it would be."""
        if request[QUERY]["dry_run"] or request[QUERY]["preview"]:
            return await self._estimate(request[BOOKING], with_rows=request[QUERY]["preview"])
        order_id = await self._desk.place(request)
        order = await self._find(organization_of(request), order_id)
        fields = {"Location": self._documents.url(order.id), "Retry-After": str(_RETRY_SECONDS)}
        return _json(self._documents.make(order), 202, fields)

    @docs(operationId="listExports", summary="List your organization's exports", description="The newest first.",
          tags=_TAGS)  # fmt: skip
    @querystring_schema(schemas.ExportsQuery())
    @response_schema(schemas.ExportList(), 200, description="One page of exports")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        asked: dict[str, Any] = request[QUERY]
        query = {name: asked[name] for name in ("state", "limit")}
        after = self._cursors.open(KIND, query, asked["cursor"]) if asked["cursor"] else [None]
        if len(after) != 1:
            raise InvalidCursor
        organization, limit = organization_of(request), query["limit"]
        found, total = await self._orders.list(organization, query["state"], EXPORT.name, after[0], limit)
        page = found[:limit]
        response = envelope(
            [self._documents.listed(order) for order in page],
            total=total,
            exact=True,
            next_cursor=self._cursors.seal(KIND, query, [page[-1].id]) if len(found) > limit else None,
            query=query,
            data_version=self._version.current,
        )
        response.headers["Cache-Control"] = "no-store"
        return response

    @docs(operationId="getExport", summary="How is an export doing, and what are its files?", tags=_TAGS,
          description="The job, and when it has succeeded the manifest. 410 when its time is over.")  # fmt: skip
    @match_info_schema(schemas.ExportPath())
    @response_schema(schemas.Export(), 200, description="The export")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the export as it is now."""
        order = await self._find(organization_of(request), request[PATH]["id"])
        if order.state == "expired":
            raise ResultGone(order.id)
        return _json(self._documents.make(order))

    @docs(operationId="endExport", summary="Cancel an export, or delete its files", tags=_TAGS,
          description="One that is under way is cancelled and costs nothing. Of one that is done the files are "
          "deleted. Twice is no error.", responses={"204": {"description": "It has ended"}})  # fmt: skip
    @match_info_schema(schemas.ExportPath())
    async def end(self, request: web.Request) -> web.StreamResponse:
        """Cancel what is under way, let go what is there."""
        organization = organization_of(request)
        order = await self._find(organization, request[PATH]["id"])
        if not order.ended:
            try:
                await self._orders.cancel(organization, order.id)
            except Problem:  # it came to its end in this very moment
                order = await self._find(organization, order.id)
        if order.state == "succeeded":
            await self._database.fetch(SQL.ended, order.job_id, organization)
        return web.Response(status=204)

    @docs(
        operationId="getExportFile",
        summary="Download a file of an export",
        description="With strong ETag, `Range`, `If-Range` and `Repr-Digest`. Costs nothing.",
        tags=_TAGS,
        produces=_FILE_KINDS,
        responses={
            "200": {"description": "The file"},
            "206": {"description": "The part that `Range` asks for."},
            "304": {"description": "Your copy is current."},
        },
    )
    @match_info_schema(schemas.FilePath())
    async def file(self, request: web.Request) -> web.StreamResponse:
        """Send a file that the manifest names."""
        order = await self._find(organization_of(request), request[PATH]["id"])
        if order.state == "expired":
            raise ResultGone(order.id)
        manifest = order.export
        found = manifest.file(request[PATH]["file"]) if manifest else None
        if manifest is None or found is None:
            raise Problem("export-not-found", "The export has no file of this name (yet).")
        stored = StoredFile(found.key, found.bytes, found.sha256, manifest.media_type, found.name)
        try:
            return await self._downloads.answer(request, stored)
        except ResultGone:
            await self._orders.lose(order.job_id)
            raise

    async def _find(self, organization: str | None, order_id: str) -> Order:
        """Return an export. Another organization's, and a job that is none, are not there."""
        try:
            order = await self._orders.find(organization, order_id)
        except JobNotFound:
            order = None
        if order is None or order.row["kind"] != EXPORT.name:
            raise Problem("export-not-found", "There is no such export in your organization.")
        return order

    async def _estimate(self, booking: Booking, *, with_rows: bool) -> web.Response:
        request = Request.read(booking.parameters)
        scope = await estimates.scope_in(self._database, request)
        found = await estimates.estimate(self._database, request, scope)
        document = {
            "cost_units": EXPORT.units,
            "rows": found.rows,
            "rows_relation": found.relation,
            "data_version": self._version.current,
            "schema": described(DATASETS[request.dataset], request.columns),
            "request": booking.parameters,
            "preview": await estimates.preview(self._database, request, scope) if with_rows else None,
        }
        return _json(document)


def _json(document: dict[str, Any], status: int = 200, fields: dict[str, str] | None = None) -> web.Response:
    body = msgspec.json.encode(document)
    head = {"Cache-Control": "no-store", **(fields or {})}
    return web.Response(status=status, body=body, content_type="application/json", headers=head)

"""POST and GET /index/exports, GET and DELETE /index/exports/{id}, GET …/files/{file}."""

from functools import partial
from typing import Any

from aiohttp import web
from aiohttp_apispec import docs, json_schema, match_info_schema, querystring_schema, response_schema

from edge.bulk import schemas
from edge.bulk.export_service import ExportRepository, ExportRequest, ExportSerializer, ExportService, signed_of
from edge.http.context import CONTEXT, organization_of, principal_of
from edge.http.json import unstored_json
from edge.http.lists import Paginator
from edge.http.parameters import BODY, PATH, QUERY, LinkQuery
from edge.http.problems import Problem
from edge.http.signed_urls import Link, SignedUrls
from edge.quota.billing import Billing, Charge
from edge.storage import idempotency as idempotency_key
from shared.errors import ResultGone
from shared.jobs.contract import EXPORT
from shared.organizations.accounts import INSTITUTIONAL, Principal

KIND = "exports"
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
    "200": {"description": "File"},
    "206": {"description": "The requested range of the file"},
    "304": {"description": "Your copy is current."},
}


class Exports:
    """The handlers."""

    def __init__(
        self,
        exports: ExportService,
        repository: ExportRepository,
        billing: Billing,
        serializer: ExportSerializer,
        links: SignedUrls,
        lists: Paginator,
    ) -> None:
        self._exports = exports
        self._repository = repository
        self._billing = billing
        self._serializer = serializer
        self._links = links
        self._lists = lists

    @docs(
        operationId="createExport",
        summary="Create an export",
        description="Requests with the same `Idempotency-Key` create one export and are charged once. `dry_run` and "
        "`preview` are free and return an estimate.",
        tags=_TAGS,
        parameters=[idempotency_key.PARAMETER],
    )
    @querystring_schema(schemas.NewExportQuery())
    @json_schema(schemas.NewExport())
    @response_schema(schemas.Export(), 202, description="The export's job; `Location` is its address")
    @response_schema(schemas.ExportEstimate(), 200, description="The estimate, with `dry_run` or `preview`")
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Prepare, charge, respond; a dry run and a preview only estimate."""
        context, principal, query = request[CONTEXT], principal_of(request), request[QUERY]
        estimating = query["dry_run"] or query["preview"]
        if estimating:
            await self._billing.count_call(context)
        order = await self._exports.prepare(principal, request[BODY], idempotency_key.idempotency_key_of(request))
        if estimating:
            return unstored_json(await self._exports.estimate(order, with_rows=query["preview"]))
        charge = await self._billing.charge(context, 0 if order.replayed else EXPORT.units)
        return await charge.settle(self._submit(request, principal, order, charge))

    async def _submit(
        self, request: web.Request, principal: Principal, order: ExportRequest, charge: Charge
    ) -> web.StreamResponse:
        """Submit the order unless it is a repetition, and respond 202 with the export as it is."""
        order_id = order.replayed
        if order_id is None:
            submitting = self._exports.submit(principal, order, charge, request[CONTEXT].span.traceparent)
            order_id = (await charge.pay_for(submitting)).order_id
        export = await self._repository.find(principal.organization_id, order_id)
        headers = {"Location": self._serializer.url(export.id), "Retry-After": str(_RETRY_SECONDS)}
        return unstored_json(self._serializer.render(export, principal.organization_id), 202, headers)

    @docs(
        operationId="listExports",
        summary="List your organization's exports",
        description="Newest first.",
        tags=_TAGS,
    )
    @querystring_schema(schemas.ExportsQuery())
    @response_schema(schemas.ExportList(), 200, description="One page of exports")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        parameters: dict[str, Any] = request[QUERY]
        query = {name: parameters[name] for name in ("state", "limit")}
        find = partial(self._repository.listed, organization_of(request), query["state"], query["limit"])
        entry = self._serializer.listed
        response = await self._lists.answer(KIND, query, parameters["cursor"], find, entry, lambda order: order.id)
        response.headers["Cache-Control"] = "no-store"
        return response

    @docs(
        operationId="getExport",
        summary="State and files of an export",
        tags=_TAGS,
        description="The job, and the manifest once it has succeeded. 410 after the files have expired.",
    )
    @match_info_schema(schemas.ExportPath())
    @response_schema(schemas.Export(), 200, description="The export")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the export as it is now."""
        order = await self._repository.find(organization_of(request), request[PATH]["id"])
        if order.state == "expired":
            raise ResultGone(order.id)
        return unstored_json(self._serializer.render(order, organization_of(request)))

    @docs(
        operationId="endExport",
        summary="Cancel an export, or delete its files",
        tags=_TAGS,
        description="Cancels an unfinished export and refunds its charge, or deletes the files of a finished one. "
        "Repeating the call is not an error.",
        responses={"204": {"description": "The export is cancelled, or its files are deleted"}},
    )
    @match_info_schema(schemas.ExportPath())
    async def end(self, request: web.Request) -> web.StreamResponse:
        """Cancel an export that is under way, or delete the files of a finished one."""
        await self._repository.end(organization_of(request), request[PATH]["id"])
        return web.Response(status=204)

    @docs(
        operationId="getExportFile",
        summary="Download a file of an export",
        description="Supports `Range` and `If-Range`, with a strong ETag and `Repr-Digest`.",
        tags=_TAGS,
        produces=_FILE_KINDS,
        responses=_PARTS,
    )
    @match_info_schema(schemas.FilePath())
    async def file(self, request: web.Request) -> web.StreamResponse:
        """Send a file that the manifest names."""
        path = request[PATH]
        return await self._repository.send(request, organization_of(request), path["id"], path["file"])

    @docs(
        operationId="getSignedExportFile",
        summary="Download a file of an export by its signed URL",
        description="Needs no credential and supports ranges until the URL expires.",
        tags=_TAGS,
        produces=_FILE_KINDS,
        responses=_PARTS,
    )
    @match_info_schema(schemas.FilePath())
    @querystring_schema(LinkQuery())
    async def signed(self, request: web.Request) -> web.StreamResponse:
        """Send a file for a signed URL until it expires, if its organization may still read."""
        path, link = request[PATH], Link(**request[QUERY])
        if not self._links.holds(link, signed_of(path["id"], path["file"])):
            raise Problem("invalid-signature", "This signed URL was modified. Fetch the export again for a valid one.")
        if link.expires <= self._serializer.now():
            raise Problem("expired-signature", "This signed URL has expired. Fetch the export again to get a new one.")
        if await self._repository.rank_of(link.organization) < INSTITUTIONAL:
            raise Problem("invalid-signature", "The organization of this signed URL can no longer read exports.")
        return await self._repository.send(request, link.organization, path["id"], path["file"])

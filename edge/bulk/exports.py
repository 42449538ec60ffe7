"""The handlers of /index/exports."""

from functools import partial

from aiohttp import web

from edge.bulk import export_schemas, release_schemas
from edge.bulk.export_serializer import ExportSerializer, signed_text
from edge.bulk.export_service import ExportRequest, ExportService
from edge.bulk.signed_urls import LinkChecker, SignedLink
from edge.http.context import CONTEXT, organization_of, principal_of
from edge.http.json import unstored_json
from edge.http.lists import Paginator
from edge.http.parameters import LinkQuery
from edge.http.routing import operation
from edge.http.validation import BODY, PATH, QUERY
from edge.quota.billing import Billing, Charge
from edge.storage import idempotency as idempotency_key
from shared.errors import ResultGone
from shared.jobs.contract import EXPORT
from shared.organizations.accounts import Principal

KIND = "exports"
_RETRY_SECONDS = 2
_FILE_KINDS = [
    "application/vnd.apache.parquet",
    "application/vnd.apache.arrow.stream",
    "text/csv",
    "application/x-ndjson",
    "application/gzip",
    "application/zstd",
]
_operation = partial(operation, "exports")


class Exports:
    """The handlers."""

    def __init__(
        self,
        exports: ExportService,
        billing: Billing,
        serializer: ExportSerializer,
        links: LinkChecker,
        lists: Paginator,
    ) -> None:
        self._exports = exports
        self._billing = billing
        self._serializer = serializer
        self._links = links
        self._lists = lists

    @_operation(
        "createExport",
        export_schemas.NewExportQuery,
        export_schemas.NewExport,
        answers={
            200: (export_schemas.ExportEstimate, "The estimate, with `dry_run` or `preview`"),
            202: (export_schemas.Export, "The export's job; `Location` is its address"),
        },
        parameters=[idempotency_key.PARAMETER],
    )
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Create an export.

        Requests with the same `Idempotency-Key` create one export and are charged once. `dry_run` and `preview` are
        free and return an estimate.
        """
        context, principal, query = request[CONTEXT], principal_of(request), request[QUERY]
        estimating = query["dry_run"] or query["preview"]
        if estimating:
            await self._billing.count_call(context)
        order = await self._exports.prepare(principal, request[BODY], idempotency_key.idempotency_key_of(request))
        if estimating:
            return unstored_json(await self._exports.estimate(order, with_rows=query["preview"]))
        async with self._billing.charge(context, 0 if order.replayed else EXPORT.units) as charge:
            return charge.settle(await self._submit(request, principal, order, charge))

    async def _submit(
        self, request: web.Request, principal: Principal, order: ExportRequest, charge: Charge
    ) -> web.StreamResponse:
        """Submit the order unless it is a repetition, and respond 202 with the export as it is."""
        order_id = order.replayed
        if order_id is None:
            submitted = await self._exports.submit(principal, order, charge, request[CONTEXT].span.traceparent)
            order_id = submitted.order_id
        export = await self._exports.find(principal.organization_id, order_id)
        headers = {"Location": self._serializer.url(export.id), "Retry-After": str(_RETRY_SECONDS)}
        return unstored_json(self._serializer.render(export, principal.organization_id), 202, headers)

    @_operation(
        "listExports", export_schemas.ExportsQuery, answers={200: (export_schemas.ExportList, "One page of exports")}
    )
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List your organization's exports.

        Newest first.
        """
        parameters = request[QUERY]
        query = {name: parameters[name] for name in ("state", "limit")}
        find = partial(self._exports.list_exports, organization_of(request), query["state"], query["limit"])
        entry = self._serializer.list_entry
        response = await self._lists.answer(KIND, query, parameters["cursor"], find, entry, lambda order: order.id)
        response.headers["Cache-Control"] = "no-store"
        return response

    @_operation("getExport", export_schemas.ExportPath, answers={200: (export_schemas.Export, "The export")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """State and files of an export.

        The job, and the manifest once it has succeeded. 410 after the files have expired.
        """
        order = await self._exports.find(organization_of(request), request[PATH]["id"])
        if order.state == "expired":
            raise ResultGone(order.id)
        return unstored_json(self._serializer.render(order, organization_of(request)))

    @_operation(
        "endExport", export_schemas.ExportPath, answers={204: "The export is cancelled, or its files are deleted"}
    )
    async def end(self, request: web.Request) -> web.StreamResponse:
        """Cancel an export, or delete its files.

        Cancels an unfinished export and refunds its charge, or deletes the files of a finished one. Repeating the call
        is not an error.
        """
        await self._exports.end(organization_of(request), request[PATH]["id"])
        return web.Response(status=204)

    @_operation("getExportFile", export_schemas.FilePath, answers=release_schemas.FILE_ANSWERS, produces=_FILE_KINDS)
    async def file(self, request: web.Request) -> web.StreamResponse:
        """Download a file of an export.

        Supports `Range` and `If-Range`, with a strong ETag and `Repr-Digest`.
        """
        path = request[PATH]
        return await self._exports.send(request, organization_of(request), path["id"], path["file"])

    @_operation(
        "getSignedExportFile",
        export_schemas.FilePath,
        LinkQuery,
        answers=release_schemas.FILE_ANSWERS,
        produces=_FILE_KINDS,
    )
    async def signed_file(self, request: web.Request) -> web.StreamResponse:
        """Download a file of an export by its signed URL.

        Needs no credential and supports ranges until the URL expires.
        """
        path, link = request[PATH], SignedLink(**request[QUERY])
        await self._links.require(
            link, signed_text(path["id"], path["file"]), "Fetch the export again for a valid one."
        )
        return await self._exports.send(request, link.organization, path["id"], path["file"])

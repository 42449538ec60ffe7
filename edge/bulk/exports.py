"""/index/exports: exports of an organization, checked, estimated, submitted, listed, sent and ended."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import uuid4

import msgspec
from aiohttp import web

from edge.analytics.reports import unknown_names
from edge.bulk import schemas
from edge.bulk.downloads import FileResponder, Link, LinkChecker, SignedUrls, StoredFile
from edge.http.context import CONTEXT, organization_of, principal_of
from edge.http.json import unstored_json
from edge.http.lists import Paginator
from edge.http.parameters import BODY, PATH, QUERY, LinkQuery
from edge.http.problems import Fault, Problem, invalid_parameters, unknown
from edge.http.routing import operation
from edge.jobs.service import JobOrders, JobSerializer, JobSpec, Order, Repeatable, SubmittedOrder
from edge.quota.billing import Billing, Charge
from edge.quota.stored_exports import StoredExports
from edge.storage import idempotency as idempotency_key
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import Database, Scope
from shared.bulk.manifest import described, usual_compression
from shared.bulk.request import FORMULA_PREFIX, ID_END, JSON_COLUMNS, ROWS_SQL, Request, arguments, counting, scope_of
from shared.bulk.request import Scope as ReadScope
from shared.bulk.schema import CHANGES, LIST, RELEASED
from shared.clock import rfc3339, utc_now
from shared.db.queries import load_queries
from shared.errors import JobNotFound, ResultGone
from shared.jobs.contract import EXPORT
from shared.organizations.accounts import Principal

_COUNTED_MAX = 1_000_000
_PREVIEW_ROWS = 10


async def scope_in(database: Database, request: Request) -> ReadScope:
    """Return what a request means now."""
    named = await database.fetch_row(ROWS_SQL.named, request.brand, request.category, request.channel)
    months = None
    if request.since is not None:
        changed = await database.fetch_row(ROWS_SQL.months_since, request.since)
        assert changed is not None
        months = list(changed["months"]) if changed["known"] else None
    return scope_of(request, tuple(named or ()), months)


async def estimate(database: Database, request: Request, scope: ReadScope) -> tuple[int, str]:
    """Return how many rows: exactly (`eq`), at least (`gte`), or `about`, where counting would take too long."""
    if request.dataset in CHANGES:
        row = await database.fetch_row(ROWS_SQL.changes_count, request.dataset, request.since, request.until)
        assert row is not None
        return row["count"], "about"
    query, values = counting(request.dataset, scope, _COUNTED_MAX + 1)
    row = await database.fetch_row(query, *values)
    assert row is not None
    if request.dataset == "observations":
        return row["count"], "about"
    return min(row["count"], _COUNTED_MAX), "gte" if row["count"] > _COUNTED_MAX else "eq"


async def preview(database: Database, request: Request, scope: ReadScope) -> list[dict[str, Any]]:
    """Return ten rows as NDJSON would have them; none of changes, which are computed first."""
    if request.dataset in CHANGES:
        return []
    query = getattr(ROWS_SQL, request.dataset)
    listed = ", ".join(f'"{name}"' for name in request.columns)
    lists = {column.name for column in RELEASED[request.dataset].columns if column.type == LIST}
    values = arguments(request.dataset, scope, 0, ID_END)
    few = f"SELECT {listed} FROM ({query}) r LIMIT {_PREVIEW_ROWS}"  # noqa: S608 - names of declared columns only
    rows = await database.fetch(few, *values)
    return [{name: _plain(value, name, lists) for name, value in row.items()} for row in rows]


def _plain(value: Any, name: str, lists: set[str]) -> Any:
    if name in lists:
        return value.split("\x1f") if value else []
    if value is None:
        return None
    if name in JSON_COLUMNS:
        return json.loads(value)
    if isinstance(value, datetime):
        return rfc3339(value)
    return str(value) if isinstance(value, date | Decimal) else value


SQL = load_queries(__file__, "exports.sql")


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The order of one request: canonical parameters, what it may be repeated by, and the order that it repeats."""

    parameters: dict[str, Any]
    repeatable: Repeatable | None
    replayed: str | None


class ExportService:
    """Checks, submits, sends and ends exports, for the API and the dashboard.

    Another organization's export, and a job that is none, are the problem `export-not-found`.
    """

    def __init__(
        self,
        database: Database,
        version: DataVersionWatcher,
        orders: JobOrders,
        downloads: FileResponder,
        stored: StoredExports,
    ) -> None:
        self._database = database
        self._version = version
        self._orders = orders
        self._downloads = downloads
        self._stored = stored

    async def prepare(self, principal: Principal, body: dict[str, Any], key: str | None) -> ExportRequest:
        """Return what a validated body orders, or which order it repeats. Refusals are raised here, before a charge."""
        parameters = canonicalize(body)
        repeatable = replayed = None
        if key is not None:
            repeatable = Repeatable(key, hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).digest())
            replayed = await self._orders.repeated(principal, repeatable)
        if replayed is None:
            await self._check(parameters)
        return ExportRequest(parameters, repeatable, replayed)

    async def estimate(self, request: ExportRequest, *, with_rows: bool) -> dict[str, Any]:
        """Return what an order would cost and hold now, with its first rows if asked for."""
        version, asked = self._version.current, Request.read(request.parameters)
        scope = await scope_in(self._database, asked)
        rows, relation = await estimate(self._database, asked, scope)
        return {
            "cost_units": EXPORT.units,
            "rows": rows,
            "rows_relation": relation,
            "data_version": version,
            "schema": described(RELEASED[asked.dataset], asked.columns),
            "request": request.parameters,
            "preview": await preview(self._database, asked, scope) if with_rows else None,
        }

    async def submit(
        self, principal: Principal, request: ExportRequest, charge: Charge, traceparent: str
    ) -> SubmittedOrder:
        """Order the export; it is not new where another request with its key was faster.

        Raises the problems of full queues, of the bytes that are stored, and of an Idempotency-Key.
        """
        await self._stored.require_room(principal, charge.account)
        parameters = request.parameters
        # Of its own: no other export is equal, whatever it asks for.
        spec = JobSpec(EXPORT, parameters, parameters["format"], uuid4().hex, self._version.current)
        return await self._orders.submit(principal, spec, charge, traceparent, repeatable=request.repeatable)

    async def _check(self, parameters: dict[str, Any]) -> None:
        since = parameters["since"]
        if not self._version.current or (since or 0) > self._version.current:
            await self._version.read()  # the caller may have heard of the newest one before this process has
        current = self._version.current
        newest = f"must be {current} at most, the newest data_version"
        faults = [Fault("since", newest, since)] * bool(since and since > current)
        if parameters["dataset"] in CHANGES:
            faults += await self._check_changes(parameters["dataset"], since, parameters.get("until"))
        requested = parameters["filter"]
        lists = [requested.get(name, []) for name in ("brand", "category", "channel")]
        if any(lists):
            row = await unknown_names(self._database, *lists)
            faults += [unknown("filter.brand", "brand", slug) for slug in row["brands"]]
            faults += [unknown("filter.category", "category", code) for code in row["categories"]]
            faults += [unknown("filter.channel", "channel", code) for code in row["channels"]]
        if faults:
            raise invalid_parameters(faults)

    async def _check_changes(self, dataset: str, since: int, until: int | None) -> list[Fault]:
        """Return what is wrong with the two releases: both must be kept, and the changes lead back to the first."""
        kept = {row["data_version"]: row["since"] for row in await self._database.fetch(SQL.changes, dataset)}
        last = max(kept, default=0) if until is None else until
        firsts = [version for version in kept if kept.get(last, last) <= version < last]
        if last not in kept:
            return [
                Fault("until", f"must be a kept release: {', '.join(map(str, kept)) or 'there is none yet'}", until)
            ]
        if since not in firsts:
            before = ", ".join(map(str, firsts)) or "there is none"
            return [Fault("since", f"must be a kept release whose changes are known: {before}", since)]
        return []

    async def listed(
        self, organization: str | None, state: str | None, limit: int, after: str | None
    ) -> tuple[list[Order], int]:
        """Return one page of exports, the newest first, one more where there are more; and how many there are."""
        return await self._orders.list(organization, state, EXPORT.name, limit, after)

    async def find(self, organization: str | None, order_id: str) -> Order:
        """Return an export in whatever state it is."""
        try:
            order = await self._orders.find(organization, order_id)
        except JobNotFound:
            order = None
        if order is None or order.row["kind"] != EXPORT.name:
            raise Problem(
                "export-not-found",
                "There is no such export in your organization.",
                advice="List them at /v1/index/exports.",
            )
        return order

    async def send(
        self, request: web.Request, organization: str | None, order_id: str, name: str
    ) -> web.StreamResponse:
        """Send a file that the export's manifest names.

        Raises ResultGone when its time is over or it is lost, and StoreUnavailable while the store does not have it and
        that is not yet confirmed.
        """
        order = await self.find(organization, order_id)
        if order.state == "expired":
            raise ResultGone(order.id)
        manifest = order.export
        part = manifest.file(name) if manifest else None
        if manifest is None or part is None:
            raise Problem("export-not-found", "The export has no file with this name, or is not finished yet.")
        file = StoredFile(part.key, part.bytes, part.sha256, manifest.media_type, part.name)
        try:
            return await self._downloads.respond(request, file, organization)
        except ResultGone as gone:
            raise await self._orders.mark_result_missing(order.job_id, gone) from gone

    async def end(self, organization: str | None, order_id: str) -> None:
        """Cancel an export that is under way, which then costs nothing, or delete the files of a finished one."""
        order = await self.find(organization, order_id)
        if not order.ended:
            try:
                await self._orders.cancel(organization, order.id)
            except Problem:  # it came to its end in this very moment
                order = await self.find(organization, order.id)
        if order.state == "succeeded":
            scope = Scope(organization=organization, task="jobs")
            await self._database.fetch(SQL.expire_now, order.job_id, organization, scope=scope)


def canonicalize(body: dict[str, Any]) -> dict[str, Any]:
    """Return a body in its one spelling: every column named, names sorted and without duplicates, days as text."""
    narrowed: dict[str, Any] = {}
    for name, value in body["filter"].items():
        if isinstance(value, list):
            narrowed[name] = sorted(set(value))
        else:
            assert isinstance(value, date)
            narrowed["from" if name == "from_" else name] = value.isoformat()
    return {
        "dataset": body["dataset"],
        "columns": body["columns"] or [column.name for column in RELEASED[body["dataset"]].columns],
        "filter": narrowed,
        "since": body["since"],
        "format": body["format"],
        "compression": body["compression"] or usual_compression(body["format"]),
        **({"until": body["until"]} if body["until"] is not None else {}),
    }


# An export as the contract shows it (section 6). Pure.


class ExportSerializer:
    """Renders documents with this service's addresses."""

    def __init__(self, base_url: str, jobs: JobSerializer, links: SignedUrls, link_seconds: int) -> None:
        self._base_url = base_url
        self._jobs = jobs
        self._links = links
        self._link_seconds = link_seconds

    def url(self, order_id: str) -> str:
        """Return an export's address."""
        return f"{self._base_url}/index/exports/{order_id}"

    def listed(self, order: "Order") -> dict[str, Any]:
        """Return an export as lists show it."""
        return {**self._jobs.render(order), "request": json.loads(order.row["parameters"])}

    def render(self, order: "Order", organization: str | None) -> dict[str, Any]:
        """Return an export with its files, where it has any; their signed addresses are this organization's alone."""
        return {**self.listed(order), "manifest": self._manifest(order, organization or "")}

    def _manifest(self, order: "Order", organization: str) -> dict[str, Any] | None:
        manifest = order.export
        if manifest is None:
            return None
        until = min(int(utc_now().timestamp()) + self._link_seconds, int(order.row["expires_at"].timestamp()))
        document: dict[str, Any] = msgspec.to_builtins(manifest)
        if manifest.all_months is None:
            document["all_months"] = not manifest.months
        document["formula_prefix"] = FORMULA_PREFIX if manifest.format == "csv" else None
        for file in document["files"]:
            del file["key"]  # the storage key is internal
            query = self._links.query(signed_of(order.id, file["name"]), organization, until)
            file["url"] = f"{self.url(order.id)}/files/{file['name']}"
            file["signed_url"] = f"{self.url(order.id)}/signed/{file['name']}?{query}"
        ends = rfc3339(datetime.fromtimestamp(until, UTC))
        return {**document, "signed_until": ends, "expires_at": rfc3339(order.row["expires_at"])}


def signed_of(order_id: str, name: str) -> str:
    """Return what a link to a file is signed over."""
    return f"export {order_id}/{name}"


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
        schemas.NewExportQuery,
        schemas.NewExport,
        answers={
            200: (schemas.ExportEstimate, "The estimate, with `dry_run` or `preview`"),
            202: (schemas.Export, "The export's job; `Location` is its address"),
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
        export = await self._exports.find(principal.organization_id, order_id)
        headers = {"Location": self._serializer.url(export.id), "Retry-After": str(_RETRY_SECONDS)}
        return unstored_json(self._serializer.render(export, principal.organization_id), 202, headers)

    @_operation("listExports", schemas.ExportsQuery, answers={200: (schemas.ExportList, "One page of exports")})
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List your organization's exports.

        Newest first.
        """
        parameters: dict[str, Any] = request[QUERY]
        query = {name: parameters[name] for name in ("state", "limit")}
        find = partial(self._exports.listed, organization_of(request), query["state"], query["limit"])
        entry = self._serializer.listed
        response = await self._lists.answer(KIND, query, parameters["cursor"], find, entry, lambda order: order.id)
        response.headers["Cache-Control"] = "no-store"
        return response

    @_operation("getExport", schemas.ExportPath, answers={200: (schemas.Export, "The export")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """State and files of an export.

        The job, and the manifest once it has succeeded. 410 after the files have expired.
        """
        order = await self._exports.find(organization_of(request), request[PATH]["id"])
        if order.state == "expired":
            raise ResultGone(order.id)
        return unstored_json(self._serializer.render(order, organization_of(request)))

    @_operation("endExport", schemas.ExportPath, answers={204: "The export is cancelled, or its files are deleted"})
    async def end(self, request: web.Request) -> web.StreamResponse:
        """Cancel an export, or delete its files.

        Cancels an unfinished export and refunds its charge, or deletes the files of a finished one. Repeating the call
        is not an error.
        """
        await self._exports.end(organization_of(request), request[PATH]["id"])
        return web.Response(status=204)

    @_operation("getExportFile", schemas.FilePath, answers=schemas.FILE_ANSWERS, produces=_FILE_KINDS)
    async def file(self, request: web.Request) -> web.StreamResponse:
        """Download a file of an export.

        Supports `Range` and `If-Range`, with a strong ETag and `Repr-Digest`.
        """
        path = request[PATH]
        return await self._exports.send(request, organization_of(request), path["id"], path["file"])

    @_operation("getSignedExportFile", schemas.FilePath, LinkQuery, answers=schemas.FILE_ANSWERS, produces=_FILE_KINDS)
    async def signed(self, request: web.Request) -> web.StreamResponse:
        """Download a file of an export by its signed URL.

        Needs no credential and supports ranges until the URL expires.
        """
        path, link = request[PATH], Link(**request[QUERY])
        await self._links.require(link, signed_of(path["id"], path["file"]), "Fetch the export again for a valid one.")
        return await self._exports.send(request, link.organization, path["id"], path["file"])

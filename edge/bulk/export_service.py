"""Exports of an organization: checked, estimated, submitted, listed, sent and ended."""

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from typing import NotRequired, TypedDict
from uuid import uuid4

from aiohttp import web

from edge.analytics.report_service import unknown_names
from edge.bulk.downloads import FileResponder, StoredFile
from edge.bulk.export_estimate import estimate, preview, scope_in
from edge.http.faults import Fault, unknown
from edge.http.problems import Problem, invalid_parameters
from edge.http.validation import Query
from edge.jobs.orders import JobOrders, JobSpec, Order, Repeatable, SubmittedOrder
from edge.quota.billing import Charge
from edge.quota.stored_exports import StoredExports
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import Database, Scope
from shared.bulk.manifest import described_columns, usual_compression
from shared.bulk.request import Request
from shared.bulk.schema import CHANGES, RELEASED, ColumnDocument
from shared.db.queries import load_queries
from shared.errors import JobNotFound, ResultGone
from shared.jobs.contract import EXPORT
from shared.organizations.accounts import Principal

SQL = load_queries(__file__, "export_service.sql")


class ExportParameters(TypedDict):
    """What an export is of, in its one spelling, as its order is stored."""

    dataset: str
    columns: list[str]
    filter: dict[str, list[str] | str]
    since: int | None
    format: str
    compression: str
    until: NotRequired[int]


class ExportQuote(TypedDict):
    """What an order would cost and hold now; `preview` is None where its rows were not asked for."""

    cost_units: int
    rows: int
    rows_relation: str
    data_version: int
    schema: list[ColumnDocument]
    request: ExportParameters
    preview: list[dict[str, object]] | None


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The order of one request: canonical parameters, what it may be repeated by, and the order that it repeats."""

    parameters: ExportParameters
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

    async def prepare(self, principal: Principal, body: Query, key: str | None) -> ExportRequest:
        """Return what a validated body orders, or which order it repeats. Refusals are raised here, before a charge."""
        parameters = canonicalize(body)
        repeatable = replayed = None
        if key is not None:
            repeatable = Repeatable(key, hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).digest())
            replayed = await self._orders.find_repeated(principal, repeatable)
        if replayed is None:
            await self._check(parameters)
        return ExportRequest(parameters, repeatable, replayed)

    async def estimate(self, request: ExportRequest, *, with_rows: bool) -> ExportQuote:
        """Return what an order would cost and hold now, with its first rows if asked for."""
        version, asked = self._version.current, Request.read(request.parameters)
        scope = await scope_in(self._database, asked)
        rows, relation = await estimate(self._database, asked, scope)
        return {
            "cost_units": EXPORT.units,
            "rows": rows,
            "rows_relation": relation,
            "data_version": version,
            "schema": described_columns(RELEASED[asked.dataset], asked.columns),
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
        spec = JobSpec(EXPORT, {**parameters}, parameters["format"], uuid4().hex, self._version.current)
        return await self._orders.submit(principal, spec, charge, traceparent, repeatable=request.repeatable)

    async def _check(self, parameters: ExportParameters) -> None:
        since = parameters["since"]
        if not self._version.current or (since or 0) > self._version.current:
            await self._version.read()  # the caller may have heard of the newest one before this process has
        current = self._version.current
        newest = f"must be {current} at most, the newest data_version"
        faults = [Fault("since", newest, since)] * bool(since and since > current)
        if parameters["dataset"] in CHANGES and since is not None:
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

    async def list_exports(
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


def canonicalize(body: Query) -> ExportParameters:
    """Return a body in its one spelling: every column named, names sorted and without duplicates, days as text."""
    narrowed: dict[str, list[str] | str] = {}
    for name, value in body["filter"].items():
        if isinstance(value, list):
            narrowed[name] = sorted(set(value))
        else:
            assert isinstance(value, date)
            narrowed["from" if name == "from_" else name] = value.isoformat()
    parameters: ExportParameters = {
        "dataset": body["dataset"],
        "columns": body["columns"] or [column.name for column in RELEASED[body["dataset"]].columns],
        "filter": narrowed,
        "since": body["since"],
        "format": body["format"],
        "compression": body["compression"] or usual_compression(body["format"]),
    }
    if body["until"] is not None:
        parameters["until"] = body["until"]
    return parameters

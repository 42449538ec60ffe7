"""Where every heavy GET is dealt with: what it costs, whether the answer is there, and else the job that makes it."""

import json
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from edge.analytics.envelope import asked_format
from edge.downloads import stream
from edge.downloads.body import ResultBody
from edge.http.context import CONTEXT, Context
from edge.http.cursors import CursorSigner
from edge.http.parameters import QUERY
from edge.http.prefer import wait_seconds
from edge.http.problems import Problem, invalid_parameters
from edge.jobs.serializers import JobSerializer, failure
from edge.jobs.service import Charge, JobOrders, Order, Wanted, just_placed
from edge.quota.limiter import RateLimiter
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import Database, Scope
from shared.db.queries import beside
from shared.errors import ResultGone, StoreUnavailable
from shared.jobs.contract import Kind, fingerprint
from shared.objects.directory import ResultStore
from shared.results.layout import MEDIA_TYPES, Manifest, manifest_from
from shared.telemetry import metrics

SQL = beside(__file__, "reports.sql")
_RETRY_SECONDS = 2
_PAID_UNITS = 1


@dataclass(frozen=True, slots=True)
class Quote:
    """What a request asks for and what it costs now; `found` is the answer, if it is there."""

    wanted: Wanted
    units: int
    found: Manifest | None
    found_job: str | None


QUOTE: web.RequestKey[Quote] = web.RequestKey("quote", Quote)


class ReportService:
    """What all reports share."""

    def __init__(
        self,
        database: Database,
        version: DataVersionWatcher,
        orders: JobOrders,
        documents: JobSerializer,
        store: ResultStore,
        meter: RateLimiter,
        cursors: CursorSigner,
    ) -> None:
        self._database = database
        self._version = version
        self._orders = orders
        self._documents = documents
        self._store = store
        self._meter = meter
        self._cursors = cursors

    async def price(self, request: web.Request, kind: Kind, parameters: dict[str, Any]) -> int:
        """Return the units that this request costs. Nothing is queued yet; a name that nobody knows is refused here."""
        format = asked_format(request)
        principal = request[CONTEXT].principal
        assert principal is not None
        quote = await self.quote(principal.organization_id, kind, self._opened(kind, parameters), format)
        request[QUOTE] = quote
        return 0 if request[QUERY]["dry_run"] else quote.units

    async def quote(self, organization_id: str | None, kind: Kind, parameters: dict[str, Any], format: str) -> Quote:
        """Return what an organization would pay for a question now, and whether its answer is there."""
        await self._check_names(parameters)
        if not self._version.current:
            # An edge that came up before PostgreSQL knows no snapshot yet; asked as of none, an equal question would
            # be another one.
            await self._version.read()
        version = self._version.current
        wanted = Wanted(kind, parameters, format, fingerprint(parameters, format, version), version)
        alike = [fingerprint(parameters, other, version) for other in MEDIA_TYPES]
        scope = Scope(organization=organization_id, task="jobs")
        values = (kind.name, wanted.fingerprint, organization_id, alike)
        known = await self._database.fetch_row(SQL.known, *values, scope=scope)
        assert known is not None
        found = manifest_from(json.loads(known["result"])) if known["result"] else None
        if known["waiting"] and found is None:
            units = 0  # the organization has paid for the job that it waits for
        elif known["paid"]:
            units = _PAID_UNITS
        else:
            units = kind.units_cached if known["stored"] else kind.units  # stored in any format: the same rows
        return Quote(wanted, units, found, known["job_id"])

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer with the result, with the job that makes it, or with why there is none."""
        quote = request[QUOTE]
        if request[QUERY]["dry_run"]:
            return _estimate(quote)
        kind = quote.wanted.kind.name
        if quote.found is not None:
            metrics.report_answers.labels(kind, "stored").inc()
            return await self._stream(request, quote.found, cached=True, units=quote.units, job_id=quote.found_job)
        order = await self._order(request, quote)
        manifest, failed = order.manifest, failure(order)
        how = "made" if manifest is not None else "failed" if failed is not None else "accepted"
        metrics.report_answers.labels(kind, how).inc()
        if manifest is not None:
            units = int(order.row["cost_units"])
            return await self._stream(request, manifest, cached=False, units=units, job_id=order.job_id)
        if failed is not None:
            job = {"job": self._documents.url(order.id)}
            raise _of_the_job(*failed, job)
        return self._accepted(order)

    async def _order(self, request: web.Request, quote: Quote) -> Order:
        context = request[CONTEXT]
        principal = context.principal
        assert principal is not None
        assert context.account is not None
        charge = Charge(context.account, context.charge_id, context.charged_day, context.charged_units)
        try:
            order_id, new = await self._orders.place(principal, quote.wanted, charge, context.step.traceparent)
        except StoreUnavailable:
            await self._give_back(context, charge)
            raise
        # From here on the charge is the order's; or there was an order already, and this request costs nothing.
        context.charge = "kept" if new else "returned"
        wait = wait_seconds(request.headers.get("Prefer"))
        try:
            return await self._orders.wait(principal.organization_id, order_id, wait)
        except StoreUnavailable:  # it is committed and will be done: an error would be a lie
            return just_placed(order_id, quote.wanted, charge.units)

    async def _give_back(self, context: Context, charge: Charge) -> None:
        """Give back what an order cost that may or may not have been placed, so that a later refund gives nothing."""
        context.charge, context.units = "kept", 0
        if charge.units:
            await self._meter.settle(charge.account, charge.charge_id, charge.day, charge.units)

    async def _stream(
        self, request: web.Request, manifest: Manifest, *, cached: bool, units: int, job_id: str | None
    ) -> web.StreamResponse:
        cursor = self._next_cursor(request[QUOTE].wanted, manifest)
        more = {"next_cursor": cursor} if manifest.paged else None
        following = str(request.rel_url.update_query(cursor=cursor)) if cursor else None
        try:
            body = await ResultBody.told(self._store, manifest, cached=cached, units=units, more=more)
        except ResultGone as gone:
            if job_id is None:
                raise
            raise await self._orders.missing(job_id, gone) from gone
        return stream.answer(request, manifest, body, following)

    def _opened(self, kind: Kind, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the question with the position that its cursor stands for. Raises InvalidCursor."""
        if "cursor" not in parameters:
            return parameters
        question = {name: value for name, value in parameters.items() if name != "cursor"}
        cursor = parameters["cursor"]
        return {**question, "after": self._cursors.open(kind.name, question, cursor) if cursor else None}

    def _next_cursor(self, wanted: Wanted, manifest: Manifest) -> str | None:
        if manifest.after is None:
            return None
        question = {name: value for name, value in wanted.parameters.items() if name != "after"}
        return self._cursors.seal(wanted.kind.name, question, manifest.after)

    def _accepted(self, order: Order) -> web.Response:
        body = msgspec.json.encode(self._documents.make(order))
        fields = {
            "Location": self._documents.url(order.id),
            "Retry-After": str(_RETRY_SECONDS),
            "Cache-Control": "no-store",
        }
        return web.Response(status=202, body=body, content_type="application/json", headers=fields)

    async def _check_names(self, parameters: dict[str, Any]) -> None:
        slug, code = parameters.get("slug"), parameters.get("code")
        brands = [*parameters.get("brand", ()), *([slug] if slug else ())]
        parent = parameters.get("parent")
        categories = [*parameters.get("category", ()), *([code] if code else ()), *([parent] if parent else ())]
        channels = parameters.get("channel", [])
        if not brands and not categories and not channels:
            return
        row = await self._database.fetch_row(SQL.strangers, brands, categories, channels)
        assert row is not None
        if slug in row["brands"]:
            raise Problem("brand-not-found", "No brand has this slug. List the brands at /v1/index/brands.")
        if code in row["categories"]:
            raise Problem("category-not-found", "No category has this code.")
        faults = [("brand", "names no brand; /v1/index/brands lists them")] * bool(row["brands"])
        unknown = "parent" if parent in row["categories"] else "category"
        faults += [(unknown, "names no category; /v1/index/categories lists them")] * bool(row["categories"])
        faults += [("channel", "names no channel")] * bool(row["channels"])
        if faults:
            raise invalid_parameters(faults)


def _of_the_job(slug: str, detail: str, job: dict[str, str]) -> Problem:
    """Make the problem of a job that has failed; what the data says of a parameter is told as at the door."""
    name, _, text = detail.partition(": ")
    if slug == "invalid-parameter" and text:
        refused = invalid_parameters([(name, text)])
        refused.extra |= job
        return refused
    return Problem(slug, detail, extra=job)


def _estimate(quote: Quote) -> web.Response:
    wanted = quote.wanted
    document = {
        "kind": wanted.kind.name,
        "cost_units": quote.units,
        "cached": quote.found is not None,
        "format": wanted.format,
        "data_version": wanted.data_version,
        "parameters": wanted.parameters,
    }
    body = msgspec.json.encode(document)
    return web.Response(body=body, content_type="application/json", headers={"Cache-Control": "no-store"})

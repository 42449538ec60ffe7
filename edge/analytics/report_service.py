"""The service of all reports: what a question costs, and its result, its job, or the reason why there is none."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from edge.analytics.envelope import requested_format
from edge.analytics.weights import WEIGHTS, WeightService
from edge.http import stream
from edge.http.answer_cache import BODY_BYTES_MAX
from edge.http.answer_keeping import cacheable
from edge.http.context import CONTEXT, Context, organization_of, principal_of
from edge.http.cursors import CursorSigner
from edge.http.faults import Fault, unknown
from edge.http.json import unstored_json
from edge.http.prefer import wait_seconds
from edge.http.problems import Problem, invalid_parameters
from edge.http.result_body import ResultBody
from edge.jobs.orders import JobOrders, JobSpec, Order, SubmittedOrder, optimistic_order
from edge.jobs.serializer import JobSerializer, failure
from edge.quota.billing import COUNTED, Charge
from edge.quota.open_downloads import OpenDownloads
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import Database, Scope
from shared.analytics.exchange import SQL as EXCHANGE
from shared.analytics.exchange import unknown_table
from shared.analytics.manifest import MEDIA_TYPES, ResultManifest, manifest_from
from shared.db.queries import load_queries
from shared.errors import ResultGone, StoreUnavailable
from shared.jobs.contract import JobKind, fingerprint
from shared.objects.directory import ResultStore
from shared.organizations.accounts import Principal
from shared.telemetry import metrics

SQL = load_queries(__file__, "report_service.sql")
_RETRY_SECONDS = 2
_PAID_UNITS = 1


@dataclass(frozen=True, slots=True)
class ReportQuote:
    """A request and its present cost; `result` is set if a job `job_id` has computed it.

    The result and its price stay what they are until `until`, in seconds since 1970. `joins`: it costs nothing because
    the organization has paid for the job that it waits for.
    """

    spec: JobSpec
    units: int
    result: ResultManifest | None
    job_id: str | None
    until: float
    joins: bool


class ReportService:
    """The service of all reports: the cost of a question, and its result, its job, or the reason why there is none."""

    def __init__(
        self,
        database: Database,
        version: DataVersionWatcher,
        orders: JobOrders,
        serializer: JobSerializer,
        store: ResultStore,
        cursors: CursorSigner,
        under_way: OpenDownloads,
        weights: WeightService,
    ) -> None:
        self._database = database
        self._version = version
        self._orders = orders
        self._serializer = serializer
        self._store = store
        self._cursors = cursors
        self._under_way = under_way
        self._weights = weights

    async def prepare(self, request: web.Request, kind: JobKind, parameters: dict[str, Any]) -> ReportQuote:
        """Return what a request asks for and costs. Nothing is queued yet; names that are not in the index are refused.

        Raises InvalidCursor, and the problems `not-acceptable`, `brand-not-found`, `category-not-found`,
        `weights-not-found` and `invalid-parameter`.
        """
        format = requested_format(request)
        return await self.quote(organization_of(request), kind, self._opened(kind, parameters), format)

    async def quote(
        self, organization_id: str | None, kind: JobKind, parameters: dict[str, Any], format: str
    ) -> ReportQuote:
        """Return the cost of a question for an organization now, and whether its result exists."""
        await self._check_names(parameters)
        if WEIGHTS in parameters:
            parameters = await self._weights.pin(organization_id, parameters)
        if not self._version.current:
            # An edge that came up before PostgreSQL knows no snapshot yet; asked as of none, an equal question would
            # be another one.
            await self._version.read()
        version = self._version.current
        spec = JobSpec(kind, parameters, format, fingerprint(parameters, format, version), version)
        alike = [fingerprint(parameters, other, version) for other in MEDIA_TYPES]
        scope = Scope(organization=organization_id, task="jobs")
        values = (kind.name, spec.fingerprint, organization_id, alike)
        known = await self._database.fetch_row(SQL.known, *values, scope=scope)
        assert known is not None
        manifest = manifest_from(json.loads(known["result"])) if known["result"] else None
        joins = known["waiting"] and manifest is None and not known["empty"]
        if known["empty"] or joins:
            units = 0  # there is nothing to pay for, or it was paid before
        elif known["paid_until"] is not None:
            units = _PAID_UNITS
        else:
            units = kind.units_cached if known["stored"] else kind.units  # stored in any format: the same rows
        return ReportQuote(spec, units, manifest, known["job_id"], _unchanged_until(kind, known), joins)

    async def respond(self, request: web.Request, quote: ReportQuote, charge: Charge) -> web.StreamResponse:
        """Respond with the result, with the job that computes it, or with the problem of a job that failed.

        Raises JoinedOrderEnded where the quote does not hold any more.
        """
        kind = quote.spec.kind.name
        if quote.result is not None:
            metrics.report_answers.labels(kind, "stored").inc()
            stored = await self._stream(
                request, quote, quote.result, cached=True, units=quote.units, job_id=quote.job_id
            )
            if quote.units > _PAID_UNITS and stored.status in COUNTED:
                await self._remember(request, quote, charge, stored)
            return stored
        order = await self._order(request, quote, charge)
        manifest, failed = order.manifest, failure(order)
        how = "made" if manifest is not None else "failed" if failed is not None else "accepted"
        metrics.report_answers.labels(kind, how).inc()
        if manifest is not None:
            units = int(order.row["cost_units"])
            return await self._stream(request, quote, manifest, cached=False, units=units, job_id=order.job_id)
        if failed is not None:
            raise _of_the_job(*failed, quote.spec.parameters, {"job": self._serializer.url(order.id)})
        fields = {"Location": self._serializer.url(order.id), "Retry-After": str(_RETRY_SECONDS)}
        return unstored_json(self._serializer.render(order), 202, fields)

    async def _order(self, request: web.Request, quote: ReportQuote, charge: Charge) -> Order:
        """Submit the job, wait for it as long as the request prefers, and return the order as it is then."""
        submitted = await self.submit(request[CONTEXT], principal_of(request), quote, charge)
        wait = wait_seconds(request.headers.get("Prefer"))
        try:
            return await self._orders.wait(organization_of(request), submitted, wait)
        except StoreUnavailable:  # the order is committed and will be computed, so an error would be wrong
            return optimistic_order(submitted.order_id, quote.spec, charge.units)

    async def _remember(
        self, request: web.Request, quote: ReportQuote, charge: Charge, stored: web.StreamResponse
    ) -> None:
        """Order the stored result: by its order the organization has paid for it, as the one that had it computed."""
        try:
            await self.submit(request[CONTEXT], principal_of(request), quote, charge)
        except BaseException:
            if isinstance(stored, stream.BodyStream):
                stored.discard()
            raise

    async def submit(
        self, context: Context, principal: Principal, quote: ReportQuote, charge: Charge
    ) -> SubmittedOrder:
        """Order the job of a quote, which the charge pays for. Raises as `JobOrders.submit`."""
        traceparent = context.span.traceparent
        return await self._orders.submit(principal, quote.spec, charge, traceparent, joins=quote.joins)

    async def _stream(
        self,
        request: web.Request,
        quote: ReportQuote,
        manifest: ResultManifest,
        *,
        cached: bool,
        units: int,
        job_id: str | None,
    ) -> web.StreamResponse:
        cursor = self._next_cursor(quote.spec, manifest)
        more = {"next_cursor": cursor} if manifest.paged else None
        following = str(request.rel_url.update_query(cursor=cursor)) if cursor else None
        try:
            body = await ResultBody.with_meta(self._store, manifest, cached=cached, units=units, more=more)
        except ResultGone as gone:
            if job_id is None:
                raise
            raise await self._orders.mark_result_missing(job_id, gone) from gone
        if body.length > BODY_BYTES_MAX:
            self._under_way.hold(body, organization_of(request))
            return stream.answer(request, manifest, body, following)
        whole = await stream.in_memory(manifest, body, following)
        if WEIGHTS not in quote.spec.parameters:  # an upload changes the answer to the same request
            cacheable(request, whole, units=units, until=quote.until, organization_id=_owner(request, quote))
        return stream.apply_conditions(request, whole)

    def _opened(self, kind: JobKind, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the question with the position that its cursor holds. Raises InvalidCursor."""
        if "cursor" not in parameters:
            return parameters
        question = {name: value for name, value in parameters.items() if name != "cursor"}
        cursor = parameters["cursor"]
        return {**question, "after": self._cursors.open(kind.name, question, cursor) if cursor else None}

    def _next_cursor(self, spec: JobSpec, manifest: ResultManifest) -> str | None:
        if manifest.after is None:
            return None
        question = {name: value for name, value in spec.parameters.items() if name != "after"}
        return self._cursors.seal(spec.kind.name, question, manifest.after)

    async def _check_names(self, parameters: dict[str, Any]) -> None:
        rates = parameters.get("rates")
        if rates is not None and await self._database.fetch_row(EXCHANGE.known, rates) is None:
            raise unknown_table(rates)
        slug, code = parameters.get("slug"), parameters.get("code")
        brands = [*parameters.get("brand", ()), *([slug] if slug else ())]
        parent = parameters.get("parent")
        categories = [*parameters.get("category", ()), *([code] if code else ()), *([parent] if parent else ())]
        channels = parameters.get("channel", [])
        if not brands and not categories and not channels:
            return
        row = await unknown_names(self._database, brands, categories, channels)
        if slug in row["brands"]:
            raise Problem("brand-not-found", faults=[unknown("slug", "brand", slug)])
        if code in row["categories"]:
            raise Problem("category-not-found", faults=[unknown("code", "category", code)])
        faults = [unknown("brand", "brand", one) for one in row["brands"]]
        faults += [unknown("parent" if one == parent else "category", "category", one) for one in row["categories"]]
        faults += [unknown("channel", "channel", one) for one in row["channels"]]
        if faults:
            raise invalid_parameters(faults)


async def unknown_names(
    database: Database, brands: Sequence[str], categories: Sequence[str], channels: Sequence[str]
) -> dict[str, list[str]]:
    """Return which of these names are not in the index, under `brands`, `categories` and `channels`."""
    row = await database.fetch_row(SQL.unknown_names, brands, categories, channels)
    assert row is not None
    return dict(row)


def _unchanged_until(kind: JobKind, known: Any) -> float:
    """Return until when the same request gets the stored result for the same price; 0 where an order may change that.

    Most kinds cost the same whether the organization has paid for the result before or finds that of another one.
    """
    if kind.units_cached == _PAID_UNITS:
        return float(known["until"] or 0)
    return float(min(known["until"] or 0, known["paid_until"] or 0))


def _owner(request: web.Request, quote: ReportQuote) -> str | None:
    """Return the organization that alone gets the result for this price; None where every one does."""
    return None if quote.spec.kind.units_cached == _PAID_UNITS else organization_of(request)


def _of_the_job(slug: str, detail: str, parameters: Mapping[str, Any], job: dict[str, str]) -> Problem:
    """Return the problem of a failed job; a parameter that the data refused is reported as validation would."""
    name, _, text = detail.partition(": ")
    if slug == "invalid-parameter" and text:
        refused = invalid_parameters([Fault(name, text, parameters.get(name))])
        refused.extra |= job
        return refused
    return Problem(slug, detail, extra=job)

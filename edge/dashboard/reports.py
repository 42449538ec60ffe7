"""Pages of the analytics: the report builder with its price, and the jobs that it makes."""

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import msgspec
from aiohttp import web
from marshmallow import Schema, ValidationError

from edge.auth.credentials import CredentialStore
from edge.dashboard import charts
from edge.dashboard.billing import Billing
from edge.dashboard.session_guard import PageError, SignedIn, first_fault, form_of, render, see, sentence
from edge.downloads import stream
from edge.downloads.body import ResultBody
from edge.http.context import CONTEXT
from edge.http.problems import Problem
from edge.jobs.serializers import failure
from edge.jobs.service import JobOrders, Order
from edge.reports import schemas
from edge.reports.service import Quote, ReportService
from shared.errors import StoreUnavailable
from shared.jobs.contract import BRAND_INSIGHTS, CATEGORY_INSIGHTS, COHORTS, EXPORT, SUSTAINABILITY_ROLLUP, Kind
from shared.objects.directory import ResultStore
from shared.plans import BRAND, INSTITUTIONAL
from shared.results.layout import MEDIA_TYPES

_SHOWN_BYTES_MAX = 8 * 1024 * 1024
_LISTED = 50
# Parameters that the form names otherwise: its own `kind` is the report's.
_FIELDS = {"kind": "observed"}


@dataclass(frozen=True, slots=True)
class Question:
    """One report as the builder offers it. `named` is the parameter that stands in the path of the API."""

    kind: Kind
    title: str
    sentence: str
    path: str
    schema: Schema
    names: tuple[str, ...]
    rank_min: int
    named: str | None = None


QUESTIONS = {
    question.kind.name: question
    for question in (
        Question(
            COHORTS,
            "Cohort",
            "What a set of brands or categories sold for, period by period.",
            "/index/cohorts",
            schemas.CohortsQuery(),
            schemas.COHORT_NAMES,
            BRAND,
        ),
        Question(
            CATEGORY_INSIGHTS,
            "Category",
            "Prices, change, channels, top brands and rank.",
            "/index/insights/categories",
            schemas.InsightsQuery(),
            schemas.INSIGHTS_NAMES,
            BRAND,
            "code",
        ),
        Question(
            BRAND_INSIGHTS,
            "Brand",
            "Rank, prices against its categories, peers.",
            "/index/insights/brands",
            schemas.InsightsQuery(),
            schemas.INSIGHTS_NAMES,
            BRAND,
            "slug",
        ),
        Question(
            SUSTAINABILITY_ROLLUP,
            "Footprint",
            "CO2e, water and waste of what was observed.",
            "/index/rollups/sustainability",
            schemas.RollupQuery(),
            schemas.ROLLUP_NAMES,
            INSTITUTIONAL,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class ReportForm:
    """A filled-in builder: the question, its canonical parameters, its format, and the address that does the same."""

    question: Question
    parameters: dict[str, Any]
    format: str
    url: str


class ReportPages:
    """The handlers."""

    def __init__(
        self,
        desk: ReportService,
        orders: JobOrders,
        store: ResultStore,
        payer: Billing,
        directory: CredentialStore,
        base_url: str,
    ) -> None:
        self._desk = desk
        self._orders = orders
        self._store = store
        self._payer = payer
        self._directory = directory
        self._base_url = base_url

    async def builder(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The form; its fields can be filled in by the address."""
        given = {name: value for name, value in request.query.items() if len(value) <= 400}
        chosen = given.get("kind", COHORTS.name)
        return render(
            request,
            "reports.html",
            visit,
            questions=QUESTIONS,
            chosen=chosen if chosen in QUESTIONS else COHORTS.name,
            given=given,
            formats=list(MEDIA_TYPES),
            plan=await self._payer.plan(visit),
        )

    async def price(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """What the filled-in form would cost, or what is wrong with it; charges nothing."""
        try:
            asked = self._asked(dict(request.query))
            quote = await self._quote(visit, asked)
        except (PageError, Problem) as error:
            return render(request, "price.html", visit, fault=sentence(error), quote=None, asked=None)
        return render(request, "price.html", visit, fault=None, quote=quote, asked=asked)

    async def run(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Order the report and go to its job."""
        asked = self._asked(await form_of(request))
        principal = await self._payer.principal(visit, asked.question.rank_min)
        quote = await self._quote(visit, asked)
        charge = await self._payer.charge(request, principal, quote.units)
        try:
            order_id, new = await self._orders.place(principal, quote.wanted, charge, request[CONTEXT].step.traceparent)
        except (Problem, StoreUnavailable):
            await self._payer.give_back(charge)
            raise
        if not new:
            await self._payer.give_back(charge)
        return see(f"/dashboard/jobs/{order_id}")

    async def jobs(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The organization's jobs, the newest first."""
        organization = visit.acting.membership.organization_id
        listed, total = await self._orders.list(organization, None, None, _LISTED, None)
        return render(request, "jobs.html", visit, jobs=listed[:_LISTED], total=total, questions=QUESTIONS)

    async def job(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """One job: its progress, and its result as pictures and a table."""
        order = await self._order(request, visit)
        if order.row["kind"] == EXPORT.name:
            return see(f"/dashboard/exports/{order.id}")
        return render(request, "job.html", visit, **await self._shown(order))

    async def state(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The moving part of a job's page, asked for again and again until the job has ended."""
        order = await self._order(request, visit)
        return render(request, "job_state.html", visit, **await self._shown(order))

    async def cancel(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Cancel a job; it costs nothing then."""
        organization = visit.acting.membership.organization_id
        await self._payer.principal(visit, BRAND)
        await self._orders.cancel(organization, request.match_info["id"])
        return see(f"/dashboard/jobs/{request.match_info['id']}")

    async def result(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The result as a file."""
        manifest = (await self._order(request, visit)).manifest
        if manifest is None:
            raise PageError(409, "This job has no result.")
        return stream.answer(request, manifest, await ResultBody.whole(self._store, manifest))

    async def _order(self, request: web.Request, visit: SignedIn) -> Order:
        return await self._orders.find(visit.acting.membership.organization_id, request.match_info["id"])

    async def _quote(self, visit: SignedIn, asked: ReportForm) -> Quote:
        principal = await self._payer.principal(visit, asked.question.rank_min)
        return await self._desk.quote(principal.organization_id, asked.question.kind, asked.parameters, asked.format)

    async def _shown(self, order: Order) -> dict[str, Any]:
        rows, meta = await self._rows(order)
        return {
            "order": order,
            "failure": failure(order),
            "rows": rows[: charts.ROWS_MAX],
            "meta": meta,
            "question": QUESTIONS.get(order.row["kind"]),
            "plots": charts.plots(order.row["kind"], rows),
            "bars": charts.bars(order.row["kind"], rows),
            "parameters": msgspec.json.decode(order.row["parameters"]),
        }

    async def _rows(self, order: Order) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        manifest = order.manifest
        if manifest is None or manifest.format != "json" or manifest.bytes > _SHOWN_BYTES_MAX:
            return [], {}
        body = await ResultBody.whole(self._store, manifest)
        try:
            text = b""
            while len(text) < manifest.bytes and (more := await body.read(len(text), manifest.bytes - len(text))):
                text += more
        finally:
            body.close()
        answer = await asyncio.to_thread(msgspec.json.decode, text)
        return answer["data"], answer["meta"]

    def _asked(self, form: dict[str, str]) -> ReportForm:
        question, format = QUESTIONS.get(form.get("kind", "")), form.get("format") or "json"
        if question is None or format not in MEDIA_TYPES:
            raise PageError(400, "Choose a report and a format.")
        given = _given(form, question)
        try:
            loaded: dict[str, Any] = question.schema.load(given)
        except ValidationError as error:
            raise PageError(400, first_fault(error)) from None
        parameters = schemas.canonical(loaded, question.names)
        path, named = question.path, form.get(question.named or "", "").strip()
        if question.named:
            parameters = {question.named: named or None, **parameters}
            path += f"/{named}" if named else ""
        pairs = {**given, **({"format": format} if format != "json" else {})}
        query = urlencode(pairs, doseq=True)
        return ReportForm(question, parameters, format, f"{self._base_url}{path}{'?' + query if query else ''}")


def _given(form: dict[str, str], question: Question) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name in question.names:
        values = [part.strip() for part in form.get(_FIELDS.get(name, name), "").split(",") if part.strip()]
        if values:
            given[name] = values if name in ("brand", "category", "channel", "group_by") else values[0]
    return given

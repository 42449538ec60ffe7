"""Pages of the analytics: the report builder with its price, and the jobs that it makes."""

import asyncio
from typing import Any

import msgspec
from aiohttp import web

from edge.auth.credentials import CredentialStore
from edge.dashboard import charts
from edge.dashboard.billing import Billing
from edge.dashboard.report_form import ReportForm, more_fields, read_form
from edge.dashboard.session_guard import PageError, SignedIn, form_of, render, see, sentence
from edge.downloads import stream
from edge.downloads.body import ResultBody
from edge.http.context import CONTEXT
from edge.http.problems import Problem
from edge.jobs.serializers import failure
from edge.jobs.service import JobOrders, Order
from edge.reports.declarations import REPORTS, REPORTS_BY_KIND
from edge.reports.report import Picture
from edge.reports.service import Quote, ReportService
from shared.errors import StoreUnavailable
from shared.jobs.contract import EXPORT
from shared.objects.directory import ResultStore
from shared.plans import BRAND
from shared.results.layout import MEDIA_TYPES

_SHOWN_BYTES_MAX = 8 * 1024 * 1024
_LISTED = 50


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
        chosen = given.get("kind", "")
        return render(
            request,
            "reports.html",
            visit,
            reports=REPORTS_BY_KIND,
            chosen=chosen if chosen in REPORTS_BY_KIND else REPORTS[0].kind.name,
            more=more_fields(),
            given=given,
            formats=list(MEDIA_TYPES),
            plan=await self._payer.plan(visit),
        )

    async def price(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """What the filled-in form would cost, or what is wrong with it; charges nothing."""
        try:
            asked = read_form(dict(request.query), self._base_url)
            quote = await self._quote(visit, asked)
        except (PageError, Problem) as error:
            return render(request, "price.html", visit, fault=sentence(error), quote=None, asked=None)
        return render(request, "price.html", visit, fault=None, quote=quote, asked=asked)

    async def run(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Order the report and go to its job."""
        asked = read_form(await form_of(request), self._base_url)
        principal = await self._payer.principal(visit, asked.report.rank_min)
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
        return render(request, "jobs.html", visit, jobs=listed[:_LISTED], total=total, reports=REPORTS_BY_KIND)

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
        principal = await self._payer.principal(visit, asked.report.rank_min)
        return await self._desk.quote(principal.organization_id, asked.report.kind, asked.parameters, asked.format)

    async def _shown(self, order: Order) -> dict[str, Any]:
        rows, meta = await self._rows(order)
        report = REPORTS_BY_KIND.get(order.row["kind"])
        picture = report.picture if report else Picture()
        return {
            "order": order,
            "failure": failure(order),
            "rows": rows[: charts.ROWS_MAX],
            "meta": meta,
            "report": report,
            "plots": charts.plots(picture, rows),
            "bars": charts.bars(picture, rows),
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

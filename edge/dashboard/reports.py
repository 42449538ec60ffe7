"""Pages of the analytics: the report builder with its price, and the jobs that it makes."""

import asyncio
from typing import Any

import msgspec
from aiohttp import web

from edge.dashboard import charts
from edge.dashboard.billing import PageBilling
from edge.dashboard.report_form import ReportForm, more_fields, read_form
from edge.dashboard.session_guard import PageError, SignedIn, form_of, render, see, sentence
from edge.downloads import stream
from edge.downloads.body import ResultBody
from edge.http.context import CONTEXT
from edge.http.problems import Problem
from edge.jobs.serializers import failure
from edge.jobs.service import JobOrders, Order
from edge.quota.billing import Charge
from edge.reports.declarations import REPORTS, REPORTS_BY_KIND
from edge.reports.report import Picture
from edge.reports.service import Quote, ReportService
from shared.accounts import Principal
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
        reports: ReportService,
        orders: JobOrders,
        store: ResultStore,
        billing: PageBilling,
        base_url: str,
    ) -> None:
        self._reports = reports
        self._orders = orders
        self._store = store
        self._billing = billing
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
            plan=await self._billing.plan(visit),
        )

    async def price(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """What the filled-in form would cost, or what is wrong with it; charges nothing."""
        try:
            form = read_form(dict(request.query), self._base_url)
            principal = await self._billing.principal(visit, form.report.rank_min)
            quote = await self._quote(principal, form)
        except (PageError, Problem) as error:
            return render(request, "price.html", visit, fault=sentence(error), quote=None, form=None)
        return render(request, "price.html", visit, fault=None, quote=quote, form=form)

    async def run(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Prepare, charge and submit the report, then show its job."""
        form = read_form(await form_of(request), self._base_url)
        principal = await self._billing.principal(visit, form.report.rank_min)
        quote = await self._quote(principal, form)
        charge = await self._billing.charge(request, principal, quote.units)
        return await charge.settle(self._submit(request, principal, quote, charge))

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
        await self._billing.principal(visit, BRAND)
        await self._orders.cancel(organization, request.match_info["id"])
        return see(f"/dashboard/jobs/{request.match_info['id']}")

    async def result(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The result as a file."""
        manifest = (await self._order(request, visit)).manifest
        if manifest is None:
            raise PageError(409, "This job has no result.")
        return stream.answer(request, manifest, await ResultBody.open(self._store, manifest))

    async def _order(self, request: web.Request, visit: SignedIn) -> Order:
        return await self._orders.find(visit.acting.membership.organization_id, request.match_info["id"])

    async def _quote(self, principal: Principal, form: ReportForm) -> Quote:
        return await self._reports.quote(principal.organization_id, form.report.kind, form.parameters, form.format)

    async def _submit(
        self, request: web.Request, principal: Principal, quote: Quote, charge: Charge
    ) -> web.StreamResponse:
        submitting = self._orders.submit(principal, quote.spec, charge, request[CONTEXT].span.traceparent)
        return see(f"/dashboard/jobs/{(await charge.pay_for(submitting)).order_id}")

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
        body = await ResultBody.open(self._store, manifest)
        try:
            text = b""
            while len(text) < manifest.bytes and (more := await body.read(len(text), manifest.bytes - len(text))):
                text += more
        finally:
            body.close()
        answer = await asyncio.to_thread(msgspec.json.decode, text)
        return answer["data"], answer["meta"]

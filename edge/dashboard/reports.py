"""Pages of the analytics: the report builder with its price, and the jobs that it makes."""

import asyncio
from typing import Any
from urllib.parse import urlencode

import msgspec
from aiohttp import web

from edge.analytics.envelope import aside
from edge.analytics.report import Picture
from edge.analytics.report_declarations import REPORTS, REPORTS_BY_KIND
from edge.analytics.reports import Quote, ReportService
from edge.dashboard import charts
from edge.dashboard.acting import PageBilling
from edge.dashboard.forms import Field, FormFaults, ReportForm, defaults_of, fields_of, read_form
from edge.dashboard.session_guard import PageError, SignedIn, form_of, render, see
from edge.dashboard.tables import export_question, question, table_of
from edge.http import stream
from edge.http.context import CONTEXT
from edge.http.problems import Problem
from edge.http.stream import ResultBody
from edge.jobs.service import JobOrders, Order, failure
from edge.quota.billing import Charge
from shared.analytics.results import MEDIA_TYPES
from shared.jobs.contract import EXPORT
from shared.objects.directory import ResultStore
from shared.organizations.accounts import BRAND, Principal

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

    async def builder(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The form of the report that the address chooses; its fields can be filled in by the address."""
        given = {name: value for name, value in request.query.items() if len(value) <= 400}
        return await self._form(request, visitor, given, FormFaults({}))

    async def price(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The cost of the filled-in form, or the fault of each field beside it; charges nothing."""
        given = dict(request.query)
        fields = _fields(given)
        values: dict[str, Any] = {"fields": fields, "faults": {}, "quote": None, "form": None, "empty": False}
        try:
            form = read_form(given, self._base_url)
            principal = await self._billing.principal(visitor, form.report.rank_min)
            quote = await self._quote(principal, form)
        except (PageError, Problem) as error:
            empty = not any(given.get(field.name, "").strip() for field in fields)
            return render(request, "price.html", visitor, **values | {"faults": _faults(error, fields), "empty": empty})
        return render(request, "price.html", visitor, **values | {"quote": quote, "form": form})

    async def run(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Prepare, charge and submit the report, then show its job; a form that is not valid is shown again."""
        given = await form_of(request)
        try:
            form = read_form(given, self._base_url)
            principal = await self._billing.principal(visitor, form.report.rank_min)
            quote = await self._quote(principal, form)
        except (PageError, Problem) as error:
            if isinstance(error, Problem) and error.type.status not in (400, 404):
                raise
            faults = FormFaults(_faults(error, _fields(given)))
            return await self._form(request, visitor, given, faults, 403 if _refused(error) else 400)
        charge = await self._billing.charge(request, principal, quote.units)
        return await charge.settle(self._submit(request, principal, quote, charge))

    async def _form(
        self, request: web.Request, visitor: SignedIn, given: dict[str, str], faults: FormFaults, status: int = 200
    ) -> web.StreamResponse:
        kind = given.get("kind", "")
        chosen = kind if kind in REPORTS_BY_KIND else REPORTS[0].kind.name
        fields = fields_of(REPORTS_BY_KIND[chosen])
        names = {field.name for field in fields} | {"kind", "format", "csrf"}
        return render(
            request,
            "reports.html",
            visitor,
            status,
            reports=REPORTS_BY_KIND,
            chosen=chosen,
            links=_links(given),
            fields=fields,
            given=given,
            foreign=sorted(name for name, value in given.items() if value.strip() and name not in names),
            faults=faults.faults,
            formats=list(MEDIA_TYPES),
            plan=await self._billing.plan(visitor),
        )

    async def jobs(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's jobs, the newest first."""
        organization = visitor.acting.membership.organization_id
        listed, total = await self._orders.list(organization, None, None, _LISTED, None)
        jobs = [(order, _question(order)) for order in listed[:_LISTED]]
        return render(request, "jobs.html", visitor, jobs=jobs, total=total, reports=REPORTS_BY_KIND)

    async def job(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One job: its progress, and its result as pictures and a table."""
        order = await self._order(request, visitor)
        if order.row["kind"] == EXPORT.name:
            return see(f"/dashboard/exports/{order.id}")
        return render(request, "job.html", visitor, **await self._shown(order))

    async def state(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The progress of a job, asked for again and again; once it has ended, its whole part of the page."""
        order = await self._order(request, visitor)
        if not order.ended:
            return render(request, "progress.html", visitor, order=order)
        response = render(request, "job_state.html", visitor, **await self._shown(order))
        response.headers.update({"HX-Retarget": "#job", "HX-Reswap": "outerHTML"})
        return response

    async def cancel(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Cancel a job; it costs nothing then."""
        organization = visitor.acting.membership.organization_id
        await self._billing.principal(visitor, BRAND)
        await self._orders.cancel(organization, request.match_info["id"])
        return see(f"/dashboard/jobs/{request.match_info['id']}")

    async def result(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The result as a file."""
        manifest = (await self._order(request, visitor)).manifest
        if manifest is None:
            raise PageError(409, "This job has no result.")
        return stream.answer(request, manifest, await ResultBody.open(self._store, manifest))

    async def _order(self, request: web.Request, visitor: SignedIn) -> Order:
        return await self._orders.find(visitor.acting.membership.organization_id, request.match_info["id"])

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
            "question": _question(order),
            "table": table_of(rows[: charts.ROWS_MAX]),
            "meta": meta,
            "report": report,
            **await drawn(picture, rows),
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


async def drawn(picture: Picture, rows: charts.Rows) -> dict[str, list[charts.Plot]]:
    """Return a report's `plots` and `bars`; those of many rows are made in a thread, beside other calls."""
    return await aside(len(rows), _drawn, picture, rows)


def _drawn(picture: Picture, rows: charts.Rows) -> dict[str, list[charts.Plot]]:
    return {"plots": charts.plots(picture, rows), "bars": charts.bars(picture, rows)}


def _links(given: dict[str, str]) -> dict[str, str]:
    """Return the query that opens each report's form with what was typed; also what the chosen one has no field for."""
    kept = {name: value for name, value in given.items() if value.strip() and name not in ("kind", "csrf")}
    return {kind: urlencode({"kind": kind, **kept}) for kind in REPORTS_BY_KIND}


def _question(order: Order) -> str:
    """Return the question of a job in words, so that two jobs of one report can be distinguished."""
    parameters = msgspec.json.decode(order.row["parameters"])
    if order.row["kind"] == EXPORT.name:
        return export_question(parameters)
    report = REPORTS_BY_KIND.get(order.row["kind"])
    return question(parameters, defaults_of(report) if report else {})


def _fields(given: dict[str, str]) -> tuple[Field, ...]:
    report = REPORTS_BY_KIND.get(given.get("kind", ""))
    return fields_of(report) if report else ()


def _faults(error: PageError | Problem, fields: tuple[Field, ...]) -> dict[str, str]:
    renamed = {field.parameter: field.name for field in fields}
    return FormFaults.of_failure(error, renamed, frozenset(field.name for field in fields)).faults


def _refused(error: PageError | Problem) -> bool:
    return isinstance(error, PageError) and error.status == 403

"""Pages of the analytics: the report builder with its price, and the jobs that it makes."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec
from aiohttp import web

from edge.analytics.envelope import in_thread_if_large
from edge.analytics.findings import SUBJECTS
from edge.analytics.period_words import Periods, coverage_text
from edge.analytics.report_service import SQL, ReportQuote
from edge.analytics.reports.declaration import Picture, Report
from edge.analytics.reports.declared import REPORTS, REPORTS_BY_KIND
from edge.analytics.reports.question import question_names, question_of
from edge.analytics.wording import PLAIN, Names, RowContext, name_of
from edge.dashboard import charts
from edge.dashboard.dates import range_text, with_days
from edge.dashboard.forms import Choice, Form, FormOffer, FormPages, in_words
from edge.dashboard.page_requests import PageError, redirect, send_file
from edge.dashboard.question_presets import address_of, preset_of, subject_of
from edge.dashboard.questions import export_question, question
from edge.dashboard.rendering import render
from edge.dashboard.result_files import FILE_KINDS, ResultFile, columns_of, file_name, file_of
from edge.dashboard.saved_reports import SavedReport, SavedReports
from edge.dashboard.summaries import summary_of
from edge.dashboard.tables import cell, heading, keys_in, repeats, table_of
from edge.dashboard.visitor import SUSPENDED, SignedIn
from edge.http import stream
from edge.http.context import CONTEXT, Context
from edge.http.parameters import whole_number
from edge.http.result_body import ResultBody
from edge.http.validation import fields_by_name
from edge.jobs.orders import JoinedOrderEnded, Order
from edge.jobs.serializer import failure
from edge.storage.database import Database
from shared.jobs.contract import EXPORT, JOB_KINDS
from shared.organizations.accounts import BRAND, Principal

_SHOWN_BYTES_MAX = 8 * 1024 * 1024
LISTED = 50


_FIELDS = {
    "kind": {"name": "observed"},  # the form's own `kind` is the report's
    "format": {"sentence": "Charts and tables are available for JSON only.", "default": ""},
}


def _form(report: Report) -> Form:
    """Return the form of a report: the parameter in its path, then those of its question, and the format."""
    endpoint = report.form
    path = (endpoint.path_parameter,) if endpoint.path_parameter else ()
    schema = type("ReportForm", (endpoint.query, *((endpoint.path_schema,) if endpoint.path_schema else ())), {})
    names = (*path, *question_names(endpoint.query), "format")
    # Without the parameter of its path, the report is of the whole list.
    return Form.over(schema(partial=path), names, _FIELDS, {"kind": report.kind.name})


FORMS = {one.kind.name: Choice(one.title, in_words(one.description), one.rank_min, _form(one)) for one in REPORTS}


@cache
def defaults_of(report: Report) -> dict[str, Any]:
    """Return the value of each parameter of a report's endpoints that holds where none is given."""
    queries = [fields_by_name(endpoint.query()) for endpoint in report.endpoints]
    return {name: field.load_default for query in queries for name, field in query.items()}


class AskedReport(NamedTuple):
    """What a filled-in form asks: the report, its canonical parameters and format, and the URL that asks the API."""

    report: Report
    parameters: dict[str, Any]
    format: str
    url: str


def asked_report(form: Form, base_url: str) -> AskedReport:
    """Return what a filled-in form asks. Raises the problems of parameters."""
    report, body = REPORTS_BY_KIND[form.hidden["kind"]], form.body()
    name = report.path_parameter
    loaded = form.load()
    parameters, path = question_of(report.form.query, loaded), f"/index{report.base_path}"
    if name:
        parameters = {name: loaded.get(name), **parameters}
        path += f"/{quote(body.pop(name), safe='')}" if name in body else ""
    return AskedReport(
        report, parameters, loaded["format"] or "json", f"{base_url}{path}?{urlencode(body, doseq=True)}".rstrip("?")
    )


class ReportPages(FormPages):
    path, title, button, chooses, choices = "/dashboard/reports", "New report", "Run report", "kind", FORMS

    async def _offer(self, request: web.Request, principal: Principal, form: Form) -> FormOffer:
        asked = asked_report(form, self._base_url)
        priced = await self._quote(principal, asked)
        return FormOffer(priced.units, asked.url, stored=priced.result is not None)

    async def _act(
        self, request: web.Request, visitor: SignedIn, principal: Principal, form: Form
    ) -> web.StreamResponse:
        return redirect(f"/dashboard/jobs/{await self.order(request[CONTEXT], principal, form)}")

    async def order(self, context: Context, principal: Principal, form: Form) -> str:
        """Order what a filled-in form of a report asks; return the order's id. Raises problems of its parameters."""
        context.act_as(principal)
        asked = asked_report(form, self._base_url)
        while True:
            priced = await self._quote(principal, asked)
            with suppress(JoinedOrderEnded):
                async with self._services.billing.charge(context, priced.units) as charge:
                    submitted = await self._services.reports.submit(context, principal, priced, charge)
                    charge.settle(web.Response(status=202))
                    return submitted.order_id

    async def price(self, principal: Principal, form: Form) -> int:
        """Return the units that a filled-in form of a report costs now. Raises problems of its parameters."""
        return (await self._quote(principal, asked_report(form, self._base_url))).units

    async def jobs(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's jobs, the newest first."""
        listed = await self._services.orders.list(visitor.acting.organization, None, None, LISTED, None)
        saved = await SavedReports(self._database).list(visitor.acting)
        return await show_orders(request, visitor, self._database, *listed, allowed=None, saved=saved)

    async def job(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One job: its progress, and its result as pictures and a table."""
        order = await self._order(request, visitor)
        if order.row["kind"] == EXPORT.name:
            return redirect(f"/dashboard/exports/{order.id}")
        return render(request, "job.html", visitor, **await self._shown(order, request.query.getall("columns", [])))

    async def row(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One row of a result with all of its fields and lists; rows are numbered from 1."""
        order = await self._order(request, visitor)
        rows, meta = await self._rows(order)
        number = whole_number(request.match_info["row"], 9) or 0
        if not 1 <= number <= len(rows):
            raise PageError(404, "This result has no such row.")
        row, report = rows[number - 1], REPORTS_BY_KIND.get(order.row["kind"])
        parameters = parameters_of(order)
        reading = RowContext(
            Periods.of(parameters, meta), meta["units"], await names_in(self._database, [parameters, row])
        )
        sentences = _sentences(report) if report else {}
        lists = {
            name: value
            for name, value in row.items()
            if value and isinstance(value, list) and isinstance(value[0], dict)
        }
        fields = [
            (heading(name, reading.units, row.get("currency")), cell(name, row, reading).text, sentences.get(name, ""))
            for name in row
            if name not in lists and not repeats(name, row)
        ]
        tables = {
            heading(name): table_of(value, reading, chosen=list(value[0]), currency=row.get("currency"))
            for name, value in lists.items()
        }
        return render(
            request,
            "row.html",
            visitor,
            order=order,
            report=report,
            question=question_in_words(order, reading.names),
            title=table_of([row], reading, report.columns if report else ()).rows[0][0].text,
            number=number,
            of=len(rows),
            fields=fields,
            tables=tables,
        )

    async def state(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The progress of a job, asked for again and again; once it has ended, its whole part of the page."""
        order = await self._order(request, visitor)
        if not order.ended:
            return render(request, "progress.html", visitor, order=order)
        response = render(request, "job_state.html", visitor, **await self._shown(order, []))
        response.headers.update({"HX-Retarget": "#job", "HX-Reswap": "outerHTML"})
        return response

    async def cancel(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Cancel a job; it costs nothing then."""
        organization = visitor.acting.organization
        await self._principal(visitor, BRAND)
        await self._services.orders.cancel(organization, request.match_info["id"])
        return redirect(f"/dashboard/jobs/{request.match_info['id']}")

    async def result(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The result as a file."""
        manifest = (await self._order(request, visitor)).manifest
        if manifest is None:
            raise PageError(409, "This job has no result. Run the report again.")
        body = await ResultBody.open(self._services.resources.results, manifest)
        self._services.open_downloads.hold(body, visitor.organization)
        return stream.answer(request, manifest, body)

    async def file(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The rows of a finished result as CSV, Excel or Parquet, with names; made of the one run, and free."""
        order = await self._order(request, visitor)
        kind = request.match_info["kind"]
        if kind not in FILE_KINDS:
            raise PageError(404, f"A result is had as {', '.join(FILE_KINDS)}.")
        rows, meta = await self._rows(order)
        if not rows:
            raise PageError(409, "This result has no rows for a file, or is too large for one. Download it as it is.")
        reading = await self._reading(order, rows, meta)
        made = await asyncio.to_thread(_file, kind, order, rows, meta, reading)
        name = file_name(self._subject(order, reading), reading.periods.first, reading.periods.last)
        return send_file(made.content, made.media_type, f"{name}.{made.extension}")

    async def _reading(self, order: Order, rows: list[dict[str, Any]], meta: dict[str, Any]) -> RowContext:
        parameters = parameters_of(order)
        names = await names_in(self._database, [parameters, *rows])
        return RowContext(Periods.of(parameters, meta), meta.get("units", {}), names)

    def _subject(self, order: Order, reading: RowContext) -> str:
        """Return what a result is of, as the name of its files has it: `Vitasoy price index`."""
        report, parameters = REPORTS_BY_KIND.get(order.row["kind"]), parameters_of(order)
        named = [name_of(reading.names, field, one) for field in SUBJECTS for one in _listed(parameters.get(field))]
        return " ".join([*named[:2], report.title if report else str(order.row["kind"])])

    async def _order(self, request: web.Request, visitor: SignedIn) -> Order:
        organization = visitor.acting.organization
        if visitor.suspended:  # as the API refuses its key
            raise PageError(403, SUSPENDED)
        order = await self._services.orders.find(organization, request.match_info["id"])
        if not JOB_KINDS[order.row["kind"]].listed:
            raise PageError(404, "The batches of a table have no page; their results are in the table.")
        return order

    async def _quote(self, principal: Principal, asked: AskedReport) -> ReportQuote:
        return await self._services.reports.quote(
            principal.organization_id, asked.report.kind, asked.parameters, asked.format
        )

    async def _shown(self, order: Order, columns: list[str]) -> dict[str, Any]:
        rows, meta = await self._rows(order)
        kind, parameters = order.row["kind"], parameters_of(order)
        report = REPORTS_BY_KIND.get(kind)
        listed = rows[: charts.ROWS_MAX]
        # Pictures have groups of all rows; of the other fields only those in the table are named.
        groups: list[dict[str, Any]] = [
            {name: row[name] for name in ("brand", "category") if name in row} for row in rows
        ]
        names = await names_in(self._database, [parameters, *listed, *groups])
        # A list of all brands or categories comes a page at a time; `total` counts the whole list.
        paged = "brand" if report and report.path_parameter == "slug" else "category"
        on_page = len({group.get(paged) for group in groups})
        reading = RowContext(Periods.of(parameters, meta), meta.get("units", {}), names)
        return {
            "order": order,
            "failure": failure(order),
            "question": question_in_words(order, names),
            "table": table_of(listed, reading, report.columns if report else (), columns),
            "summary": summary_of(report, parameters, rows, reading) if meta and report else None,
            "meta": meta,
            "coverage": coverage_text(meta) if meta else "",
            "on_page": on_page if on_page < meta.get("total", 0) else None,
            "report": report,
            "preset": preset_of(kind, parameters),
            "again": address_of(kind, parameters),
            "subject": subject_of(parameters),
            **await draw_charts(report.picture if report else Picture(), rows, reading),
        }

    async def _rows(self, order: Order) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        manifest = order.manifest
        if manifest is None or manifest.format != "json" or manifest.bytes > _SHOWN_BYTES_MAX:
            return [], {}
        body = await ResultBody.open(self._services.resources.results, manifest)
        try:
            text = b""
            while len(text) < manifest.bytes and (more := await body.read(len(text), manifest.bytes - len(text))):
                text += more
        finally:
            body.close()
        answer = await asyncio.to_thread(msgspec.json.decode, text)
        return answer["data"], answer["meta"]


def _listed(value: Any) -> list[str]:
    return list(value) if isinstance(value, list) else [value] if value else []


def _file(kind: str, order: Order, rows: list[dict[str, Any]], meta: dict[str, Any], reading: RowContext) -> ResultFile:
    remarks = [
        f"{coverage_text(meta)}, {range_text(meta['from'], meta['to'])}.",
        f"Method: {meta['method']}.",
        f"Data version {meta['data_version']}.",
    ]
    return file_of(kind, columns_of(rows, reading), with_days(question_in_words(order, reading.names)), remarks)


async def show_orders(
    request: web.Request,
    visitor: SignedIn,
    database: Database,
    orders: list[Order],
    total: int,
    *,
    allowed: bool | None,
    stored: tuple[int, int] | None = None,
    saved: Sequence[SavedReport] = (),
) -> web.StreamResponse:
    """Show a list of jobs, the newest first, each with its question.

    `allowed` is None where jobs of every kind are listed; of exports, whether the plan includes them. `stored` are the
    bytes of exports that are stored, and how many may be.
    """
    asked = [(order, parameters_of(order)) for order in orders[:LISTED]]
    names = await names_in(database, [parameters for _, parameters in asked])
    jobs = [
        (order, parameters, preset_of(order.row["kind"], parameters), question_in_words(order, names))
        for order, parameters in asked
    ]
    return render(
        request,
        "exports.html" if allowed is not None else "jobs.html",
        visitor,
        jobs=jobs,
        total=total,
        reports=REPORTS_BY_KIND,
        allowed=allowed,
        stored=stored,
        saved=saved,
    )


async def names_in(database: Database, values: list[Any]) -> Names:
    """Return the names of all brands, categories and items that parameters or rows hold, by kind and key."""
    keys = keys_in(values, {})
    if not keys:
        return {}
    names: dict[str, dict[str, str]] = {}
    arguments = [sorted(keys.get(kind, ())) for kind in ("brand", "category", "iid")]
    for row in await database.fetch(SQL.names, *arguments):
        names.setdefault(row["kind"], {})[row["key"]] = row["name"]
    return names


async def draw_charts(picture: Picture, rows: charts.Rows, reading: RowContext = PLAIN) -> dict[str, list[charts.Plot]]:
    """Return a report's `plots` and `bars`; those of many rows are made in a thread, beside other calls."""
    return await in_thread_if_large(len(rows), _drawn, picture, rows, reading)


def _drawn(picture: Picture, rows: charts.Rows, reading: RowContext) -> dict[str, list[charts.Plot]]:
    return {"plots": charts.plots(picture, rows, reading), "bars": charts.bars(picture, rows, reading)}


def _sentences(report: Report) -> dict[str, str]:
    """Return what each field of a report's rows is, as the API's document says it."""
    fields = report.row.fields
    said = {field.data_key or name: field.metadata.get("description", "") for name, field in fields.items()}
    return said | {"period": "Days of the period that have data"} | dict.fromkeys(("brand", "category", "channel"), "")


def parameters_of(order: Order) -> dict[str, Any]:
    """Return what an order asks."""
    parameters: dict[str, Any] = msgspec.json.decode(order.row["parameters"])
    return parameters


def question_in_words(order: Order, names: Names) -> str:
    """Return the question of a job in words, so that two jobs of one report can be distinguished."""
    parameters = parameters_of(order)
    if order.row["kind"] == EXPORT.name:
        return export_question(parameters, names)
    report = REPORTS_BY_KIND.get(order.row["kind"])
    return question(parameters, defaults_of(report) if report else {}, names)

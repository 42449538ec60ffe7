"""The routes of the reports: one handler is built for each declared endpoint."""

from contextlib import suppress

from aiohttp import web

from edge.analytics.envelope import estimate
from edge.analytics.report_service import ReportService
from edge.analytics.reports.declaration import Report, ReportEndpoint
from edge.analytics.reports.declared import REPORTS
from edge.analytics.reports.question import question_of
from edge.http.context import CONTEXT
from edge.http.routing import API_PATH, KEY, Handler, Route, Rule, RulePrice, operation
from edge.http.validation import PATH, QUERY
from edge.jobs.handlers import RESULT_PROBLEMS
from edge.jobs.orders import JoinedOrderEnded
from edge.jobs.schemas import Job
from edge.quota.billing import Billing
from shared.analytics.manifest import MEDIA_TYPES

_PROBLEMS = ("not-acceptable", "query-too-large", "job-failed", "job-cancelled", *RESULT_PROBLEMS)


def routes(reports: ReportService, billing: Billing) -> tuple[Route, ...]:
    """Return a route with its rule for each endpoint of each report."""
    return tuple(
        Route("GET", f"{API_PATH}/index{at.path}", _handler(report, at, reports, billing), _rule(report, at))
        for report in REPORTS
        for at in report.endpoints
    )


def _rule(report: Report, endpoint: ReportEndpoint) -> Rule:
    return Rule(
        name=report.route_name,
        accepts=KEY,
        rank_min=report.rank_min,
        problems=(*_PROBLEMS, *endpoint.problems),
        price=RulePrice(report.kind.units, stored=report.kind.units_cached),
    )


def _handler(report: Report, endpoint: ReportEndpoint, reports: ReportService, billing: Billing) -> Handler:
    """Return the handler of an endpoint: it prepares, charges and responds; for a dry run it only prepares."""

    @operation(
        "reports",
        endpoint.operation,
        *([endpoint.path_schema] if endpoint.path_schema else []),
        endpoint.query,
        answers={
            202: (Job, "The job that computes it; `Location` is its address"),
            200: (report.reply, "The report, or with `dry_run` its price"),
            206: "The requested range of the file",
            304: "Your copy is current.",
        },
        summary=endpoint.summary,
        description=endpoint.description,
        produces=list(MEDIA_TYPES.values()),
    )
    async def show(request: web.Request) -> web.StreamResponse:
        context, parameters = request[CONTEXT], question_of(endpoint.query, request[QUERY])
        if name := report.path_parameter:
            parameters = {name: request.get(PATH, {}).get(name), **parameters}
        if request[QUERY]["dry_run"]:
            await billing.count_call(context)
            quote = await reports.prepare(request, report.kind, parameters)
            spec, cached = quote.spec, quote.result is not None
            return estimate(
                spec.kind.name, quote.units, spec.format, spec.data_version, cached=cached, parameters=spec.parameters
            )
        while True:
            quote = await reports.prepare(request, report.kind, parameters)
            with suppress(JoinedOrderEnded):
                async with billing.charge(context, quote.units) as charge:
                    return charge.settle(await reports.respond(request, quote, charge))

    return show

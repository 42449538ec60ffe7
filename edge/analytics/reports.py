"""One handler for all reports: it is built for each declared endpoint."""

from functools import cache
from typing import Any

from aiohttp import web
from aiohttp_apispec import docs, match_info_schema, querystring_schema, response_schema
from marshmallow import Schema

from edge.analytics.report import Endpoint, Report
from edge.analytics.report_declarations import REPORTS
from edge.analytics.report_schemas import question_of
from edge.analytics.report_service import ReportService, estimate
from edge.http.context import CONTEXT
from edge.http.parameters import PATH, QUERY
from edge.http.routing import API_PATH, KEY, Handler, Price, Route, Rule
from edge.jobs.handlers import RESULT_PROBLEMS
from edge.jobs.schemas import Job
from edge.quota.billing import Billing
from shared.analytics.results import MEDIA_TYPES


class ReportEndpoint:
    """GET of one endpoint of one report."""

    def __init__(self, report: Report, endpoint: Endpoint, reports: ReportService, billing: Billing) -> None:
        self.report = report
        self.endpoint = endpoint
        self._reports = reports
        self._billing = billing

    async def show(self, request: web.Request) -> web.StreamResponse:
        """Prepare, charge, respond; a dry run only prepares."""
        context, parameters = request[CONTEXT], self._parameters(request)
        if request[QUERY]["dry_run"]:
            await self._billing.count_call(context)
            return estimate(await self._reports.prepare(request, self.report.kind, parameters))
        quote = await self._reports.prepare(request, self.report.kind, parameters)
        charge = await self._billing.charge(context, quote.units)
        return await charge.settle(self._reports.respond(request, quote, charge))

    def handler(self) -> Handler:
        """Return the handler with its declarations for validation and for the OpenAPI document."""

        async def show(request: web.Request) -> web.StreamResponse:
            return await self.show(request)

        return documented(self.report, self.endpoint, show)

    def _parameters(self, request: web.Request) -> dict[str, Any]:
        parameters = question_of(self.endpoint.query, request[QUERY])
        name = self.report.path_parameter
        return {name: request.get(PATH, {}).get(name), **parameters} if name else parameters


@cache
def _made(schema: type[Schema]) -> Schema:
    """Return the one instance of a schema: making it takes longer than all else of a route."""
    return schema()


def documented(report: Report, endpoint: Endpoint, handler: Any) -> Handler:
    """Attach an endpoint's parameters and answers to its handler."""
    handler = querystring_schema(_made(endpoint.query))(handler)
    if endpoint.path_schema is not None:
        handler = match_info_schema(_made(endpoint.path_schema))(handler)
    handler = response_schema(_made(Job), 202, description="The job that computes it; `Location` is its address")(
        handler
    )
    handler = response_schema(_made(report.reply), 200, description="The report, or with `dry_run` its price")(handler)
    declared: Handler = docs(
        operationId=endpoint.operation,
        summary=endpoint.summary,
        description=endpoint.description,
        tags=["reports"],
        produces=list(MEDIA_TYPES.values()),
        responses={
            "206": {"description": "Part that `Range` asks for."},
            "304": {"description": "Your copy is current."},
        },
    )(handler)
    return declared


# The routes of the reports, one for each declared endpoint.


_PROBLEMS = ("not-acceptable", "query-too-large", "job-failed", "job-cancelled", *RESULT_PROBLEMS)


def routes(reports: ReportService, billing: Billing) -> tuple[Route, ...]:
    """Return a route with its rule for each endpoint of each report."""
    made = [ReportEndpoint(report, endpoint, reports, billing) for report in REPORTS for endpoint in report.endpoints]
    return tuple(Route("GET", f"{API_PATH}/index{one.endpoint.path}", one.handler(), _rule(one)) for one in made)


def _rule(one: ReportEndpoint) -> Rule:
    kind = one.report.kind
    return Rule(
        name=one.report.route_name,
        accepts=KEY,
        rank_min=one.report.rank_min,
        problems=(*_PROBLEMS, *one.endpoint.problems),
        price=Price(kind.units, stored=kind.units_cached),
    )

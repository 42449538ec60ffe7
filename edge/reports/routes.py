"""The routes of the reports, one for each declared endpoint."""

from edge.http.routing import API_PATH, KEY, Price, Route, Rule
from edge.jobs.handlers import RESULT_PROBLEMS
from edge.quota.billing import Billing
from edge.reports.declarations import REPORTS
from edge.reports.handlers import ReportEndpoint
from edge.reports.service import ReportService

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

"""How a report is declared: its kind of job, plan, endpoints, rows, and how the dashboard shows it."""

from dataclasses import dataclass
from typing import Any

from marshmallow import Schema

from edge.analytics.findings import Find, find_nothing
from edge.analytics.reports.answer import ReportAnswer
from edge.analytics.reports.fields import headings_of
from edge.analytics.reports.question import ReportQuery
from edge.http.parameters import Parameters
from shared.jobs.contract import JobKind

_NOT_FOUND = {
    "brand-not-found": {"brand", "slug"},
    "category-not-found": {"category", "code", "parent"},
    "weights-not-found": {"weights"},
}


@dataclass(frozen=True, slots=True)
class Picture:
    """The charts that the dashboard draws of a report's rows, by the names of their columns.

    `lines`: one plot for each column, its values by period, with one line for each group. `spread`: one plot of these
    columns for rows of a single group; rows of several groups are compared by `compared` instead; both have titles.
    The area between the two columns of `band` is filled: an interval, or the middle of a distribution.
    `boxes`: whether the rows have the percentiles of a distribution; it is drawn for each group of the newest period.
    A column x with the columns x_low and x_high is drawn with this interval. `changes` are drawn as `lines` are, and
    never as bars, which have no negative lengths. Points of periods in which outliers were found are hollow.
    """

    lines: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    compared: str = ""
    spread_title: str = "Prices"
    compared_title: str = "Median price"
    boxes: bool = False
    band: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportEndpoint:
    """One GET of a report.

    `path` is below /v1/index and has at most one parameter, a field of `path_schema`. `example` is a path and query
    with `{brand}` or `{category}` in it; the OpenAPI document shows its answer over the demo data (of reductions, over
    prices that tests/support/examples.py invents: the demo has no list prices).
    """

    operation: str
    path: str
    summary: str
    description: str
    query: type[ReportQuery]
    path_schema: type[Parameters] | None = None
    example: str | None = None

    @property
    def path_parameter(self) -> str | None:
        """The name of the parameter in the path."""
        return next(iter(self.path_schema().fields)) if self.path_schema else None

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems of its parameters: a name that the edge knows may be gone when the worker looks for it."""
        parameters = {*self.query().fields, self.path_parameter}
        return tuple(problem for problem, names in _NOT_FOUND.items() if parameters & names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One report: its kind of job with its units, the plan that it needs, its endpoints, its rows, and how it is shown.

    `rank_min` is the least rank of plan that may order it, `entitlement` its name in GET /v1/. `usage_name` is its name
    in metrics and statistics of use where that is not the kind's. The dashboard's form orders the last endpoint, its
    table of rows shows `columns` first, and its sentence above them is `finding`, or `absence` where there are none.
    """

    kind: JobKind
    title: str
    description: str
    rank_min: int
    entitlement: str
    reply: type[ReportAnswer]
    endpoints: tuple[ReportEndpoint, ...]
    finding: Find
    absence: Find = find_nothing
    picture: Picture = Picture()
    columns: tuple[str, ...] = ()
    usage_name: str = ""

    @property
    def route_name(self) -> str:
        """The name of its routes in metrics and statistics of use."""
        return self.usage_name or self.kind.name

    @property
    def base_path(self) -> str:
        """The path, below /v1/index, that has no parameter."""
        return self.endpoints[0].path

    @property
    def path_parameter(self) -> str | None:
        """The parameter that one of its paths has. In the others the whole list is asked for, and it is null."""
        return next((endpoint.path_parameter for endpoint in self.endpoints if endpoint.path_schema), None)

    @property
    def form(self) -> ReportEndpoint:
        """The endpoint whose parameters the dashboard's form has."""
        return self.endpoints[-1]

    @property
    def headings(self) -> dict[str, str]:
        """The headings of its columns on the dashboard, of those whose name is none."""
        return headings_of(self.row)

    @property
    def row(self) -> Schema:
        """The schema of its rows."""
        data: Any = self.reply().fields["data"]
        row: Schema = data.inner.schema
        return row

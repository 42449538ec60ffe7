"""Parameters and answer of the report on announced reductions."""

from marshmallow import fields

from edge.analytics.envelope import outliers_field
from edge.http.parameters import Utf8
from edge.reports.rows import ReductionRow
from edge.reports.schemas import Reply, ReportQuery, granularity, listed


class ReductionsQuery(ReportQuery):
    """Query of announced reductions: those that began in the range."""

    category = listed(Utf8(1, 400), "Category (code) and those below it; repeat for more: any of them")
    granularity = granularity(None)
    outliers = outliers_field()


class ReductionsReply(Reply):
    """Announced reductions."""

    data = fields.List(fields.Nested(ReductionRow()))

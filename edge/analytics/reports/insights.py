"""What insights of brands and of categories have in common."""

from marshmallow import Schema, fields, validate

from edge.analytics.conversion import ConvertQuery
from edge.analytics.envelope import outliers_field
from edge.analytics.reports.declaration import Picture
from edge.analytics.reports.fields import amount_field, count_field, kind_field, share_field, text_field
from edge.analytics.reports.measure import MeasureQuery
from edge.analytics.reports.question import ReportQuery
from edge.http.parameters import list_parameter

INSIGHTS = Picture(spread=("median",), spread_title="Median price", compared="median", changes=("index_change",))


class ChannelMedian(Schema):
    """A channel's items and their median price."""

    channel = text_field("Code")
    items = count_field("Distinct items")
    observations = count_field("Observations")
    share = share_field("Share of the row's items; an item of several channels counts in each")
    median = amount_field()


class InsightsQuery(MeasureQuery, ConvertQuery, ReportQuery):
    """Query of insights."""

    kind = kind_field()
    outliers = outliers_field()


class OneInsightQuery(InsightsQuery):
    """Query of the insights of one brand or category."""

    group_by = list_parameter(fields.Str(validate=validate.OneOf(["channel"])), "Separate rows for each channel", 1)

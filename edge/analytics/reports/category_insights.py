"""Insights of categories: prices, price changes, channels, top brands and rank."""

from marshmallow import Schema, fields

from edge.analytics.findings import find_median
from edge.analytics.reports.answer import PriceChangeRow, report_of
from edge.analytics.reports.declaration import Report, ReportEndpoint
from edge.analytics.reports.fields import amount_field, count_field, share_field, sort_field, text_field
from edge.analytics.reports.insights import INSIGHTS, ChannelMedian, InsightsQuery, OneInsightQuery
from edge.http.parameters import CursorText, PathParameters, Utf8, WholeNumber, field_doc
from shared.jobs.contract import CATEGORY_INSIGHTS
from shared.organizations.accounts import BRAND


class TopBrand(Schema):
    """A brand with many items in a category."""

    brand = text_field("Slug")
    name = text_field("Name")
    items = count_field("Distinct items")
    observations = count_field("Observations")
    share = share_field("Share of the category's items")
    median = amount_field()


class CategoryRow(PriceChangeRow):
    """A category in one period and currency."""

    category = text_field("Code")
    path = fields.List(fields.Str())
    channel = text_field("Code; only with `group_by=channel`")
    median = amount_field()
    median_before = amount_field("Median price of the whole previous period")
    median_change = share_field("median / median_before - 1", heading="Change of the median")
    observations_before = count_field("Observations of the whole previous period", nullable=True)
    rank = count_field("Rank by items among categories of the same depth, within the filters", nullable=True)
    rank_before = count_field("Rank in the whole previous period", nullable=True)
    ranked = count_field("Number of ranked categories", nullable=True)
    channels = fields.List(fields.Nested(ChannelMedian()))
    top_brands = fields.List(fields.Nested(TopBrand()))


class CategoryListQuery(InsightsQuery):
    """Query of the insights of many categories."""

    sort = sort_field("category", "category")
    limit = WholeNumber(1, 500, load_default=500)
    cursor = CursorText()
    parent = Utf8(
        1, 400, load_default=None, metadata=field_doc("Only the children of this category; default: first level")
    )


class CategoryPath(PathParameters):
    """Path of one category."""

    code = Utf8(1, 400, required=True, metadata=field_doc("Category code", example="drinks.soy-milk"))


CategoryReport = report_of(CategoryRow, "CategoryReport", "Insights of categories.")


REPORT = Report(
    kind=CATEGORY_INSIGHTS,
    title="Category",
    description="Prices, price changes, channels, top brands and rank.",
    rank_min=BRAND,
    entitlement="category-insights",
    reply=CategoryReport,
    endpoints=(
        ReportEndpoint(
            operation="listCategoryInsights",
            path="/insights/categories",
            summary="Insights for all categories",
            description="Items, prices, price changes, channels and rank of each category.",
            query=CategoryListQuery,
        ),
        ReportEndpoint(
            operation="getCategoryInsights",
            path="/insights/categories/{code}",
            summary="Insights for one category",
            description="Items, prices, price changes, channels and rank.",
            query=OneInsightQuery,
            path_schema=CategoryPath,
            example="/insights/categories/{category}",
        ),
    ),
    picture=INSIGHTS,
    finding=find_median("median"),
    columns=("median", "median_change", "rank", "items", "observations", "top_brands", "channels"),
)

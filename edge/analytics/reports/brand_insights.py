"""Insights of brands: rank, prices compared with their categories, and peers."""

from marshmallow import Schema, fields

from edge.analytics.findings import find_median
from edge.analytics.reports.answer import PriceChangeRow, report_of
from edge.analytics.reports.declaration import Report, ReportEndpoint
from edge.analytics.reports.fields import amount_field, count_field, share_field, sort_field, text_field
from edge.analytics.reports.insights import INSIGHTS, InsightsQuery, OneInsightQuery
from edge.http.parameters import CursorText, PathParameters, Utf8, WholeNumber, field_doc
from shared.jobs.contract import BRAND_INSIGHTS
from shared.organizations.accounts import BRAND


class BrandCategory(Schema):
    """A brand's figures in one category."""

    category = text_field("Code", nullable=True)
    items = count_field("Distinct items")
    observations = count_field("Observations")
    share = share_field("Share of the brand's items")
    median = amount_field("Median price of the brand in the category")
    category_median = amount_field("Median price of the category", heading="Median of the category")
    against_category = share_field("median / category_median", heading="Against the category")


class Peer(Schema):
    """Another brand in the brand's largest category."""

    brand = text_field("Slug")
    name = text_field("Name")
    items = count_field("Distinct items")
    observations = count_field("Observations")
    median = amount_field()


class BrandRow(PriceChangeRow):
    """A brand in one period and currency."""

    brand = text_field("Slug")
    name = text_field("Name")
    channel = text_field("Code; only with `group_by=channel`")
    rank = count_field("Rank by items among all brands, within the filters")
    rank_before = count_field("Rank in the whole previous period", nullable=True)
    ranked = count_field("Number of ranked brands")
    percentile = fields.Float(metadata=field_doc("Percentage of the other brands with fewer items", example=97.5))
    median = amount_field()
    median_change = share_field(
        "Change of the median since the whole previous period; 0.1 means 10 % higher", heading="Change of the median"
    )
    against_categories = share_field(
        "Mean of median / category median over the brand's categories, weighted by its items",
        heading="Against its categories",
    )
    categories = fields.List(fields.Nested(BrandCategory()))
    peers = fields.List(fields.Nested(Peer()))


class BrandListQuery(InsightsQuery):
    """Query of the insights of many brands."""

    sort = sort_field("brand", "-items")
    limit = WholeNumber(1, 500, load_default=50)
    cursor = CursorText()


class BrandPath(PathParameters):
    """Path of one brand."""

    slug = Utf8(1, 200, required=True, metadata=field_doc("Brand slug", example="vitasoy"))


BrandReport = report_of(BrandRow, "BrandReport", "Insights of brands.")


REPORT = Report(
    kind=BRAND_INSIGHTS,
    title="Brand",
    description="Rank, prices compared with its categories, and peers.",
    rank_min=BRAND,
    entitlement="brand-insights",
    reply=BrandReport,
    endpoints=(
        ReportEndpoint(
            operation="listBrandInsights",
            path="/insights/brands",
            summary="Insights for all brands",
            description="Rank, percentile, prices compared with their categories, and peers.",
            query=BrandListQuery,
        ),
        ReportEndpoint(
            operation="getBrandInsights",
            path="/insights/brands/{slug}",
            summary="Insights for one brand",
            description="Rank, percentile, prices compared with its categories, and peers.",
            query=OneInsightQuery,
            path_schema=BrandPath,
            example="/insights/brands/{brand}",
        ),
    ),
    picture=INSIGHTS,
    finding=find_median("median"),
    columns=(
        "median",
        "median_change",
        "rank",
        "items",
        "observations",
        "against_categories",
        "categories",
        "peers",
    ),
)

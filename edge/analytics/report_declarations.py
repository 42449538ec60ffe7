"""The reports, each declared once, with the parameters and answers that no other module has."""

from marshmallow import fields, validate

from edge.analytics import report_schemas as schemas
from edge.analytics.envelope import outliers_field
from edge.analytics.report import Endpoint, Picture, Report
from edge.analytics.report_schemas import (
    ReductionRow,
    ReportAnswer,
    ReportMeta,
    ReportQuery,
    RollupRow,
    granularity,
    groups,
    listed,
)
from edge.analytics.schemas import DisplacementMeta, DisplacementQuery
from edge.http.parameters import Utf8
from shared.analytics.footprint import BASES, CODES
from shared.jobs.contract import (
    BRAND_INSIGHTS,
    CATEGORY_INSIGHTS,
    COHORTS,
    PRICE_INDEX,
    REDUCTIONS,
    SUSTAINABILITY_ROLLUP,
)
from shared.organizations.accounts import BRAND, INSTITUTIONAL

# Parameters and answer of the report on announced reductions.


class ReductionsQuery(ReportQuery):
    """Query of announced reductions: those that began in the range."""

    category = listed(Utf8(1, 400), "Category (code), including all below it; repeat to select several")
    granularity = granularity(None)
    outliers = outliers_field()


class ReductionsReport(ReportAnswer):
    """Announced reductions."""

    data = fields.List(fields.Nested(ReductionRow()), required=True)


# Parameters and answer of the sustainability rollup, declared once.


class RollupQuery(DisplacementQuery, ReportQuery):
    """Query of a sustainability rollup."""

    granularity = granularity("month")
    group_by = groups("brand", "category", "channel")
    brand = listed(Utf8(1, 200), "Brand (slug); repeat to select several", example="vitasoy")
    category = listed(Utf8(1, 400), "Category (code), including all below it; repeat to select several")
    basis = fields.Str(
        load_default=None,
        validate=validate.OneOf(BASES),
        metadata={
            "description": "Multiply figures by units sold, or count each item once; default: sales if there are any, "
            "otherwise the assortment"
        },
    )


class RollupMeta(ReportMeta):
    """Context of a rollup."""

    displacement = fields.Nested(
        DisplacementMeta(),
        metadata={"description": "Rate used for `avoided`; only with `displacement` or `displacement_rate`"},
    )


class RollupReport(ReportAnswer):
    """A sustainability rollup."""

    meta = fields.Nested(RollupMeta(), required=True)
    data = fields.List(fields.Nested(RollupRow()), required=True)


# The reports. Each is declared here once; CONTRIBUTING.md says how to add one.


INSIGHTS = Picture(spread=("median",), spread_title="Median price", compared="median", changes=("index_change",))
REPORTS = (
    Report(
        kind=COHORTS,
        title="Cohort",
        description="What a set of brands or categories sold for, period by period.",
        rank_min=BRAND,
        entitlement="cohort-intelligence",
        reply=schemas.CohortReport,
        endpoints=(
            Endpoint(
                operation="getCohorts",
                path="/cohorts",
                summary="Prices of a cohort",
                description="Exact percentiles of prices per group and period.",
                query=schemas.CohortsQuery,
                example="/cohorts?brand={brand}",
            ),
        ),
        picture=Picture(
            spread=("p10", "p50", "p90", "mean"),
            compared="p50",
            boxes=True,
            band=("p10", "p90"),
        ),
        columns=("p50", "p10", "p90", "mean", "items", "observations", "channels"),
    ),
    Report(
        kind=CATEGORY_INSIGHTS,
        title="Category",
        description="Prices, change, channels, top brands and rank.",
        rank_min=BRAND,
        entitlement="category-insights",
        reply=schemas.CategoryReport,
        endpoints=(
            Endpoint(
                operation="listCategoryInsights",
                path="/insights/categories",
                summary="Insights of all categories",
                description="Items, prices, change, channels and rank of each.",
                query=schemas.CategoryListQuery,
            ),
            Endpoint(
                operation="getCategoryInsights",
                path="/insights/categories/{code}",
                summary="Insights of one category",
                description="Items, prices, change, channels and rank.",
                query=schemas.OneInsightQuery,
                path_schema=schemas.CategoryPath,
                problems=("category-not-found",),
                example="/insights/categories/{category}",
            ),
        ),
        picture=INSIGHTS,
        columns=("median", "median_change", "rank", "items", "observations", "top_brands", "channels"),
    ),
    Report(
        kind=BRAND_INSIGHTS,
        title="Brand",
        description="Rank, prices against its categories, peers.",
        rank_min=BRAND,
        entitlement="brand-insights",
        reply=schemas.BrandReport,
        endpoints=(
            Endpoint(
                operation="listBrandInsights",
                path="/insights/brands",
                summary="Insights of all brands",
                description="Rank, percentile, prices against their categories, peers.",
                query=schemas.BrandListQuery,
            ),
            Endpoint(
                operation="getBrandInsights",
                path="/insights/brands/{slug}",
                summary="Insights of one brand",
                description="Rank, percentile, prices against its categories, peers.",
                query=schemas.OneInsightQuery,
                path_schema=schemas.BrandPath,
                problems=("brand-not-found",),
                example="/insights/brands/{brand}",
            ),
        ),
        picture=INSIGHTS,
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
    ),
    Report(
        kind=PRICE_INDEX,
        title="Price index",
        description="How prices of the same items changed, free of the mix.",
        rank_min=BRAND,
        entitlement="price-index",
        reply=schemas.PriceIndexReport,
        endpoints=(
            Endpoint(
                operation="getPriceIndex",
                path="/prices/index",
                summary="Price index",
                description="Matched-item index of each period, its interval, and the median beside it.",
                query=schemas.PriceIndexQuery,
                problems=("brand-not-found", "category-not-found"),
                example="/prices/index?category={category}&granularity=day",
            ),
        ),
        picture=Picture(
            spread=("index", "low", "high", "median_index"),
            spread_title="Price index and median",
            compared="index",
            compared_title="Price index",
            lines=("share_matched",),
            band=("low", "high"),
        ),
        columns=("index", "low", "high", "median", "items", "matched_items", "share_matched"),
    ),
    Report(
        kind=REDUCTIONS,
        title="Reductions",
        description="How many announced reductions hold against the prior price.",
        rank_min=BRAND,
        entitlement="reductions",
        reply=ReductionsReport,
        endpoints=(
            Endpoint(
                operation="getReductions",
                path="/insights/reductions",
                summary="Announced reductions",
                description="Reductions that began in a period, and how many hold under Directive 98/6/EC Art. 6a.",
                query=ReductionsQuery,
                problems=("category-not-found",),
                example="/insights/reductions?category={category}",
            ),
        ),
        picture=Picture(lines=("share_holding",)),
        columns=("announced", "holding", "overstated", "not_below", "undecided", "share_holding", "items"),
    ),
    Report(
        kind=SUSTAINABILITY_ROLLUP,
        title="Footprint",
        description="CO2e, water and waste of what was observed.",
        rank_min=INSTITUTIONAL,
        entitlement="sustainability-rollup",
        usage_name="rollup",
        reply=RollupReport,
        endpoints=(
            Endpoint(
                operation="getSustainabilityRollup",
                path="/rollups/sustainability",
                summary="Sustainability rollup",
                description="Units, CO2e, water and waste per period and group.",
                query=RollupQuery,
                example="/rollups/sustainability?brand={brand}&group_by=category",
            ),
        ),
        picture=Picture(
            spread=("co2e_kg_low", "co2e_kg_central", "co2e_kg_high"),
            spread_title="Greenhouse gas emissions, kg CO2e",
            compared="co2e_kg_central",
            compared_title="Greenhouse gas emissions, kg CO2e",
            band=("co2e_kg_low", "co2e_kg_high"),
            lines=CODES,
        ),
        columns=("items", "items_covered", *(f"{code}_central" for code in CODES), "units", "contributors"),
    ),
)
REPORTS_BY_KIND: dict[str, Report] = {report.kind.name: report for report in REPORTS}

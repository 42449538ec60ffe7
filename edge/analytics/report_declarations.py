"""The reports, each declared once."""

from dataclasses import dataclass

from edge.analytics import report_schemas as schemas
from edge.analytics.report_schemas import ReportAnswer, ReportQuery
from edge.http.parameters import Parameters
from shared.analytics.footprint import CODES
from shared.jobs.contract import (
    BRAND_INSIGHTS,
    CATEGORY_INSIGHTS,
    COHORTS,
    PRICE_INDEX,
    REDUCTIONS,
    SUSTAINABILITY_ROLLUP,
    Kind,
)
from shared.organizations.accounts import BRAND, INSTITUTIONAL


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


_NOT_FOUND = {"brand-not-found": {"brand", "slug"}, "category-not-found": {"category", "code", "parent"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
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
    in metrics and statistics of use where that is not the kind's. The dashboard's form orders the last endpoint; its
    table of rows shows `columns` first.
    """

    kind: Kind
    title: str
    description: str
    rank_min: int
    entitlement: str
    reply: type[ReportAnswer]
    endpoints: tuple[Endpoint, ...]
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
    def form(self) -> Endpoint:
        """The endpoint whose parameters the dashboard's form has."""
        return self.endpoints[-1]


INSIGHTS = Picture(spread=("median",), spread_title="Median price", compared="median", changes=("index_change",))
REPORTS = (
    Report(
        kind=COHORTS,
        title="Cohort",
        description="Prices of selected brands or categories, by period.",
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
        description="Prices, price changes, channels, top brands and rank.",
        rank_min=BRAND,
        entitlement="category-insights",
        reply=schemas.CategoryReport,
        endpoints=(
            Endpoint(
                operation="listCategoryInsights",
                path="/insights/categories",
                summary="Insights for all categories",
                description="Items, prices, price changes, channels and rank of each category.",
                query=schemas.CategoryListQuery,
            ),
            Endpoint(
                operation="getCategoryInsights",
                path="/insights/categories/{code}",
                summary="Insights for one category",
                description="Items, prices, price changes, channels and rank.",
                query=schemas.OneInsightQuery,
                path_schema=schemas.CategoryPath,
                example="/insights/categories/{category}",
            ),
        ),
        picture=INSIGHTS,
        columns=("median", "median_change", "rank", "items", "observations", "top_brands", "channels"),
    ),
    Report(
        kind=BRAND_INSIGHTS,
        title="Brand",
        description="Rank, prices compared with its categories, and peers.",
        rank_min=BRAND,
        entitlement="brand-insights",
        reply=schemas.BrandReport,
        endpoints=(
            Endpoint(
                operation="listBrandInsights",
                path="/insights/brands",
                summary="Insights for all brands",
                description="Rank, percentile, prices compared with their categories, and peers.",
                query=schemas.BrandListQuery,
            ),
            Endpoint(
                operation="getBrandInsights",
                path="/insights/brands/{slug}",
                summary="Insights for one brand",
                description="Rank, percentile, prices compared with its categories, and peers.",
                query=schemas.OneInsightQuery,
                path_schema=schemas.BrandPath,
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
        description="How prices of the same items changed, whatever the assortment.",
        rank_min=BRAND,
        entitlement="price-index",
        reply=schemas.PriceIndexReport,
        endpoints=(
            Endpoint(
                operation="getPriceIndex",
                path="/prices/index",
                summary="Price index",
                description="Matched-item index for each period, with its interval and the median.",
                query=schemas.PriceIndexQuery,
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
        description="How many announced reductions comply with the prior-price rule.",
        rank_min=BRAND,
        entitlement="reductions",
        reply=schemas.ReductionsReport,
        endpoints=(
            Endpoint(
                operation="getReductions",
                path="/insights/reductions",
                summary="Announced reductions",
                description="Reductions that began in each period, and how many comply with Directive 98/6/EC Art. 6a.",
                query=schemas.ReductionsQuery,
                example="/insights/reductions?category={category}",
            ),
        ),
        picture=Picture(lines=("share_holding",)),
        columns=("announced", "holding", "overstated", "not_below", "undecided", "share_holding", "items"),
    ),
    Report(
        kind=SUSTAINABILITY_ROLLUP,
        title="Footprint",
        description="Footprint of the units sold, or of the assortment.",
        rank_min=INSTITUTIONAL,
        entitlement="sustainability-rollup",
        usage_name="rollup",
        reply=schemas.RollupReport,
        endpoints=(
            Endpoint(
                operation="getSustainabilityRollup",
                path="/rollups/sustainability",
                summary="Sustainability rollup",
                description="Units, CO2e, water, waste and other impacts by period and group.",
                query=schemas.RollupQuery,
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

"""The paid reports by their names, made by `make clients`; `from_` stands for `from`."""

from typing import TYPE_CHECKING, Any, Unpack, overload

from itemindex_client import schemas
from itemindex_client.orders import AsyncReportCall, ReportCall, at

if TYPE_CHECKING:
    from itemindex_client.aio import AsyncClient
    from itemindex_client.client import Client


class Reports:
    """The reports of Client; each call returns its ReportCall."""

    def __init__(self, client: "Client") -> None:
        self._client = client

    def cohorts(self, **query: Unpack[schemas.GetCohortsQuery]) -> ReportCall[schemas.CohortRow]:
        """Prices of a cohort."""
        return ReportCall(self._client, "/index/cohorts", schemas.CohortRow, schemas.GetCohortsQuery, query)

    @overload
    def category_insights(
        self, category: None = None, **query: Unpack[schemas.ListCategoryInsightsQuery]
    ) -> ReportCall[schemas.CategoryRow]: ...

    @overload
    def category_insights(
        self, category: str, **query: Unpack[schemas.GetCategoryInsightsQuery]
    ) -> ReportCall[schemas.CategoryRow]: ...

    def category_insights(self, category: str | None = None, **query: Any) -> ReportCall[schemas.CategoryRow]:
        """Insights for all categories; of one category where it is named."""
        if category is None:
            return ReportCall(
                self._client,
                "/index/insights/categories",
                schemas.CategoryRow,
                schemas.ListCategoryInsightsQuery,
                query,
            )
        path = at("/index/insights/categories/{}", category)
        return ReportCall(self._client, path, schemas.CategoryRow, schemas.GetCategoryInsightsQuery, query)

    @overload
    def brand_insights(
        self, brand: None = None, **query: Unpack[schemas.ListBrandInsightsQuery]
    ) -> ReportCall[schemas.BrandRow]: ...

    @overload
    def brand_insights(
        self, brand: str, **query: Unpack[schemas.GetBrandInsightsQuery]
    ) -> ReportCall[schemas.BrandRow]: ...

    def brand_insights(self, brand: str | None = None, **query: Any) -> ReportCall[schemas.BrandRow]:
        """Insights for all brands; of one brand where it is named."""
        if brand is None:
            return ReportCall(
                self._client, "/index/insights/brands", schemas.BrandRow, schemas.ListBrandInsightsQuery, query
            )
        path = at("/index/insights/brands/{}", brand)
        return ReportCall(self._client, path, schemas.BrandRow, schemas.GetBrandInsightsQuery, query)

    def price_index(self, **query: Unpack[schemas.GetPriceIndexQuery]) -> ReportCall[schemas.PriceIndexRow]:
        """Price index."""
        return ReportCall(self._client, "/index/prices/index", schemas.PriceIndexRow, schemas.GetPriceIndexQuery, query)

    def reductions(self, **query: Unpack[schemas.GetReductionsQuery]) -> ReportCall[schemas.ReductionRow]:
        """Announced reductions."""
        return ReportCall(
            self._client, "/index/insights/reductions", schemas.ReductionRow, schemas.GetReductionsQuery, query
        )

    def sustainability_rollup(
        self, **query: Unpack[schemas.GetSustainabilityRollupQuery]
    ) -> ReportCall[schemas.RollupRow]:
        """Sustainability rollup."""
        return ReportCall(
            self._client,
            "/index/rollups/sustainability",
            schemas.RollupRow,
            schemas.GetSustainabilityRollupQuery,
            query,
        )


class AsyncReports:
    """The reports of AsyncClient; each call returns its AsyncReportCall."""

    def __init__(self, client: "AsyncClient") -> None:
        self._client = client

    def cohorts(self, **query: Unpack[schemas.GetCohortsQuery]) -> AsyncReportCall[schemas.CohortRow]:
        """Prices of a cohort."""
        return AsyncReportCall(self._client, "/index/cohorts", schemas.CohortRow, schemas.GetCohortsQuery, query)

    @overload
    def category_insights(
        self, category: None = None, **query: Unpack[schemas.ListCategoryInsightsQuery]
    ) -> AsyncReportCall[schemas.CategoryRow]: ...

    @overload
    def category_insights(
        self, category: str, **query: Unpack[schemas.GetCategoryInsightsQuery]
    ) -> AsyncReportCall[schemas.CategoryRow]: ...

    def category_insights(self, category: str | None = None, **query: Any) -> AsyncReportCall[schemas.CategoryRow]:
        """Insights for all categories; of one category where it is named."""
        if category is None:
            return AsyncReportCall(
                self._client,
                "/index/insights/categories",
                schemas.CategoryRow,
                schemas.ListCategoryInsightsQuery,
                query,
            )
        path = at("/index/insights/categories/{}", category)
        return AsyncReportCall(self._client, path, schemas.CategoryRow, schemas.GetCategoryInsightsQuery, query)

    @overload
    def brand_insights(
        self, brand: None = None, **query: Unpack[schemas.ListBrandInsightsQuery]
    ) -> AsyncReportCall[schemas.BrandRow]: ...

    @overload
    def brand_insights(
        self, brand: str, **query: Unpack[schemas.GetBrandInsightsQuery]
    ) -> AsyncReportCall[schemas.BrandRow]: ...

    def brand_insights(self, brand: str | None = None, **query: Any) -> AsyncReportCall[schemas.BrandRow]:
        """Insights for all brands; of one brand where it is named."""
        if brand is None:
            return AsyncReportCall(
                self._client, "/index/insights/brands", schemas.BrandRow, schemas.ListBrandInsightsQuery, query
            )
        path = at("/index/insights/brands/{}", brand)
        return AsyncReportCall(self._client, path, schemas.BrandRow, schemas.GetBrandInsightsQuery, query)

    def price_index(self, **query: Unpack[schemas.GetPriceIndexQuery]) -> AsyncReportCall[schemas.PriceIndexRow]:
        """Price index."""
        return AsyncReportCall(
            self._client, "/index/prices/index", schemas.PriceIndexRow, schemas.GetPriceIndexQuery, query
        )

    def reductions(self, **query: Unpack[schemas.GetReductionsQuery]) -> AsyncReportCall[schemas.ReductionRow]:
        """Announced reductions."""
        return AsyncReportCall(
            self._client, "/index/insights/reductions", schemas.ReductionRow, schemas.GetReductionsQuery, query
        )

    def sustainability_rollup(
        self, **query: Unpack[schemas.GetSustainabilityRollupQuery]
    ) -> AsyncReportCall[schemas.RollupRow]:
        """Sustainability rollup."""
        return AsyncReportCall(
            self._client,
            "/index/rollups/sustainability",
            schemas.RollupRow,
            schemas.GetSustainabilityRollupQuery,
            query,
        )

"""The paid reports by their names, made by `make clients`; `from_` stands for `from`."""

from typing import Any, Generic, Unpack, overload

from itemindex_client import schemas
from itemindex_client.orders import Caller, ReportCall, at


class Reports(Generic[Caller]):
    """The reports of a client; each call returns its ReportCall."""

    def __init__(self, client: Caller) -> None:
        self._client = client

    def cohorts(self, **query: Unpack[schemas.GetCohortsQuery]) -> ReportCall[schemas.CohortRow, Caller]:
        """Prices of a cohort."""
        return ReportCall(self._client, "/index/cohorts", schemas.CohortRow, schemas.GetCohortsQuery, query)

    @overload
    def category_insights(
        self, category: None = None, **query: Unpack[schemas.ListCategoryInsightsQuery]
    ) -> ReportCall[schemas.CategoryRow, Caller]: ...

    @overload
    def category_insights(
        self, category: str, **query: Unpack[schemas.GetCategoryInsightsQuery]
    ) -> ReportCall[schemas.CategoryRow, Caller]: ...

    def category_insights(self, category: str | None = None, **query: Any) -> ReportCall[schemas.CategoryRow, Caller]:
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
    ) -> ReportCall[schemas.BrandRow, Caller]: ...

    @overload
    def brand_insights(
        self, brand: str, **query: Unpack[schemas.GetBrandInsightsQuery]
    ) -> ReportCall[schemas.BrandRow, Caller]: ...

    def brand_insights(self, brand: str | None = None, **query: Any) -> ReportCall[schemas.BrandRow, Caller]:
        """Insights for all brands; of one brand where it is named."""
        if brand is None:
            return ReportCall(
                self._client, "/index/insights/brands", schemas.BrandRow, schemas.ListBrandInsightsQuery, query
            )
        path = at("/index/insights/brands/{}", brand)
        return ReportCall(self._client, path, schemas.BrandRow, schemas.GetBrandInsightsQuery, query)

    def price_index(self, **query: Unpack[schemas.GetPriceIndexQuery]) -> ReportCall[schemas.PriceIndexRow, Caller]:
        """Price index."""
        return ReportCall(self._client, "/index/prices/index", schemas.PriceIndexRow, schemas.GetPriceIndexQuery, query)

    def aggregate_index(
        self, **query: Unpack[schemas.GetAggregateIndexQuery]
    ) -> ReportCall[schemas.AggregateIndexRow, Caller]:
        """Aggregate index by your own weights."""
        return ReportCall(
            self._client,
            "/index/prices/aggregate-index",
            schemas.AggregateIndexRow,
            schemas.GetAggregateIndexQuery,
            query,
        )

    def price_position(
        self, **query: Unpack[schemas.GetPricePositionQuery]
    ) -> ReportCall[schemas.PricePositionRow, Caller]:
        """Price position of channels."""
        return ReportCall(
            self._client,
            "/index/insights/price-position",
            schemas.PricePositionRow,
            schemas.GetPricePositionQuery,
            query,
        )

    def price_changes(
        self, **query: Unpack[schemas.GetPriceChangesQuery]
    ) -> ReportCall[schemas.PriceChangesRow, Caller]:
        """Changes of prices."""
        return ReportCall(
            self._client, "/index/insights/price-changes", schemas.PriceChangesRow, schemas.GetPriceChangesQuery, query
        )

    def reductions(self, **query: Unpack[schemas.GetReductionsQuery]) -> ReportCall[schemas.ReductionRow, Caller]:
        """Announced reductions."""
        return ReportCall(
            self._client, "/index/insights/reductions", schemas.ReductionRow, schemas.GetReductionsQuery, query
        )

    def availability(
        self, **query: Unpack[schemas.GetAvailabilityQuery]
    ) -> ReportCall[schemas.AvailabilityRow, Caller]:
        """Availability."""
        return ReportCall(
            self._client, "/index/insights/availability", schemas.AvailabilityRow, schemas.GetAvailabilityQuery, query
        )

    def promotions(self, **query: Unpack[schemas.GetPromotionsQuery]) -> ReportCall[schemas.PromotionsRow, Caller]:
        """Promotions."""
        return ReportCall(
            self._client, "/index/insights/promotions", schemas.PromotionsRow, schemas.GetPromotionsQuery, query
        )

    def seasons(self, **query: Unpack[schemas.GetSeasonsQuery]) -> ReportCall[schemas.SeasonsRow, Caller]:
        """Seasonal patterns."""
        return ReportCall(self._client, "/index/prices/seasons", schemas.SeasonsRow, schemas.GetSeasonsQuery, query)

    def sustainability_rollup(
        self, **query: Unpack[schemas.GetSustainabilityRollupQuery]
    ) -> ReportCall[schemas.RollupRow, Caller]:
        """Sustainability rollup."""
        return ReportCall(
            self._client,
            "/index/rollups/sustainability",
            schemas.RollupRow,
            schemas.GetSustainabilityRollupQuery,
            query,
        )

    def footprint_comparison(
        self, **query: Unpack[schemas.GetFootprintComparisonQuery]
    ) -> ReportCall[schemas.FootprintComparisonRow, Caller]:
        """Footprints compared."""
        return ReportCall(
            self._client,
            "/index/footprints",
            schemas.FootprintComparisonRow,
            schemas.GetFootprintComparisonQuery,
            query,
        )

/** The paid reports by their names, made by `make clients`. */

import type { Http } from "./http.ts";
import { ReportCall } from "./jobs.ts";
import type {
  AggregateIndexReport,
  AvailabilityReport,
  BrandReport,
  CategoryReport,
  CohortReport,
  FootprintComparisonReport,
  GetAggregateIndexQuery,
  GetAvailabilityQuery,
  GetBrandInsightsQuery,
  GetCategoryInsightsQuery,
  GetCohortsQuery,
  GetFootprintComparisonQuery,
  GetPriceChangesQuery,
  GetPriceIndexQuery,
  GetPricePositionQuery,
  GetPromotionsQuery,
  GetReductionsQuery,
  GetSeasonsQuery,
  GetSustainabilityRollupQuery,
  ListBrandInsightsQuery,
  ListCategoryInsightsQuery,
  PriceChangesReport,
  PriceIndexReport,
  PricePositionReport,
  PromotionsReport,
  ReductionsReport,
  RollupReport,
  SeasonsReport,
} from "./schemas.ts";

/** The reports of a client; each call returns its ReportCall. */
export class Reports {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Prices of a cohort. */
  cohorts(query: GetCohortsQuery = {}): ReportCall<CohortReport> {
    return new ReportCall(this.#http, "/index/cohorts", "getCohorts", query);
  }

  /** Insights for all categories; of one category where it is named. */
  categoryInsights(category?: null, query?: ListCategoryInsightsQuery): ReportCall<CategoryReport>;
  categoryInsights(category: string, query?: GetCategoryInsightsQuery): ReportCall<CategoryReport>;
  categoryInsights(category: string | null = null, query: ListCategoryInsightsQuery | GetCategoryInsightsQuery = {}): ReportCall<CategoryReport> {
    if (category === null) return new ReportCall(this.#http, "/index/insights/categories", "listCategoryInsights", query);
    return new ReportCall(this.#http, `/index/insights/categories/${encodeURIComponent(category)}`, "getCategoryInsights", query);
  }

  /** Insights for all brands; of one brand where it is named. */
  brandInsights(brand?: null, query?: ListBrandInsightsQuery): ReportCall<BrandReport>;
  brandInsights(brand: string, query?: GetBrandInsightsQuery): ReportCall<BrandReport>;
  brandInsights(brand: string | null = null, query: ListBrandInsightsQuery | GetBrandInsightsQuery = {}): ReportCall<BrandReport> {
    if (brand === null) return new ReportCall(this.#http, "/index/insights/brands", "listBrandInsights", query);
    return new ReportCall(this.#http, `/index/insights/brands/${encodeURIComponent(brand)}`, "getBrandInsights", query);
  }

  /** Price index. */
  priceIndex(query: GetPriceIndexQuery = {}): ReportCall<PriceIndexReport> {
    return new ReportCall(this.#http, "/index/prices/index", "getPriceIndex", query);
  }

  /** Aggregate index by your own weights. */
  aggregateIndex(query: GetAggregateIndexQuery): ReportCall<AggregateIndexReport> {
    return new ReportCall(this.#http, "/index/prices/aggregate-index", "getAggregateIndex", query);
  }

  /** Price position of channels. */
  pricePosition(query: GetPricePositionQuery = {}): ReportCall<PricePositionReport> {
    return new ReportCall(this.#http, "/index/insights/price-position", "getPricePosition", query);
  }

  /** Changes of prices. */
  priceChanges(query: GetPriceChangesQuery = {}): ReportCall<PriceChangesReport> {
    return new ReportCall(this.#http, "/index/insights/price-changes", "getPriceChanges", query);
  }

  /** Announced reductions. */
  reductions(query: GetReductionsQuery = {}): ReportCall<ReductionsReport> {
    return new ReportCall(this.#http, "/index/insights/reductions", "getReductions", query);
  }

  /** Availability. */
  availability(query: GetAvailabilityQuery = {}): ReportCall<AvailabilityReport> {
    return new ReportCall(this.#http, "/index/insights/availability", "getAvailability", query);
  }

  /** Promotions. */
  promotions(query: GetPromotionsQuery = {}): ReportCall<PromotionsReport> {
    return new ReportCall(this.#http, "/index/insights/promotions", "getPromotions", query);
  }

  /** Seasonal patterns. */
  seasons(query: GetSeasonsQuery = {}): ReportCall<SeasonsReport> {
    return new ReportCall(this.#http, "/index/prices/seasons", "getSeasons", query);
  }

  /** Sustainability rollup. */
  sustainabilityRollup(query: GetSustainabilityRollupQuery = {}): ReportCall<RollupReport> {
    return new ReportCall(this.#http, "/index/rollups/sustainability", "getSustainabilityRollup", query);
  }

  /** Footprints compared. */
  footprintComparison(query: GetFootprintComparisonQuery = {}): ReportCall<FootprintComparisonReport> {
    return new ReportCall(this.#http, "/index/footprints", "getFootprintComparison", query);
  }
}

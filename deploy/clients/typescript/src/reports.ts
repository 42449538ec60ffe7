/** The paid reports by their names, made by `make clients`. */

import type { Http } from "./http.ts";
import { ReportCall } from "./jobs.ts";
import type {
  BrandReport,
  CategoryReport,
  CohortReport,
  GetBrandInsightsQuery,
  GetCategoryInsightsQuery,
  GetCohortsQuery,
  GetPriceIndexQuery,
  GetReductionsQuery,
  GetSustainabilityRollupQuery,
  ListBrandInsightsQuery,
  ListCategoryInsightsQuery,
  PriceIndexReport,
  ReductionsReport,
  RollupReport,
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

  /** Announced reductions. */
  reductions(query: GetReductionsQuery = {}): ReportCall<ReductionsReport> {
    return new ReportCall(this.#http, "/index/insights/reductions", "getReductions", query);
  }

  /** Sustainability rollup. */
  sustainabilityRollup(query: GetSustainabilityRollupQuery = {}): ReportCall<RollupReport> {
    return new ReportCall(this.#http, "/index/rollups/sustainability", "getSustainabilityRollup", query);
  }
}

/** The paid reports by their names, made by `make clients`. */
import type { Http } from "./http.ts";
import { ReportCall } from "./jobs.ts";
import type { BrandReport, CategoryReport, CohortReport, GetBrandInsightsQuery, GetCategoryInsightsQuery, GetCohortsQuery, GetPriceIndexQuery, GetReductionsQuery, GetSustainabilityRollupQuery, ListBrandInsightsQuery, ListCategoryInsightsQuery, PriceIndexReport, ReductionsReport, RollupReport } from "./schemas.ts";
/** The reports of a client; each call returns its ReportCall. */
export declare class Reports {
    #private;
    constructor(http: Http);
    /** Prices of a cohort. */
    cohorts(query?: GetCohortsQuery): ReportCall<CohortReport>;
    /** Insights for all categories; of one category where it is named. */
    categoryInsights(category?: null, query?: ListCategoryInsightsQuery): ReportCall<CategoryReport>;
    categoryInsights(category: string, query?: GetCategoryInsightsQuery): ReportCall<CategoryReport>;
    /** Insights for all brands; of one brand where it is named. */
    brandInsights(brand?: null, query?: ListBrandInsightsQuery): ReportCall<BrandReport>;
    brandInsights(brand: string, query?: GetBrandInsightsQuery): ReportCall<BrandReport>;
    /** Price index. */
    priceIndex(query?: GetPriceIndexQuery): ReportCall<PriceIndexReport>;
    /** Announced reductions. */
    reductions(query?: GetReductionsQuery): ReportCall<ReductionsReport>;
    /** Sustainability rollup. */
    sustainabilityRollup(query?: GetSustainabilityRollupQuery): ReportCall<RollupReport>;
}

/** The paid reports by their names, made by `make clients`. */
import { ReportCall } from "./jobs.js";
/** The reports of a client; each call returns its ReportCall. */
export class Reports {
    #http;
    constructor(http) {
        this.#http = http;
    }
    /** Prices of a cohort. */
    cohorts(query = {}) {
        return new ReportCall(this.#http, "/index/cohorts", "getCohorts", query);
    }
    categoryInsights(category = null, query = {}) {
        if (category === null)
            return new ReportCall(this.#http, "/index/insights/categories", "listCategoryInsights", query);
        return new ReportCall(this.#http, `/index/insights/categories/${encodeURIComponent(category)}`, "getCategoryInsights", query);
    }
    brandInsights(brand = null, query = {}) {
        if (brand === null)
            return new ReportCall(this.#http, "/index/insights/brands", "listBrandInsights", query);
        return new ReportCall(this.#http, `/index/insights/brands/${encodeURIComponent(brand)}`, "getBrandInsights", query);
    }
    /** Price index. */
    priceIndex(query = {}) {
        return new ReportCall(this.#http, "/index/prices/index", "getPriceIndex", query);
    }
    /** Announced reductions. */
    reductions(query = {}) {
        return new ReportCall(this.#http, "/index/insights/reductions", "getReductions", query);
    }
    /** Sustainability rollup. */
    sustainabilityRollup(query = {}) {
        return new ReportCall(this.#http, "/index/rollups/sustainability", "getSustainabilityRollup", query);
    }
}

/** The paid reports by their names, made by `make clients`. */
import { known } from "./http.js";
import { ReportCall } from "./jobs.js";
/** The reports of a client; each call returns its ReportCall. */
export class Reports {
    #http;
    constructor(http) {
        this.#http = http;
    }
    /** Prices of a cohort. */
    cohorts(query = {}) {
        return new ReportCall(this.#http, "/index/cohorts", known("getCohorts", query));
    }
    categoryInsights(category = null, query = {}) {
        if (category === null)
            return new ReportCall(this.#http, "/index/insights/categories", known("listCategoryInsights", query));
        return new ReportCall(this.#http, `/index/insights/categories/${encodeURIComponent(category)}`, known("getCategoryInsights", query));
    }
    brandInsights(brand = null, query = {}) {
        if (brand === null)
            return new ReportCall(this.#http, "/index/insights/brands", known("listBrandInsights", query));
        return new ReportCall(this.#http, `/index/insights/brands/${encodeURIComponent(brand)}`, known("getBrandInsights", query));
    }
    /** Price index. */
    priceIndex(query = {}) {
        return new ReportCall(this.#http, "/index/prices/index", known("getPriceIndex", query));
    }
    /** Announced reductions. */
    reductions(query = {}) {
        return new ReportCall(this.#http, "/index/insights/reductions", known("getReductions", query));
    }
    /** Sustainability rollup. */
    sustainabilityRollup(query = {}) {
        return new ReportCall(this.#http, "/index/rollups/sustainability", known("getSustainabilityRollup", query));
    }
}

/** The client: each call of the API that programs make, typed by the OpenAPI document. */
import { Http, type Options, type Query } from "./http.ts";
import { ReportCall, type Waiting } from "./jobs.ts";
import { Release } from "./release.ts";
import type { BrandEntry, BrandReport, CategoryEntry, CategoryReport, ChannelEntry, CohortReport, Event, ExportManifest, GetBrandInsightsQuery, GetCategoryInsightsQuery, GetCohortsQuery, GetPriceIndexQuery, GetPricingQuery, GetPriorPriceQuery, GetReductionsQuery, GetSustainabilityQuery, GetSustainabilityRollupQuery, Item, Job, ListBrandInsightsQuery, ListBrandsQuery, ListCategoriesQuery, ListCategoryInsightsQuery, ListChannelsQuery, ListEventsQuery, ListJobsQuery, LookupEntry, NewExport, PriceIndexReport, PricingReport, PriorPriceReport, QuotaAnswer, ReductionsReport, ResolveIdentifierQuery, RollupReport, SearchHit, SearchItemsQuery, SustainabilityReport } from "./schemas.ts";
/** Calls the API. In a browser give no key: the free calls need none. */
export declare class Client {
    #private;
    /** The paid reports: `client.report.cohorts({ brand: ["vitasoy"] }).wait()`. */
    readonly report: Reports;
    constructor(options?: Options);
    /** Return an item. The IID of an item that was merged returns the one that it was merged into. */
    lookup(iid: string): Promise<Item>;
    /** Return an entry for each IID, in their order. Needs a key. */
    lookupMany(iids: string[]): Promise<LookupEntry[]>;
    /** Return the item of an identifier: `{ gtin }`, `{ isbn }`, `{ mpn, brand }`, `{ sku, source }` or `{ url }`. */
    resolve(identifier: ResolveIdentifierQuery): Promise<Item>;
    /** Go through all hits of a search, best first; each page is fetched when it is reached. */
    search(q: string, query?: Omit<SearchItemsQuery, "q" | "cursor">): AsyncGenerator<SearchHit, void>;
    brands(query?: ListBrandsQuery): AsyncGenerator<BrandEntry, void>;
    categories(query?: ListCategoriesQuery): AsyncGenerator<CategoryEntry, void>;
    channels(query?: ListChannelsQuery): AsyncGenerator<ChannelEntry, void>;
    /** Go through the organization's jobs, the newest first. Needs a key. */
    jobs(query?: ListJobsQuery): AsyncGenerator<Job, void>;
    /** Go through the events after a cursor up to the newest. Needs a key. */
    events(query?: ListEventsQuery): AsyncGenerator<Event, void>;
    /** Return the prices of an item day by day. Needs a key. */
    prices(iid: string, query?: GetPricingQuery): Promise<PricingReport>;
    /** Return each channel's running reduction with its prior price. Needs a key. */
    priorPrice(iid: string, query?: GetPriorPriceQuery): Promise<PriorPriceReport>;
    /** Return the footprint of an item. Needs a key. */
    sustainability(iid: string, query?: GetSustainabilityQuery): Promise<SustainabilityReport>;
    /** Return the caller's limits and what is left of them. Costs nothing. */
    quota(): Promise<QuotaAnswer>;
    /** Order an export, wait for it, and return its manifest with signed addresses. Needs a key. */
    export(order: NewExport, waiting?: Waiting): Promise<ExportManifest>;
    /** Return a release of a dataset. Needs a key. */
    release(dataset: string, version?: number | "latest"): Promise<Release>;
    /** Go through the entries of any list of the API, one page after another. */
    pages<T>(path: string, query?: Query, keyNeeded?: boolean): AsyncGenerator<T, void>;
}
/** The paid reports of a client. */
export declare class Reports {
    #private;
    constructor(http: Http);
    /** Distribution of prices by period and group. */
    cohorts(query: GetCohortsQuery): ReportCall<CohortReport>;
    /** Figures of all categories. */
    categories(query?: ListCategoryInsightsQuery): ReportCall<CategoryReport>;
    /** Figures of one category. */
    category(code: string, query?: GetCategoryInsightsQuery): ReportCall<CategoryReport>;
    /** Figures of all brands. */
    brands(query?: ListBrandInsightsQuery): ReportCall<BrandReport>;
    /** Figures of one brand. */
    brand(slug: string, query?: GetBrandInsightsQuery): ReportCall<BrandReport>;
    /** Change of prices of the same items. */
    priceIndex(query: GetPriceIndexQuery): ReportCall<PriceIndexReport>;
    /** How many announced reductions hold. */
    reductions(query?: GetReductionsQuery): ReportCall<ReductionsReport>;
    /** Footprints of an assortment or of sales. */
    sustainability(query?: GetSustainabilityRollupQuery): ReportCall<RollupReport>;
}

/** The client: each call of the API that programs make, typed by the OpenAPI document. */
import { type Options, type Query } from "./http.ts";
import { type Waiting } from "./jobs.ts";
import { Release } from "./release.ts";
import { Reports } from "./reports.ts";
import type { BrandEntry, CategoryEntry, ChannelEntry, Event, ExportManifest, GetPricingQuery, GetPriorPriceQuery, GetSustainabilityQuery, IdentifierFields, Item, Job, ListBrandsQuery, ListCategoriesQuery, ListChannelsQuery, ListEventsQuery, ListJobsQuery, LookupEntry, NewExport, PricingReport, PriorPriceReport, QuotaAnswer, ResolveEntry, ResolveIdentifierQuery, SearchHit, SearchItemsQuery, SustainabilityReport } from "./schemas.ts";
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
    /** Return an entry for each identifier, in their order. Needs a key. */
    resolveMany(identifiers: IdentifierFields[]): Promise<ResolveEntry[]>;
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

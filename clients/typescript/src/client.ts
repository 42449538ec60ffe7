/** The client: each call of the API that programs make, typed by the OpenAPI document. */

import { Http, known, type Options, type Query } from "./http.ts";
import { exported, type Waiting } from "./jobs.ts";
import { Release } from "./release.ts";
import { Reports } from "./reports.ts";
import type {
  BrandEntry,
  CategoryEntry,
  ChannelEntry,
  Event,
  ExportManifest,
  GetPricingQuery,
  GetPriorPriceQuery,
  GetSustainabilityQuery,
  IdentifierFields,
  Item,
  Job,
  ListBrandsQuery,
  ListCategoriesQuery,
  ListChannelsQuery,
  ListEventsQuery,
  ListJobsQuery,
  LookupEntry,
  NewExport,
  PricingReport,
  PriorPriceReport,
  QuotaAnswer,
  ReleaseManifest,
  ResolveEntry,
  ResolveIdentifierQuery,
  SearchHit,
  SearchItemsQuery,
  SuggestQuery,
  SuggestionEntry,
  SustainabilityReport,
} from "./schemas.ts";

interface PageOf<T> {
  data: T[];
  next_cursor: string | null;
}

/** Calls the API. In a browser give no key: the free calls need none. */
export class Client {
  readonly #http: Http;
  /** The paid reports: `client.report.cohorts({ brand: ["vitasoy"] }).wait()`. */
  readonly report: Reports;

  constructor(options: Options = {}) {
    this.#http = new Http(options);
    this.report = new Reports(this.#http);
  }

  /** Return an item. The IID of an item that was merged returns the one that it was merged into. */
  lookup(iid: string): Promise<Item> {
    return this.#http.json(`/index/lookup/${encodeURIComponent(iid)}`);
  }

  /** Return an entry for each IID, in their order. Needs a key. */
  async lookupMany(iids: string[]): Promise<LookupEntry[]> {
    const call = { method: "POST", body: { iids }, keyNeeded: true, repeatable: true } as const;
    return (await this.#http.json<{ data: LookupEntry[] }>("/index/lookup", call)).data;
  }

  /**
   * Return the item of an identifier: `{ gtin }`, `{ isbn }`, `{ mpn, brand }`, `{ sku, source }` or `{ url }`.
   * `{ gtin, as_of }` finds the item that had a number on a day.
   */
  async resolve(identifier: ResolveIdentifierQuery): Promise<Item> {
    return this.#http.json("/index/resolve", { query: known("resolveIdentifier", identifier) });
  }

  /** Return an entry for each identifier, in their order. Needs a key. */
  async resolveMany(identifiers: IdentifierFields[]): Promise<ResolveEntry[]> {
    const call = { method: "POST", body: { identifiers }, keyNeeded: true, repeatable: true } as const;
    return (await this.#http.json<{ data: ResolveEntry[] }>("/index/resolve", call)).data;
  }

  /** Go through all hits of a search, best first; each page is fetched when it is reached. */
  search(q: string, query: Omit<SearchItemsQuery, "q" | "cursor"> = {}): AsyncGenerator<SearchHit, void> {
    return this.pages("/index/search", known("searchItems", { q, ...query }));
  }

  /** Return brands, categories and items that a person may mean by what is typed so far, best first. */
  async suggest(q: string, query: Omit<SuggestQuery, "q"> = {}): Promise<SuggestionEntry[]> {
    const asked = known("suggest", { q, ...query });
    return (await this.#http.json<{ data: SuggestionEntry[] }>("/index/suggest", { query: asked })).data;
  }

  brands(query: ListBrandsQuery = {}): AsyncGenerator<BrandEntry, void> {
    return this.pages("/index/brands", known("listBrands", query));
  }

  categories(query: ListCategoriesQuery = {}): AsyncGenerator<CategoryEntry, void> {
    return this.pages("/index/categories", known("listCategories", query));
  }

  channels(query: ListChannelsQuery = {}): AsyncGenerator<ChannelEntry, void> {
    return this.pages("/index/channels", known("listChannels", query));
  }

  /** Go through the organization's jobs, the newest first. Needs a key. */
  jobs(query: ListJobsQuery = {}): AsyncGenerator<Job, void> {
    return this.pages("/jobs", known("listJobs", query), true);
  }

  /** Go through the events after a cursor up to the newest. Needs a key. */
  async *events(query: ListEventsQuery = {}): AsyncGenerator<Event, void> {
    known("listEvents", query);
    // A cursor stays a text: as a number it could lose digits.
    for (let after: string | number | undefined = query.after; ; ) {
      const page: PageOf<Event> = await this.#http.json("/events", { query: { ...query, after }, keyNeeded: true });
      yield* page.data;
      if (page.next_cursor === null) return;
      after = page.next_cursor;
    }
  }

  /** Return the prices of an item day by day. Needs a key. */
  async prices(iid: string, query: GetPricingQuery = {}): Promise<PricingReport> {
    return this.#http.json(`/index/pricing/${encodeURIComponent(iid)}`, { query: known("getPricing", query), keyNeeded: true });
  }

  /** Return each channel's running reduction with its prior price. Needs a key. */
  async priorPrice(iid: string, query: GetPriorPriceQuery = {}): Promise<PriorPriceReport> {
    return this.#http.json(`/index/pricing/${encodeURIComponent(iid)}/reference`, { query: known("getPriorPrice", query), keyNeeded: true });
  }

  /** Return the footprint of an item. Needs a key. */
  async sustainability(iid: string, query: GetSustainabilityQuery = {}): Promise<SustainabilityReport> {
    return this.#http.json(`/index/sustainability/${encodeURIComponent(iid)}`, { query: known("getSustainability", query), keyNeeded: true });
  }

  /** Return the caller's limits and what is left of them. Costs nothing. */
  quota(): Promise<QuotaAnswer> {
    return this.#http.json("/quota");
  }

  /** Order an export, wait for it, and return its manifest with signed addresses. Needs a key. */
  async export(order: NewExport, waiting: Waiting = {}): Promise<ExportManifest> {
    return exported(this.#http, known("createExport", order), { within: 3600, ...waiting });
  }

  /** Return a release of a dataset. Needs a key. */
  async release(dataset: string, version: number | "latest" = "latest"): Promise<Release> {
    const path = `/index/datasets/${encodeURIComponent(dataset)}/releases/${version}`;
    return new Release(this.#http, await this.#http.json<ReleaseManifest>(path, { keyNeeded: true }));
  }

  /** Go through the entries of any list of the API, one page after another. */
  async *pages<T>(path: string, query: Query = {}, keyNeeded: boolean = false): AsyncGenerator<T, void> {
    for (let cursor: string | null = null; ; ) {
      const page: PageOf<T> = await this.#http.json(path, { query: cursor ? { ...query, cursor } : query, keyNeeded });
      yield* page.data;
      cursor = page.next_cursor;
      if (cursor === null) return;
    }
  }
}

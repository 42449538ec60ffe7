/** The client: each call of the API that programs make, typed by the OpenAPI document. */
import { Http, known } from "./http.js";
import { exported } from "./jobs.js";
import { Release } from "./release.js";
import { Reports } from "./reports.js";
/** Calls the API. In a browser give no key: the free calls need none. */
export class Client {
    #http;
    /** The paid reports: `client.report.cohorts({ brand: ["vitasoy"] }).wait()`. */
    report;
    constructor(options = {}) {
        this.#http = new Http(options);
        this.report = new Reports(this.#http);
    }
    /** Return an item. The IID of an item that was merged returns the one that it was merged into. */
    lookup(iid) {
        return this.#http.json(`/index/lookup/${encodeURIComponent(iid)}`);
    }
    /** Return an entry for each IID, in their order. Needs a key. */
    async lookupMany(iids) {
        const call = { method: "POST", body: { iids }, keyNeeded: true, repeatable: true };
        return (await this.#http.json("/index/lookup", call)).data;
    }
    /** Return the item of an identifier: `{ gtin }`, `{ isbn }`, `{ mpn, brand }`, `{ sku, source }` or `{ url }`. */
    async resolve(identifier) {
        return this.#http.json("/index/resolve", { query: known("resolveIdentifier", identifier) });
    }
    /** Return an entry for each identifier, in their order. Needs a key. */
    async resolveMany(identifiers) {
        const call = { method: "POST", body: { identifiers }, keyNeeded: true, repeatable: true };
        return (await this.#http.json("/index/resolve", call)).data;
    }
    /** Go through all hits of a search, best first; each page is fetched when it is reached. */
    search(q, query = {}) {
        return this.pages("/index/search", known("searchItems", { q, ...query }));
    }
    brands(query = {}) {
        return this.pages("/index/brands", known("listBrands", query));
    }
    categories(query = {}) {
        return this.pages("/index/categories", known("listCategories", query));
    }
    channels(query = {}) {
        return this.pages("/index/channels", known("listChannels", query));
    }
    /** Go through the organization's jobs, the newest first. Needs a key. */
    jobs(query = {}) {
        return this.pages("/jobs", known("listJobs", query), true);
    }
    /** Go through the events after a cursor up to the newest. Needs a key. */
    async *events(query = {}) {
        known("listEvents", query);
        // A cursor stays a text: as a number it could lose digits.
        for (let after = query.after;;) {
            const page = await this.#http.json("/events", { query: { ...query, after }, keyNeeded: true });
            yield* page.data;
            if (page.next_cursor === null)
                return;
            after = page.next_cursor;
        }
    }
    /** Return the prices of an item day by day. Needs a key. */
    async prices(iid, query = {}) {
        return this.#http.json(`/index/pricing/${encodeURIComponent(iid)}`, { query: known("getPricing", query), keyNeeded: true });
    }
    /** Return each channel's running reduction with its prior price. Needs a key. */
    async priorPrice(iid, query = {}) {
        return this.#http.json(`/index/pricing/${encodeURIComponent(iid)}/reference`, { query: known("getPriorPrice", query), keyNeeded: true });
    }
    /** Return the footprint of an item. Needs a key. */
    async sustainability(iid, query = {}) {
        return this.#http.json(`/index/sustainability/${encodeURIComponent(iid)}`, { query: known("getSustainability", query), keyNeeded: true });
    }
    /** Return the caller's limits and what is left of them. Costs nothing. */
    quota() {
        return this.#http.json("/quota");
    }
    /** Order an export, wait for it, and return its manifest with signed addresses. Needs a key. */
    async export(order, waiting = {}) {
        return exported(this.#http, known("createExport", order), { within: 3600, ...waiting });
    }
    /** Return a release of a dataset. Needs a key. */
    async release(dataset, version = "latest") {
        const path = `/index/datasets/${encodeURIComponent(dataset)}/releases/${version}`;
        return new Release(this.#http, await this.#http.json(path, { keyNeeded: true }));
    }
    /** Go through the entries of any list of the API, one page after another. */
    async *pages(path, query = {}, keyNeeded = false) {
        for (let cursor = null;;) {
            const page = await this.#http.json(path, { query: cursor ? { ...query, cursor } : query, keyNeeded });
            yield* page.data;
            cursor = page.next_cursor;
            if (cursor === null)
                return;
        }
    }
}

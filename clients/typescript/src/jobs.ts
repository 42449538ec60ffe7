/** Orders that take a while: reports and exports, followed to their end. */

import { ConnectionFailed, JobFailed, WaitedTooLong } from "./errors.ts";
import { type Http, known, type Query, sleep } from "./http.ts";
import { PARAMETERS } from "./parameters.ts";
import type { Export, ExportManifest, Job, NewExport, Quote } from "./schemas.ts";

const ENDED = new Set(["succeeded", "failed", "cancelled", "expired"]);
const PAUSE_SECONDS = 0.2;
const PAUSE_SECONDS_MAX = 5;
/** The most entries of a page. A list of more pages than this is none that the API has. */
const PAGE_ENTRIES_MAX = 500;
const PAGES_MAX = 1_000;

/** The share that is done, from 0 to 1, and what is being done. */
export interface Progress {
  fraction: number;
  stage: string;
}

export interface Waiting {
  /** How many seconds to wait for the end of the job, of a list for that of each page; default: 600. */
  within?: number;
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

/** What a page of a report says of itself, as far as pages are joined by it. */
interface PageMeta {
  data_version: number;
  rows: number;
  total?: number;
  cost_units: number;
  cached: boolean;
  next_cursor?: string | null;
  result_sha256?: string;
}

interface Page {
  data: unknown[];
  meta: PageMeta;
}

/** A report that has not been ordered yet. One that is a list is read to its end, unless `limit` or `cursor` asks for a page. */
export class ReportCall<R> {
  readonly #http: Http;
  readonly #path: string;
  readonly #query: Query;
  readonly #isWholeList: boolean;

  constructor(http: Http, path: string, call: keyof typeof PARAMETERS, query: Query) {
    this.#http = http;
    this.#path = path;
    const names: readonly string[] = PARAMETERS[call];
    const { limit, cursor } = known(call, query) as { limit?: unknown; cursor?: unknown };
    this.#isWholeList = names.includes("cursor") && limit === undefined && cursor === undefined;
    this.#query = this.#isWholeList ? { ...query, limit: PAGE_ENTRIES_MAX } : query; // each page costs units
  }

  /** Return what the report would cost, of a list each page of 500 entries. Charges nothing. */
  cost(): Promise<Quote> {
    return this.#http.json<Quote>(this.#path, { query: { ...this.#query, dry_run: true }, keyNeeded: true });
  }

  /** Order the report and return its rows. Rejects with JobFailed, WaitedTooLong or ApiProblem. */
  async wait(waiting: Waiting = {}): Promise<R> {
    const document = await (this.#isWholeList ? this.#wholeList(waiting) : this.#page(this.#query, waiting));
    waiting.onProgress?.({ fraction: 1, stage: "done" });
    return document as R;
  }

  /** Return all pages as one, all of one data_version; ranks of two states of the data are no list. */
  async #wholeList(waiting: Waiting): Promise<Page> {
    let pages: Page[] = [];
    let cursor: string | undefined;
    let units = 0;
    for (let count = 0; count < PAGES_MAX; count++) {
      const page = await this.#page({ ...this.#query, cursor }, waiting);
      const [first] = pages;
      units += page.meta.cost_units;
      // The result of a job has no cursor; the list itself has one.
      if (page.meta.next_cursor === undefined && (page.meta.total ?? 0) > PAGE_ENTRIES_MAX) continue;
      if (first && page.meta.data_version !== first.meta.data_version) {
        pages = [];
        cursor = undefined;
        continue;
      }
      pages.push(page);
      cursor = page.meta.next_cursor ?? undefined;
      if (cursor === undefined) return joined(first ?? page, pages, units);
    }
    throw new ConnectionFailed(`${this.#path} did not end within ${PAGES_MAX} pages: give a \`limit\` to read one page`);
  }

  async #page(query: Query, waiting: Waiting): Promise<Page> {
    const { signal } = waiting;
    const call = { query, headers: { Prefer: "wait=20" }, keyNeeded: true, signal };
    const [document, status] = await this.#http.document<unknown>(this.#path, call);
    if (status !== 202) return document as Page;
    const job = document as Job;
    await ended(this.#http, `/jobs/${job.id}`, job, waiting);
    return this.#http.json<Page>(`/jobs/${job.id}/result`, { keyNeeded: true, signal });
  }
}

/** Return a list from its pages, with the meta of the first and the units of every call; a digest of a page is left out. */
function joined(first: Page, pages: Page[], units: number): Page {
  if (pages.length === 1) return { ...first, meta: { ...first.meta, cost_units: units } };
  const { result_sha256: _, ...kept } = first.meta;
  const data = pages.flatMap((page) => page.data);
  const cached = pages.every((page) => page.meta.cached);
  return { data, meta: { ...kept, rows: data.length, cost_units: units, cached, next_cursor: null } };
}

/** Order an export, follow it to its end and return its manifest, whose files have signed addresses. */
export async function exported(http: Http, order: NewExport, waiting: Waiting = {}): Promise<ExportManifest> {
  // The same order under the same name is the same export, so that it may be sent again after a lost connection.
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  const call = { method: "POST", body: order, headers, keyNeeded: true, repeatable: true } as const;
  const ordered = await http.json<Export>("/index/exports", { ...call, signal: waiting.signal });
  const done = await ended(http, `/index/exports/${ordered.id}`, ordered, waiting);
  waiting.onProgress?.({ fraction: 1, stage: "done" });
  if (done.manifest) return done.manifest;
  return (await http.json<Export>(`/index/exports/${ordered.id}`, { keyNeeded: true })).manifest as ExportManifest;
}

async function ended<J extends Job>(http: Http, path: string, job: J, waiting: Waiting): Promise<J> {
  const within = waiting.within ?? 600;
  for (let waited = 0, pause = PAUSE_SECONDS; !ENDED.has(job.state); pause = Math.min(pause * 1.5, PAUSE_SECONDS_MAX)) {
    if (waited > within) throw new WaitedTooLong(`job ${job.id} is still ${job.state}; fetch its result later`);
    waiting.onProgress?.({ fraction: job.progress.fraction, stage: job.progress.stage });
    await sleep(pause, waiting.signal);
    waited += pause;
    job = await http.json<J>(path, { keyNeeded: true, signal: waiting.signal });
  }
  if (job.state !== "succeeded") throw new JobFailed(job);
  return job;
}

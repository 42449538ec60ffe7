/** Orders that take a while: reports and exports, followed to their end. */

import { JobFailed, WaitedTooLong } from "./errors.ts";
import { type Http, type Query, sleep } from "./http.ts";
import type { Export, ExportManifest, Job, NewExport, Quote } from "./schemas.ts";

const ENDED = new Set(["succeeded", "failed", "cancelled", "expired"]);
const PAUSE_SECONDS = 0.2;
const PAUSE_SECONDS_MAX = 5;

/** The share that is done, from 0 to 1, and what is being done. */
export interface Progress {
  fraction: number;
  stage: string;
}

export interface Waiting {
  /** How many seconds to wait for the end of the job; default: 600. */
  within?: number;
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

/** A report that has not been ordered yet. */
export class ReportCall<R> {
  readonly #http: Http;
  readonly #path: string;
  readonly #query: Query;

  constructor(http: Http, path: string, query: Query) {
    this.#http = http;
    this.#path = path;
    this.#query = query;
  }

  /** Return what the report would cost. Charges nothing. */
  cost(): Promise<Quote> {
    return this.#http.json<Quote>(this.#path, { query: { ...this.#query, dry_run: true }, keyNeeded: true });
  }

  /** Order the report and return its rows. Rejects with JobFailed, WaitedTooLong or ApiProblem. */
  async wait(waiting: Waiting = {}): Promise<R> {
    const { signal } = waiting;
    const headers = { Prefer: "wait=20" };
    const call = { query: this.#query, headers, keyNeeded: true, signal };
    let [document, status] = await this.#http.document<unknown>(this.#path, call);
    if (status === 202) {
      const job = document as Job;
      await ended(this.#http, `/jobs/${job.id}`, job, waiting);
      document = await this.#http.json(`/jobs/${job.id}/result`, { keyNeeded: true, signal });
    }
    waiting.onProgress?.({ fraction: 1, stage: "done" });
    return document as R;
  }
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

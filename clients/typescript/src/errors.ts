/** What can go wrong: problem documents of the API (RFC 9457) and faults on the way, each as an error of its own class. */

import type { Candidate, Job, ParameterFault, Problem } from "./schemas.ts";

/** Every error of this client. */
export class ItemIndexError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The call needs an API key and none was given; nothing was sent. */
export class KeyNeeded extends ItemIndexError {}

/** The call has no argument of this name; nothing was sent. */
export class UnknownArgument extends ItemIndexError {}

/** The service could not be reached, or the connection ended before the whole answer had come. */
export class ConnectionFailed extends ItemIndexError {}

/** The answer did not come within the time that the caller allows. The job goes on, and its result can be fetched later. */
export class WaitedTooLong extends ItemIndexError {}

/** A file of a release could not be downloaded whole. */
export class DownloadFailed extends ItemIndexError {}

/** A report or an export ended without a result. */
export class JobFailed extends ItemIndexError {
  readonly job: Job;

  readonly errors: readonly ParameterFault[];

  constructor(job: Job) {
    super(`job ${job.id}: ${job.error ? textOf(job.error) : `it was ${job.state}`}`);
    this.job = job;
    this.errors = faultsOf(job.error);
  }
}

/** A problem document. `slug` is the last part of its `type`; `requestId` is the id by which the operator finds the call. */
export class ApiProblem extends ItemIndexError {
  readonly slug: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | null;
  /** Seconds until the same call is accepted again, where the service says so. */
  readonly retryAfter: number | null;
  /** All parameters that are wrong; `detail` has the first of them. */
  readonly errors: readonly ParameterFault[];
  readonly document: Problem & Record<string, unknown>;

  constructor(document: Problem & Record<string, unknown>, response: Response) {
    const slug = document.type.split("/").pop() ?? "";
    const requestId = response.headers.get("X-Request-Id");
    super(`${response.status} ${slug}: ${textOf(document)} (request ${requestId})`);
    this.slug = slug;
    this.status = response.status;
    this.title = document.title;
    this.detail = document.detail;
    this.requestId = requestId;
    this.retryAfter = retryAfter(response);
    this.errors = faultsOf(document);
    this.document = document;
  }
}

/** There is nothing under this name. */
export class NotFound extends ApiProblem {}

/** What was there is gone: a withdrawn item, an expired result. */
export class Gone extends ApiProblem {}

/** A limit is used up; `retryAfter` says when the call is accepted again. */
export class RateLimited extends ApiProblem {}

/** The organization's plan does not include this call. */
export class InsufficientPlan extends ApiProblem {}

/** The call does not fit the state that there is. */
export class Conflict extends ApiProblem {}

/** The service cannot answer at the moment. */
export class Unavailable extends ApiProblem {}

/** The identifier belongs to several items, which are the candidates. */
export class SeveralCandidates extends ApiProblem {
  get candidates(): Candidate[] {
    return (this.document["candidates"] as Candidate[] | undefined) ?? [];
  }
}

const BY_STATUS: Record<number, typeof ApiProblem> = {
  300: SeveralCandidates,
  404: NotFound,
  409: Conflict,
  410: Gone,
  429: RateLimited,
  502: Unavailable,
  503: Unavailable,
  504: Unavailable,
};

function faultsOf(document: Partial<Problem> | null | undefined): readonly ParameterFault[] {
  return document?.errors ?? [];
}

/** Return a problem's detail, followed by the faults of parameters that it does not have. */
function textOf(document: Partial<Problem>): string {
  const detail = document.detail ?? "";
  const others = faultsOf(document).filter((fault) => !detail.includes(fault.detail));
  return [detail, ...others.map((fault) => `\`${fault.parameter}\`: ${fault.detail}`)].join("; ");
}

/** Return the error for an answer that is no success, described by its status where it has no problem document. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const fallback = { type: "about:blank", title: response.statusText, status: response.status, instance: "" };
  let document: Problem & Record<string, unknown> = { ...fallback, detail: `The service answered ${response.status}.` };
  try {
    const found: unknown = await response.json();
    if (typeof found === "object" && found !== null) document = { ...document, ...found };
  } catch {
    // Not JSON: a proxy's page, or a connection that ended. The status is what is known.
  }
  const Kind = document.type.endsWith("/insufficient-plan")
    ? InsufficientPlan
    : (BY_STATUS[response.status] ?? ApiProblem);
  return new Kind(document, response);
}

/** Return the seconds of `Retry-After`, which is a number or a date; null where there is none. */
export function retryAfter(response: Response): number | null {
  const text = response.headers.get("Retry-After");
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1000);
}

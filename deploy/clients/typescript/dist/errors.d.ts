/** What can go wrong: problem documents of the API (RFC 9457) and faults on the way, each as an error of its own class. */
import type { Candidate, Job, ParameterFault, Problem } from "./schemas.ts";
/** Every error of this client. */
export declare class ItemIndexError extends Error {
    constructor(message: string, options?: ErrorOptions);
}
/** The call needs an API key and none was given; nothing was sent. */
export declare class KeyNeeded extends ItemIndexError {
}
/** The call has no argument of this name; nothing was sent. */
export declare class UnknownArgument extends ItemIndexError {
}
/** The service could not be reached, or the connection ended before the whole answer had come. */
export declare class ConnectionFailed extends ItemIndexError {
}
/** The answer did not come within the time that the caller allows. The job goes on, and its result can be fetched later. */
export declare class WaitedTooLong extends ItemIndexError {
}
/** A file of a release could not be downloaded whole. */
export declare class DownloadFailed extends ItemIndexError {
}
/** A report or an export ended without a result. */
export declare class JobFailed extends ItemIndexError {
    readonly job: Job;
    readonly errors: readonly ParameterFault[];
    constructor(job: Job);
}
/** A problem document. `slug` is the last part of its `type`; `requestId` is the id by which the operator finds the call. */
export declare class ApiProblem extends ItemIndexError {
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
    constructor(document: Problem & Record<string, unknown>, response: Response);
}
/** There is nothing under this name. */
export declare class NotFound extends ApiProblem {
}
/** What was there is gone: a withdrawn item, an expired result. */
export declare class Gone extends ApiProblem {
}
/** A limit is used up; `retryAfter` says when the call is accepted again. */
export declare class RateLimited extends ApiProblem {
}
/** The organization's plan does not include this call. */
export declare class InsufficientPlan extends ApiProblem {
}
/** The call does not fit the state that there is. */
export declare class Conflict extends ApiProblem {
}
/** The service cannot answer at the moment. */
export declare class Unavailable extends ApiProblem {
}
/** The identifier belongs to several items, which are the candidates. */
export declare class SeveralCandidates extends ApiProblem {
    get candidates(): Candidate[];
}
/** Return the error for an answer that is no success, described by its status where it has no problem document. */
export declare function problemOf(response: Response): Promise<ApiProblem>;
/** Return the seconds of `Retry-After`, which is a number or a date; null where there is none. */
export declare function retryAfter(response: Response): number | null;

/** Sends requests: with the right credential, again where a refusal passes, and never a paid call without a key. */
import { PARAMETERS } from "./parameters.ts";
export interface Options {
    /** Address of the API, such as `https://example.org/v1`; default: `ITEMINDEX_URL`, else a service on this machine. */
    url?: string;
    /** API key; default: `ITEMINDEX_KEY`. Never put one into a page: everyone who opens it can read it. */
    key?: string;
    /** Public token for the free calls; default: `ITEMINDEX_TOKEN`, else the anonymous one. */
    token?: string;
    /** How many seconds one call may wait for refusals to pass; default: 60. */
    maxWait?: number;
    /** How many seconds one answer may take, or the beginning of a file; default: 60. */
    timeout?: number;
    /** Called before each wait. */
    onWait?: (seconds: number, reason: Error) => void;
    /** Sends the requests; default: the global `fetch`. */
    fetch?: typeof fetch;
}
/** Values of a query; a list is repeated, and what is undefined is left out. */
export type Query = object;
/** Return a query or a body whose arguments are those of the call. Throws UnknownArgument, before anything is sent. */
export declare function known<Q extends Query>(call: keyof typeof PARAMETERS, query: Q): Q;
export interface Call {
    method?: "GET" | "POST" | "DELETE";
    query?: Query;
    body?: unknown;
    headers?: Record<string, string>;
    keyNeeded?: boolean;
    /** Whether the call may be sent again after a lost connection; default: a GET may. */
    repeatable?: boolean;
    signal?: AbortSignal | undefined;
}
export declare class Http {
    #private;
    readonly url: string;
    constructor(options: Options);
    /** Return the JSON document of an answer. Rejects with ApiProblem, ConnectionFailed or KeyNeeded. */
    json<T>(path: string, call?: Call): Promise<T>;
    /** Return the JSON document of an answer and its status. Rejects as `json`. */
    document<T>(path: string, call?: Call): Promise<[T, number]>;
    /** Return an answer as soon as it begins; its body may come for as long as it takes. Rejects as `json`. */
    open(path: string, call?: Call): Promise<Response>;
    /** Return a whole address; `path` may be one already. */
    address(path: string, query?: Query): URL;
    /** Return the header that authenticates a call; none for another server, which must not see the key. */
    credential(address: URL, keyNeeded?: boolean): Record<string, string>;
}
/** Wait; rejects where the signal is aborted. */
export declare function sleep(seconds: number, signal?: AbortSignal): Promise<void>;

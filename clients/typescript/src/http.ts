/** Sends requests: with the right credential, again where a refusal passes, and never a paid call without a key. */

import { ApiProblem, ConnectionFailed, KeyNeeded, problemOf, UnknownArgument } from "./errors.ts";
import { PARAMETERS } from "./parameters.ts";

/** Printed in the documentation of every installation; it is no secret. */
const ANONYMOUS_TOKEN = "iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK";
const PASSING = new Set([429, 502, 503, 504]);
/** A call that was sent again after a lost connection, while the first one of its Idempotency-Key still runs. */
const STILL_RUNNING = "idempotency-in-progress";
const TRIES_MAX = 8;
const PAUSE_SECONDS = 0.5;
const PAUSE_SECONDS_MAX = 20;

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
export function known<Q extends Query>(call: keyof typeof PARAMETERS, query: Q): Q {
  const names: readonly string[] = PARAMETERS[call];
  const wrong = Object.keys(query).find((name) => !names.includes(name));
  if (wrong === undefined) return query;
  throw new UnknownArgument(`there is no argument \`${wrong}\`; there are ${names.join(", ")}`);
}

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

type Read<T> = (response: Response) => T | Promise<T>;

export class Http {
  readonly url: string;
  readonly #key: string | undefined;
  readonly #token: string;
  readonly #options: Options;

  constructor(options: Options) {
    const url = (options.url ?? variable("ITEMINDEX_URL") ?? "http://127.0.0.1:8080/v1").replace(/\/+$/, "");
    // The address of a server alone: the API that this client speaks is below /v1.
    this.url = /^https?:\/\/[^/?#]+$/.test(url) ? `${url}/v1` : url;
    this.#key = options.key ?? variable("ITEMINDEX_KEY");
    this.#token = options.token ?? variable("ITEMINDEX_TOKEN") ?? ANONYMOUS_TOKEN;
    this.#options = options;
  }

  /** Return the JSON document of an answer. Rejects with ApiProblem, ConnectionFailed or KeyNeeded. */
  async json<T>(path: string, call: Call = {}): Promise<T> {
    return (await this.document<T>(path, call))[0];
  }

  /** Return the JSON document of an answer and its status. Rejects as `json`. */
  document<T>(path: string, call: Call = {}): Promise<[T, number]> {
    return this.#answered(path, call, async (response) => [(await response.json()) as T, response.status]);
  }

  /** Return an answer as soon as it begins; its body may come for as long as it takes. Rejects as `json`. */
  open(path: string, call: Call = {}): Promise<Response> {
    return this.#answered(path, call, (response) => response);
  }

  /** Send a call until it is answered; waits as `Retry-After` says, all together at most `maxWait` seconds. */
  async #answered<T>(path: string, call: Call, read: Read<T>): Promise<T> {
    const address = this.address(path, call.query);
    const headers = { Accept: "application/json", ...this.credential(address, call.keyNeeded), ...call.headers };
    const repeatable = call.repeatable ?? (call.method ?? "GET") === "GET";
    const init: RequestInit = { method: call.method ?? "GET", headers };
    if (call.body !== undefined) {
      init.body = JSON.stringify(call.body);
      init.headers = { ...headers, "Content-Type": "application/json" };
    }
    for (let tries = 1, waited = 0; ; tries++) {
      const outcome = await this.#once(address, init, read, call.signal);
      if ("value" in outcome) return outcome.value;
      const { error } = outcome;
      const seconds = (error instanceof ApiProblem ? error.retryAfter : null) ?? pause(tries);
      const passes =
        error instanceof ApiProblem
          ? PASSING.has(error.status) || error.slug === STILL_RUNNING
          : repeatable && !(error.cause instanceof SyntaxError);
      if (!passes || tries === TRIES_MAX || waited + seconds > (this.#options.maxWait ?? 60)) throw error;
      this.#options.onWait?.(seconds, error);
      await sleep(seconds, call.signal);
      waited += seconds;
    }
  }

  /** Return a whole address; `path` may be one already. */
  address(path: string, query: Query = {}): URL {
    const address = new URL(path.startsWith("/") ? this.url + path : path);
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && one !== null) address.searchParams.append(name, String(one));
      }
    }
    return address;
  }

  /** Return the header that authenticates a call; none for another server, which must not see the key. */
  credential(address: URL, keyNeeded: boolean = false): Record<string, string> {
    if (address.origin !== new URL(this.url).origin) return {};
    if (this.#key) return { Authorization: `ApiKey ${this.#key}` };
    if (keyNeeded) throw new KeyNeeded("this call needs an API key: set ITEMINDEX_KEY, or pass { key } to the client");
    return { "X-Service-Public-Token": this.#token };
  }

  async #once<T>(
    address: URL,
    init: RequestInit,
    read: Read<T>,
    signal?: AbortSignal,
  ): Promise<{ value: T } | { error: Error }> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), 1000 * (this.#options.timeout ?? 60));
    const either = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal;
    let fault = "cannot be reached";
    try {
      const response = await (this.#options.fetch ?? fetch)(address, { ...init, signal: either });
      fault = "did not answer with a whole document";
      return response.ok ? { value: await read(response) } : { error: await problemOf(response) };
    } catch (error) {
      signal?.throwIfAborted();
      return { error: new ConnectionFailed(`${address.origin} ${fault}`, { cause: error }) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Wait; rejects where the signal is aborted. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, 1000 * seconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A pause that doubles, with some chance in it, so that many clients do not come back at the same moment. */
function pause(tries: number): number {
  return Math.min(PAUSE_SECONDS * 2 ** (tries - 1), PAUSE_SECONDS_MAX) * (0.75 + Math.random() / 2);
}

/** Return a variable of the environment, where there is one: browsers have none. */
function variable(name: string): string | undefined {
  const scope = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return scope.process?.env?.[name] || undefined;
}

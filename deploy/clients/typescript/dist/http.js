/** Sends requests: with the right credential, again where a refusal passes, and never a paid call without a key. */
import { ApiProblem, ConnectionFailed, KeyNeeded, problemOf, retryAfter, UnknownArgument } from "./errors.js";
import { PARAMETERS } from "./parameters.js";
/** Printed in the documentation of every installation; it is no secret. */
const ANONYMOUS_TOKEN = "iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK";
const PASSING = new Set([429, 502, 503, 504]);
/** A call that was sent again after a lost connection, while the first one of its Idempotency-Key still runs. */
const STILL_RUNNING = "idempotency-in-progress";
const TRIES_MAX = 8;
const PAUSE_SECONDS = 0.5;
const PAUSE_SECONDS_MAX = 20;
/** Return a query or a body whose arguments are those of the call. Throws UnknownArgument, before anything is sent. */
export function known(call, query) {
    const names = PARAMETERS[call];
    const wrong = Object.keys(query).find((name) => !names.includes(name));
    if (wrong === undefined)
        return query;
    throw new UnknownArgument(`there is no argument \`${wrong}\`; there are ${names.join(", ")}`);
}
export class Http {
    url;
    #key;
    #token;
    #options;
    constructor(options) {
        this.url = (options.url ?? variable("ITEMINDEX_URL") ?? "http://127.0.0.1:8080/v1").replace(/\/+$/, "");
        this.#key = options.key ?? variable("ITEMINDEX_KEY");
        this.#token = options.token ?? variable("ITEMINDEX_TOKEN") ?? ANONYMOUS_TOKEN;
        this.#options = options;
    }
    /** Return the JSON document of an answer. Rejects with ApiProblem, ConnectionFailed or KeyNeeded. */
    async json(path, call = {}) {
        const response = await this.send(path, call);
        try {
            return (await response.json());
        }
        catch (error) {
            throw new ConnectionFailed(`the answer of ${path} did not come whole`, { cause: error });
        }
    }
    /** Send a call until it is answered; waits as `Retry-After` says, all together at most `maxWait` seconds. */
    async send(path, call = {}) {
        const address = this.address(path, call.query);
        const headers = { Accept: "application/json", ...this.credential(address, call.keyNeeded), ...call.headers };
        const repeatable = call.repeatable ?? (call.method ?? "GET") === "GET";
        const init = { method: call.method ?? "GET", headers };
        if (call.body !== undefined) {
            init.body = JSON.stringify(call.body);
            init.headers = { ...headers, "Content-Type": "application/json" };
        }
        for (let tries = 1, waited = 0;; tries++) {
            const [response, fault] = await this.#once(address, init, call.signal);
            if (response?.ok)
                return response;
            const seconds = (response && retryAfter(response)) ?? pause(tries);
            const error = response ? await problemOf(response) : fault;
            const running = error instanceof ApiProblem && error.slug === STILL_RUNNING;
            const passes = response ? PASSING.has(response.status) || running : repeatable;
            if (!passes || tries === TRIES_MAX || waited + seconds > (this.#options.maxWait ?? 60))
                throw error;
            this.#options.onWait?.(seconds, error);
            await sleep(seconds, call.signal);
            waited += seconds;
        }
    }
    /** Return a whole address; `path` may be one already. */
    address(path, query = {}) {
        const address = new URL(path.startsWith("/") ? this.url + path : path);
        for (const [name, value] of Object.entries(query)) {
            for (const one of Array.isArray(value) ? value : [value]) {
                if (one !== undefined && one !== null)
                    address.searchParams.append(name, String(one));
            }
        }
        return address;
    }
    /** Return the header that authenticates a call; none for another server, which must not see the key. */
    credential(address, keyNeeded = false) {
        if (address.origin !== new URL(this.url).origin)
            return {};
        if (this.#key)
            return { Authorization: `ApiKey ${this.#key}` };
        if (keyNeeded)
            throw new KeyNeeded("this call needs an API key: set ITEMINDEX_KEY, or pass { key } to the client");
        return { "X-Service-Public-Token": this.#token };
    }
    async #once(address, init, signal) {
        const timeout = AbortSignal.timeout(1000 * (this.#options.timeout ?? 60));
        const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
        try {
            return [await (this.#options.fetch ?? fetch)(address, { ...init, signal: either }), null];
        }
        catch (error) {
            signal?.throwIfAborted();
            return [null, new ConnectionFailed(`${address.origin} cannot be reached`, { cause: error })];
        }
    }
}
/** Wait; rejects where the signal is aborted. */
export function sleep(seconds, signal) {
    return new Promise((resolve, reject) => {
        const stop = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener("abort", stop);
            resolve();
        }, 1000 * seconds);
        if (signal?.aborted)
            stop();
        else
            signal?.addEventListener("abort", stop, { once: true });
    });
}
/** A pause that doubles, with some chance in it, so that many clients do not come back at the same moment. */
function pause(tries) {
    return Math.min(PAUSE_SECONDS * 2 ** (tries - 1), PAUSE_SECONDS_MAX) * (0.75 + Math.random() / 2);
}
/** Return a variable of the environment, where there is one: browsers have none. */
function variable(name) {
    const scope = globalThis;
    return scope.process?.env?.[name] || undefined;
}

import crypto from "crypto";

// The problem documents of what nginx itself refuses or cannot do, in the same form as the edge's.
// status: [slug, title, detail]; slugs as in edge/http/catalogue.toml. A title is the reason phrase of its status line;
// some of nginx's phrases are older than RFC 9110, and nginx does not let them be changed. Tests hold all of this together.
const PROBLEMS = {
    400: ["invalid-request", "Bad Request", "The request is not valid HTTP. In its URL, percent-encode spaces (%20) and characters outside ASCII (%C3%BC)."],
    404: ["not-found", "Not Found", "There is nothing at this path. See /v1/docs/reference for all paths."],
    405: ["method-not-allowed", "Not Allowed", "This path does not accept this method."],
    408: ["request-timeout", "Request Time-out", "The request did not arrive in time."],
    411: ["length-required", "Length Required", "The request has a body but no Content-Length."],
    412: ["precondition-failed", "Precondition Failed", "A condition of the request is not met."],
    413: ["content-too-large", "Request Entity Too Large", "The body is larger than this call accepts: 64 kB, of a batch or the order of an export 256 kB."],
    414: ["uri-too-long", "Request-URI Too Large", "The request's URL is longer than 8 kB: send a batch of IIDs in the body of a POST, and name a category instead of its subcategories."],
    416: ["range-not-satisfiable", "Requested Range Not Satisfiable", "The range is outside the file."],
    417: ["expectation-failed", "Expectation Failed", "The value of the Expect header is not supported."],
    421: ["misdirected-request", "Misdirected Request", "This server does not serve the requested host."],
    429: ["rate-limited", "Too Many Requests", "Too many requests or connections from this address; wait a second."],
    431: ["headers-too-large", "Request Header Fields Too Large", "The headers are too large: at most 8 kB each and 32 kB in total."],
    500: ["internal-error", "Internal Server Error", "An unexpected error occurred."],
    501: ["not-implemented", "Not Implemented", "The request uses an HTTP feature that is not supported."],
    502: ["upstream-error", "Bad Gateway", "A part of the service failed during the request; try again in a moment."],
    503: ["service-unavailable", "Service Temporarily Unavailable", "The service is overloaded; try again in a moment."],
    504: ["upstream-timeout", "Gateway Time-out", "A part of the service did not respond in time."],
    505: ["http-version-not-supported", "HTTP Version Not Supported", "Use HTTP/1.1 or HTTP/2."],
};
// What a client of S3 knows each of them as; others are its InvalidRequest. As in edge/bulk/s3_errors.py, but what has no
// place here is another bucket.
const S3_CODES = {
    404: ["NoSuchBucket", "The only bucket is `releases`."],
    405: ["MethodNotAllowed", "The bucket is read-only."],
    411: ["MissingContentLength"],
    412: ["PreconditionFailed"],
    413: ["EntityTooLarge"],
    416: ["InvalidRange"],
    421: ["InvalidRequest", "This server does not serve the requested host. Use path-style addresses."],
    429: ["SlowDown"],
    500: ["InternalError"],
    501: ["NotImplemented"],
    502: ["InternalError"],
    503: ["ServiceUnavailable"],
    504: ["InternalError"],
};
const ALLOW = "GET, HEAD, OPTIONS";
const WAIT_SECONDS = { 429: 1, 502: 2, 503: 2, 504: 5 };

// As instance_of in edge/http/context.py: the id itself where it is a UUID, else a UUID (version 5, OID) made of it.
function instance(id) {
    let hex = id.toLowerCase().replace(/-/g, "");
    if (!/^[0-9a-f]{32}$/.test(hex)) {
        const named = crypto.createHash("sha1").update(Buffer.from("6ba7b8129dad11d180b400c04fd430c8", "hex")).update(id);
        const bytes = named.digest().slice(0, 16);
        bytes[6] = (bytes[6] & 0x0f) | 0x50;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        hex = bytes.toString("hex");
    }
    return "urn:uuid:" + [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

// A UUID version 7 (RFC 9562) in hexadecimal, as edge/http/context.py makes it.
function requestId() {
    const random = new Uint8Array(10);
    globalThis.crypto.getRandomValues(random);
    random[0] = (random[0] & 0x0f) | 0x70;
    random[2] = (random[2] & 0x3f) | 0x80;
    return Date.now().toString(16).padStart(12, "0") + Buffer.from(random).toString("hex");
}

// Where every place at every edge is taken, nginx names the pool instead of the edges that it has asked.
const POOLS = ["edge_free", "edge_paid", "edge_uploads", "edge_streams"];

function status_of(r) {
    const status = Number(r.uri.slice(-3));
    const asked = (r.variables.upstream_addr || "").split(/[, ]+/);
    if (status === 413 && r.variables.of_s3) {
        return 405; // an upload, which is refused whatever its size
    }
    return status === 502 && POOLS.includes(asked[asked.length - 1]) ? 503 : status;
}

// All of its text is ours: nothing needs to be escaped.
function s3Document(r, status, detail) {
    const known = S3_CODES[status] || ["InvalidRequest"];
    return '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>' + known[0] + "</Code><Message>" + (known[1] || detail) +
        "</Message><RequestId>" + r.variables.id + "</RequestId></Error>";
}

function answer(r) {
    const status = status_of(r);
    const problem = PROBLEMS[status];
    const document = {
        type: r.variables.problem_base_url + "/" + problem[0],
        title: problem[1],
        status: status,
        detail: problem[2],
        instance: instance(r.variables.id),
    };
    const fields = r.headersOut;
    fields["Content-Type"] = "application/problem+json";
    fields["Cache-Control"] = "no-store";
    fields["X-Content-Type-Options"] = "nosniff";
    fields["X-Request-Id"] = r.variables.id;
    fields["Access-Control-Allow-Origin"] = "*";
    if (WAIT_SECONDS[status]) {
        document.retry_after = WAIT_SECONDS[status];
        fields["Retry-After"] = String(WAIT_SECONDS[status]);
    }
    if (status === 405) {
        fields["Allow"] = ALLOW;
    }
    if (r.variables.of_s3) {
        fields["Content-Type"] = "application/xml";
        fields["x-amz-request-id"] = r.variables.id;
        r.return(status, s3Document(r, status, document.detail));
        return;
    }
    if ((r.variables.http_accept || "").includes("text/html")) {
        fields["Content-Type"] = "text/html; charset=utf-8";
        fields["Content-Security-Policy"] = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'";
        r.return(status, page(document));
        return;
    }
    r.return(status, JSON.stringify(document));
}

// For a person whose browser followed a wrong link, or sent too large a form; as edge/docs/templates/problem.html. All of its text is ours.
function page(problem) {
    return '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>' + problem.title + ' · Item Index</title>' +
        '<link rel="icon" href="/static/icon.svg"><link rel="stylesheet" href="/static/style.css">' +
        '<link rel="stylesheet" href="/static/dark.css" media="(prefers-color-scheme: dark)"></head><body>' +
        '<header><div class="bar"><a class="name" href="/"><img src="/static/icon.svg" alt="" width="28" height="28"> Item Index</a>' +
        '<nav aria-label="Pages"><a href="/search">Explore</a> <a href="/v1/docs">Docs</a> <a href="/dashboard">Sign in</a></nav></div></header><main>' +
        '<h1>' + problem.title + '</h1><p class="lead">' + (problem.status === 404 ? "There is nothing at this address." : problem.detail) + '</p>' +
        '<p><a href="/v1/docs">Documentation</a> · <a href="/dashboard">Dashboard</a></p>' +
        '<p class="dim">' + problem.instance + '</p></main></body></html>';
}

// The first four groups of an IPv6 address, as nginx writes it; asked for IPv6 callers only. An IPv4 address within an IPv6
// one (::ffff:203.0.113.7) counts by itself, as in the quota: else all of them would be one network.
function network(r) {
    const address = r.variables.remote_addr;
    if (address.startsWith("::ffff:") && address.includes(".")) {
        return address.slice("::ffff:".length);
    }
    const halves = address.split("::");
    const groups = halves[0] ? halves[0].split(":") : [];
    if (halves.length === 2) {
        const tail = halves[1] ? halves[1].split(":") : [];
        while (groups.length + tail.length < 8) {
            groups.push("0");
        }
        groups.push.apply(groups, tail);
    }
    return groups.slice(0, 4).join(":");
}

export default { answer, network, requestId };

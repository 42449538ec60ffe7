// The TypeScript client without a service, run by test_typescript_client.py: what it sends, waits for, and makes of refusals.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

import * as itemindex from "../../../clients/typescript/dist/index.js";
import { download } from "../../../clients/typescript/dist/node.js";

const URL_ = "http://service/v1";
const json = (document, status = 200, headers = {}) => new Response(JSON.stringify(document), { status, headers });
const problem = (status, slug, headers = {}, more = {}) =>
  json({ type: `${URL_}/errors/${slug}`, title: "t", status, detail: "d", instance: "urn:x", ...more }, status, {
    "X-Request-Id": "abcdefgh",
    ...headers,
  });

/** A client whose requests are answered one after another, and the list of the requests. */
function answering(answers, options = {}) {
  const sent = [];
  const fetch = async (url, init) => {
    sent.push({ url: new URL(url), ...init });
    const answer = typeof answers === "function" ? answers(sent.at(-1)) : answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { sent, client: new itemindex.Client({ url: URL_, key: "iixk_live_x", fetch, ...options }) };
}

for (const [status, slug, kind] of [
  [300, "several-items", itemindex.SeveralCandidates],
  [400, "invalid-iid", itemindex.ApiProblem],
  [403, "insufficient-plan", itemindex.InsufficientPlan],
  [404, "iid-not-found", itemindex.NotFound],
  [409, "state-conflict", itemindex.Conflict],
  [410, "iid-withdrawn", itemindex.Gone],
]) {
  test(`the problem ${slug} is an error of its class`, async () => {
    const { client } = answering([problem(status, slug, {}, { candidates: [{ iid: "a" }] })]);
    const error = await client.lookup("x").catch((one) => one);
    assert.equal(error.constructor, kind);
    assert.deepEqual([error.slug, error.status, error.detail, error.requestId], [slug, status, "d", "abcdefgh"]);
    if (kind === itemindex.SeveralCandidates) assert.deepEqual(error.candidates, [{ iid: "a" }]);
  });
}

test("the address of a server alone is that of the API below /v1", async () => {
  for (const [url, address] of [
    ["http://service", "http://service/v1/index/lookup/x"],
    ["https://service:8443/", "https://service:8443/v1/index/lookup/x"],
    ["http://service/items", "http://service/items/index/lookup/x"],
  ]) {
    const { client, sent } = answering([json({})], { url });
    await client.lookup("x");
    assert.equal(sent[0].url.href, address);
  }
});

test("an answer that is no problem document is described by its status", async () => {
  const { client } = answering([new Response("<html>", { status: 418 })]);
  await assert.rejects(client.lookup("x"), /answered 418/);
});

test("an argument that the API lacks is refused before a call", async () => {
  const { client, sent } = answering([]);
  for (const call of [
    async () => client.report.cohorts({ brandd: ["x"] }),
    async () => client.search("x", { nosuch: 1 }),
    async () => client.search("x", { format: "csv" }),
    () => client.resolve({ gtn: "1" }),
    () => client.prices("x", { chanel: "w" }),
    () => client.events({ afterr: 1 }).next(),
    async () => client.report.brandInsights("x", { sort: "brand" }),
    () => client.export({ dataset: "items", colums: ["iid"] }),
  ]) {
    await assert.rejects(call, (error) => error instanceof itemindex.UnknownArgument && /there are /.test(error.message));
  }
  assert.equal(sent.length, 0);
});

test("a call that needs a key is not sent without one", async () => {
  const { client, sent } = answering([], { key: "" });
  for (const call of [
    () => client.prices("x"),
    () => client.report.cohorts({ brand: ["b"] }).wait(),
    () => client.release("items"),
    () => client.export({ dataset: "items" }),
    () => client.jobs().next(),
    () => client.lookupMany(["x"]),
    () => client.resolveMany([{ gtin: "1" }]),
  ]) {
    await assert.rejects(call(), itemindex.KeyNeeded);
  }
  assert.equal(sent.length, 0);
});

test("free calls take the public token, paid ones the key, and no text shows the key", async () => {
  const free = answering([json({ iid: "x" })], { key: "" });
  await free.client.lookup("x");
  assert.match(free.sent[0].headers["X-Service-Public-Token"], /^iixp_anon_/);
  const paid = answering([json({ iid: "x" })]);
  await paid.client.lookup("x");
  assert.equal(paid.sent[0].headers.Authorization, "ApiKey iixk_live_x");
  assert.doesNotMatch(inspect(paid.client, { depth: 9 }) + JSON.stringify(paid.client), /iixk_live_x/);
});

test("a refusal that passes is waited for as long as Retry-After says", async () => {
  const waits = [];
  const onWait = (seconds, error) => waits.push([seconds, error.constructor]);
  const { client } = answering([problem(429, "rate-limited", { "Retry-After": "0" }), json({ iid: "x" })], { onWait });
  assert.equal((await client.lookup("x")).iid, "x");
  assert.deepEqual(waits, [[0, itemindex.RateLimited]]);
});

test("a refusal until midnight is raised at once", async () => {
  const { client, sent } = answering([problem(429, "rate-limited", { "Retry-After": "40000" })]);
  const error = await client.lookup("x").catch((one) => one);
  assert.deepEqual([error.constructor, error.retryAfter, sent.length], [itemindex.RateLimited, 40000, 1]);
});

test("a lost connection is tried again, and raised where no time is left to wait", async () => {
  const lost = new TypeError("fetch failed");
  const { client } = answering([lost, json({ iid: "x" })]);
  assert.equal((await client.lookup("x")).iid, "x");
  const other = answering([lost], { maxWait: 0 });
  await assert.rejects(other.client.lookupMany(["x"]), itemindex.ConnectionFailed);
  assert.equal(other.sent.length, 1);
});

/** An answer whose body ends, or comes, as the function says that is called with its controller. */
const streamed = (start) => new Response(new ReadableStream({ start }));

test("an answer that is cut is asked for again, and a report that stays cut is an error of the client", async () => {
  const cut = () => streamed((body) => body.error(new TypeError("terminated")));
  const { client } = answering([cut(), json({ iid: "x" })]);
  assert.equal((await client.lookup("x")).iid, "x");
  const other = answering(cut, { maxWait: 0 });
  await assert.rejects(other.client.report.reductions().wait(), itemindex.ConnectionFailed);
});

test("a page in the place of a document is no answer, and is not asked for again", async () => {
  const { client, sent } = answering(() => new Response("<html>Sign in"));
  await assert.rejects(client.lookup("x"), itemindex.ConnectionFailed);
  assert.equal(sent.length, 1);
});

test("a search goes through every page as it is read", async () => {
  const pages = { null: ["a", "1"], 1: ["b", "2"], 2: ["c", null] };
  const { client, sent } = answering(({ url }) => {
    const [iid, next_cursor] = pages[url.searchParams.get("cursor")];
    return json({ data: [{ iid }], next_cursor });
  });
  const hits = client.search("soy milk", { limit: 1 });
  assert.equal((await hits.next()).value.iid, "a");
  assert.equal(sent.length, 1);
  assert.deepEqual((await Array.fromAsync(hits)).map((hit) => hit.iid), ["b", "c"]);
  assert.equal(sent[0].url.search, "?q=soy+milk&limit=1");
});

const job = (state, fraction = 0.5) => ({ id: "j", state, progress: { fraction, stage: "reading" }, error: null });

test("a report that becomes a job is followed to its rows", async () => {
  const steps = [];
  const report = { data: [{ p50: "1.50" }], meta: { rows: 1 } };
  const { client, sent } = answering([
    json(job("queued", 0), 202),
    json(job("running")),
    problem(503, "service-unavailable", { "Retry-After": "0" }),
    json(job("succeeded", 1)),
    json(report),
  ]);
  const call = client.report.cohorts({ brand: ["vitasoy", "oatly"], from: "2026-07-01" });
  const found = await call.wait({ onProgress: ({ fraction }) => steps.push(fraction) });
  assert.deepEqual([found, steps], [report, [0, 0.5, 1]]);
  assert.equal(sent[0].url.search, "?brand=vitasoy&brand=oatly&from=2026-07-01");
  assert.equal(sent[0].headers.Prefer, "wait=20");
  assert.equal(sent.at(-1).url.pathname, "/v1/jobs/j/result");
});

test("a job that fails says why, and one that takes too long can be fetched later", async () => {
  const failed = { ...job("failed"), error: { detail: "It took too long." } };
  await assert.rejects(answering([json(failed, 202)]).client.report.reductions().wait(), /It took too long/);
  const { client } = answering(() => json(job("running"), 202));
  await assert.rejects(client.report.reductions().wait({ within: 0 }), itemindex.WaitedTooLong);
});

test("an export is ordered once, however often its order is sent", async () => {
  const manifest = { files: [{ signed_url: "s" }] };
  const running = problem(409, "idempotency-in-progress", { "Retry-After": "0" });
  const { client, sent } = answering([new TypeError("lost"), running, json({ ...job("succeeded"), manifest }, 202)]);
  assert.deepEqual(await client.export({ dataset: "items" }), manifest);
  const names = sent.map((one) => one.headers["Idempotency-Key"]);
  assert.deepEqual(new Set(names).size, 1);
  assert.ok(names[0].length > 30);
});

test("a caller's signal ends a wait", async () => {
  const stop = new AbortController();
  const { client } = answering(() => json(job("running"), 202));
  const waiting = client.report.reductions().wait({ signal: stop.signal, onProgress: () => stop.abort() });
  await assert.rejects(waiting, { name: "AbortError" });
});

const body = Buffer.from(Array.from({ length: 10_000 }, (_, n) => n % 256));
const file = {
  name: "a-1.parquet",
  url: `${URL_}/f`,
  signed_url: "http://elsewhere/secret",
  bytes: body.length,
  sha256: createHash("sha256").update(body).digest("hex"),
};
const manifest = (...files) => ({ dataset: "items", data_version: 3, rows: 1, bytes: body.length, files });

test("a download continues where it stopped and is checked", async () => {
  const folder = await mkdtemp(join(tmpdir(), "release-"));
  const ranges = [];
  const { client } = answering(({ url, headers }) => {
    if (url.pathname.endsWith("latest")) return json(manifest(file));
    ranges.push(headers.Range);
    if (ranges.length === 1) return new TypeError("cut");
    const wrong = ranges.length === 2 ? Buffer.alloc(9000) : body; // once the bytes are others than promised
    const from = Number(headers.Range?.match(/\d+/)[0] ?? 0);
    return new Response(wrong.subarray(headers.Range && ranges.length > 2 ? from : 0), { status: from ? 206 : 200 });
  });
  await mkdir(join(folder, "items", "3"), { recursive: true });
  await writeFile(join(folder, "items", "3", "a-1.parquet.part"), body.subarray(0, 1000));
  const target = await download(await client.release("items"), folder);
  assert.deepEqual(await readFile(join(target, "a-1.parquet")), body);
  assert.deepEqual(ranges, ["bytes=1000-", "bytes=1000-", undefined]);
  assert.deepEqual((await readdir(target)).sort(), ["a-1.parquet", "manifest.json"]);
  assert.doesNotMatch(await readFile(join(target, "manifest.json"), "utf8"), /secret/);
});

test("a download that is cut again and again ends as long as it comes further", async () => {
  const folder = await mkdtemp(join(tmpdir(), "release-"));
  const { client } = answering(({ url, headers }) => {
    if (url.pathname.endsWith("latest")) return json(manifest(file));
    const from = Number(headers.Range?.match(/\d+/)[0] ?? 0);
    const pieces = [body.subarray(from, from + 1000)];
    const cut = new ReadableStream({
      pull: (stream) => (pieces.length ? stream.enqueue(pieces.pop()) : stream.error(new TypeError("cut"))),
    });
    return new Response(cut, { status: from ? 206 : 200 });
  });
  const target = await download(await client.release("items"), folder);
  assert.deepEqual(await readFile(join(target, "a-1.parquet")), body);
});

test("a release of every dataset is one, also of those whose names have an underscore", async () => {
  for (const dataset of ["items", "training_pairs", "items_changes"]) {
    const { client } = answering([json({ ...manifest(file), dataset })]);
    assert.equal((await client.release(dataset)).manifest.dataset, dataset);
  }
});

test("a file may come for longer than an answer may take", async () => {
  let signal;
  const { client } = answering(
    (call) => {
      if (call.url.pathname.endsWith("latest")) return json(manifest(file));
      signal = call.signal;
      return new Response(body);
    },
    { timeout: 0.2 },
  );
  const release = await client.release("items");
  const response = await release.open(release.manifest.files[0]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(signal.aborted, false);
  assert.equal((await response.arrayBuffer()).byteLength, body.length);
});

test("names of a manifest never lead out of the folder, and the key goes to no other server", async () => {
  for (const wrong of [manifest({ ...file, name: "../x.parquet" }), { ...manifest(file), dataset: "../up" }]) {
    await assert.rejects(answering([json(wrong)]).client.release("items"), itemindex.DownloadFailed);
  }
  const { client, sent } = answering([json(manifest({ ...file, url: "http://elsewhere/f" })), new Response(body)]);
  const release = await client.release("items");
  await release.open(release.manifest.files[0]);
  assert.equal(sent[1].url.href, "http://elsewhere/secret");
  assert.equal(sent[1].headers.Authorization, undefined);
});

test("a batch is sent again after a dropped connection, as it changes nothing", async () => {
  const { client, sent } = answering([new TypeError("dropped"), json({ data: [{ iid: "x" }] })]);
  assert.deepEqual(await client.lookupMany(["x"]), [{ iid: "x" }]);
  assert.deepEqual(sent.map((one) => one.method), ["POST", "POST"]);
  const resolving = answering([new TypeError("dropped"), json({ data: [{ status: 200 }] })]);
  assert.deepEqual(await resolving.client.resolveMany([{ gtin: "1" }]), [{ status: 200 }]);
});

test("a file without bytes is downloaded, and a part that is whole is not asked for again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "release-"));
  const none = { ...file, name: "none.parquet", bytes: 0, sha256: createHash("sha256").digest("hex") };
  let cut = true;
  const { client, sent } = answering(({ url }) => {
    if (url.pathname.endsWith("latest")) return json(manifest(none, file));
    if (!cut) return new Response("");
    cut = false;
    return new TypeError("cut");
  });
  const release = await client.release("items");
  await mkdir(join(folder, "items", "3"), { recursive: true });
  await writeFile(join(folder, "items", "3", "a-1.parquet.part"), body);
  const target = await download(release, folder);
  assert.deepEqual((await readFile(join(target, "none.parquet"))).length, 0);
  assert.deepEqual(await readFile(join(target, "a-1.parquet")), body);
  assert.equal(sent.filter((one) => one.url.pathname.endsWith("/f")).length, 2);
});

const twice = (count, named) => Array.from({ length: 2 * count }, (_, n) => named(Math.floor(n / 2)));

/** Answers a list of brands in pages, two rows for each; from the request `changesAt` on the data is newer. */
function brands(count, { asJob = false, changesAt = Infinity } = {}) {
  const asked = [];
  let limit;
  const page = (from, withCursor) => {
    const data_version = asked.length < changesAt ? 1 : 2;
    const last = Math.min(from + limit, count);
    const data = twice(last - from, (n) => `b${from + n}@${data_version}`);
    const cursor = withCursor ? { next_cursor: last < count ? String(last) : null } : {};
    return json({ data, meta: { data_version, rows: data.length, total: count, cost_units: 10, cached: false, result_sha256: "p", ...cursor } });
  };
  const answer = ({ url }) => {
    if (url.pathname.startsWith("/v1/jobs/")) return page(0, false);
    asked.push(Object.fromEntries(url.searchParams));
    limit = Number(url.searchParams.get("limit") ?? 50);
    if (asJob && asked.length === 1) return json(job("succeeded"), 202);
    return page(Number(url.searchParams.get("cursor") ?? 0), true);
  };
  return { asked, client: answering(answer).client };
}

test("a report that is a list is read to its end, unless a limit asks for one page", async () => {
  for (const asJob of [false, true]) {
    const { client, asked } = brands(1100, { asJob });
    const { data, meta } = await client.report.brandInsights().wait();
    assert.deepEqual(data, twice(1100, (n) => `b${n}@1`));
    const units = asJob ? 40 : 30;
    assert.deepEqual([meta.rows, meta.cost_units, meta.next_cursor, meta.result_sha256], [2200, units, null, undefined]);
    assert.ok(asked.every((one) => one.limit === "500"));
  }
  const one = await brands(762).client.report.brandInsights(null, { limit: 10 }).wait();
  assert.deepEqual([one.data.length, one.meta.next_cursor], [20, "10"]);
});

test("pages of two states of the data are not joined", async () => {
  const { client, asked } = brands(762, { changesAt: 2 });
  const { data } = await client.report.categoryInsights().wait();
  assert.deepEqual(data, twice(762, (n) => `b${n}@2`));
  assert.deepEqual(asked.map((one) => one.cursor), [undefined, "500", undefined, "500"]);
});

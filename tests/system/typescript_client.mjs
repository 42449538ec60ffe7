// Drives the TypeScript client against a stack as a customer would, and prints what it got as JSON. Run by test_clients.py.

import { Client, NotFound } from "../../clients/typescript/dist/index.js";
import { download } from "../../clients/typescript/dist/node.js";

const client = new Client();
const hits = await Array.fromAsync(client.search("soy milk", { limit: 50 }));
const item = await client.lookup(hits[0].iid);
const entries = await client.lookupMany(hits.slice(0, 20).map((hit) => hit.iid));
const identifier = item.members[0];
const same = await client.resolve({ sku: identifier.id, source: identifier.source });
const missing = await client.lookup("IID-00000-00000-00000").catch((error) => error);
const call = client.report.cohorts({ brand: ["vitasoy"], granularity: "week" });
const cost = await call.cost();
const steps = [];
const report = await call.wait({ onProgress: ({ fraction }) => steps.push(fraction) });
const manifest = await client.export({ dataset: "brands", format: "csv" });
const exported = await (await fetch(manifest.files[0].signed_url)).text();
const release = await client.release("brands");
const folder = await download(release, process.argv[2]);

console.log(
  JSON.stringify({
    hits: hits.map((hit) => hit.iid),
    entries: entries.map((entry) => entry.iid),
    item: item.iid,
    same: same.iid,
    missing: missing instanceof NotFound && missing.requestId !== null,
    cost: cost.cost_units,
    rows: [report.data.length, report.meta.rows],
    steps,
    exported: [exported.trim().split("\n").length - 1, manifest.rows],
    release: release.manifest.rows,
    folder,
    plan: (await client.quota()).plan,
  }),
);

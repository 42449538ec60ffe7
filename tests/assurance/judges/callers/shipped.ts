// What a caller writes with the shipped client; checked by tsc --strict, never run.

import { Client, RateLimited, SeveralCandidates, type CohortRow } from "./index.js";

export async function everything(client: Client): Promise<string[]> {
  const names: string[] = [];
  for await (const hit of client.search("soy milk", { limit: 50 })) names.push(hit.name);
  const item = await client.lookup("IID-99D2F-46WJ3-4S6N3");
  const median: string | undefined = item.price_band?.median;
  const report = await client.report.cohorts({ brand: ["vitasoy"], granularity: "week" }).wait({
    onProgress: ({ fraction, stage }) => names.push(`${fraction} ${stage}`),
  });
  const rows: CohortRow[] = report.data;
  const total: number = report.meta.data_version;
  const manifest = await client.export({ dataset: "observations", format: "csv", filter: { brand: ["vitasoy"] } });
  const file = await fetch(manifest.files[0]!.signed_url);
  try {
    await client.resolve({ gtin: "4006381333931" });
  } catch (error) {
    if (error instanceof SeveralCandidates) names.push(...error.candidates.map((one) => one.iid));
    if (error instanceof RateLimited) names.push(String(error.retryAfter));
  }
  // @ts-expect-error a granularity that does not exist
  client.report.cohorts({ granularity: "decade" });
  // @ts-expect-error an argument that the API lacks
  client.report.cohorts({ brandd: ["x"] });
  // @ts-expect-error an argument that the API lacks
  client.search("x", { nosuch: 1 });
  return [...names, median ?? "", rows[0]?.p50 ?? "", String(total), await file.text()];
}

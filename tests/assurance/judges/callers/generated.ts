// What a caller writes with the client that hey-api generates; checked by tsc --strict, never run.

import {
  createExport,
  getCohorts,
  getExport,
  getExportFile,
  getJob,
  getJobResult,
  lookupItem,
  searchItems,
} from "./sdk.gen";
import type { CohortRow, SearchHit } from "./types.gen";

export async function lookup(iid: string): Promise<string> {
  const { data, error } = await lookupItem({ path: { iid } });
  if (error) return error.detail;
  return data.price_band?.median ?? data.name;
}

export async function paging(q: string): Promise<SearchHit[]> {
  const hits: SearchHit[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data } = await searchItems({ query: { q, ...(cursor ? { cursor } : {}) }, throwOnError: true });
    hits.push(...data.data);
    if (data.next_cursor === null) return hits;
    cursor = data.next_cursor;
  }
}

export async function report(brand: string[]): Promise<CohortRow[]> {
  const { data, response } = await getCohorts({ query: { brand }, headers: { Prefer: "wait=10" }, throwOnError: true });
  if (typeof data === "object" && data !== null && "data" in data) return data.data as CohortRow[];
  if (response.status !== 202) throw new Error("this was a quote");
  const { id } = data as { id: string };
  for (;;) {
    const { data: job } = await getJob({ path: { id }, throwOnError: true });
    if (job.state === "succeeded") break;
    if (job.state === "failed") throw new Error(job.error?.detail);
  }
  const { data: result } = await getJobResult({ path: { id }, throwOnError: true });
  return (result as { data: CohortRow[] }).data;
}

export async function exported(): Promise<unknown> {
  const { data: ordered } = await createExport({
    body: { dataset: "observations", format: "csv" },
    headers: { "Idempotency-Key": "july" },
    throwOnError: true,
  });
  const id = (ordered as { id: string }).id;
  const { data: done } = await getExport({ path: { id }, throwOnError: true });
  const [file] = done.manifest?.files ?? [];
  if (!file) throw new Error("no file");
  return (await getExportFile({ path: { id, file: file.name }, throwOnError: true })).data;
}

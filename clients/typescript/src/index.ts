/** A client of the Item Index API for browsers and Node. It needs `fetch` and nothing else. */

export { Client } from "./client.ts";
export * from "./errors.ts";
export type { Options } from "./http.ts";
export { type Progress, ReportCall, type Waiting } from "./jobs.ts";
export { Release } from "./release.ts";
export { Reports } from "./reports.ts";
export type * from "./schemas.ts";

/** A client of the Item Index API for browsers and Node. It needs `fetch` and nothing else. */
export { Client } from "./client.js";
export * from "./errors.js";
export { ReportCall } from "./jobs.js";
export { Release } from "./release.js";
export { Reports } from "./reports.js";

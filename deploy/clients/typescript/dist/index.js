/** A client of the Item Index API for browsers and Node. It needs `fetch` and nothing else. */
export { Client, Reports } from "./client.js";
export * from "./errors.js";
export { ReportCall } from "./jobs.js";
export { Release } from "./release.js";

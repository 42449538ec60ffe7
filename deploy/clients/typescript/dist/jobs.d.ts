/** Orders that take a while: reports and exports, followed to their end. */
import { type Http, type Query } from "./http.ts";
import { PARAMETERS } from "./parameters.ts";
import type { ExportManifest, NewExport, Quote } from "./schemas.ts";
/** The share that is done, from 0 to 1, and what is being done. */
export interface Progress {
    fraction: number;
    stage: string;
}
export interface Waiting {
    /** How many seconds to wait for the end of the job, of a list for that of each page; default: 600. */
    within?: number;
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
}
/** A report that has not been ordered yet. One that is a list is read to its end, unless `limit` or `cursor` asks for a page. */
export declare class ReportCall<R> {
    #private;
    constructor(http: Http, path: string, call: keyof typeof PARAMETERS, query: Query);
    /** Return what the report would cost, of a list each page of 500 entries. Charges nothing. */
    cost(): Promise<Quote>;
    /** Order the report and return its rows. Rejects with JobFailed, WaitedTooLong or ApiProblem. */
    wait(waiting?: Waiting): Promise<R>;
}
/** Order an export, follow it to its end and return its manifest, whose files have signed addresses. */
export declare function exported(http: Http, order: NewExport, waiting?: Waiting): Promise<ExportManifest>;

/** A release of a dataset: its manifest, and its files as streams. */
import type { Http } from "./http.ts";
import type { ReleaseFile, ReleaseManifest } from "./schemas.ts";
export declare class Release {
    #private;
    readonly manifest: ReleaseManifest;
    constructor(http: Http, manifest: ReleaseManifest);
    /** Open a file from a byte on. The answer has status 206 where it begins there, and 200 where it is the whole file. */
    open(file: ReleaseFile, from?: number, signal?: AbortSignal): Promise<Response>;
}

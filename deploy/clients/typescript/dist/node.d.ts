/** Releases onto a disk, for Node: several files at a time, resumed where they stopped, checked by their digests. */
import type { Release } from "./release.ts";
export interface DownloadOptions {
    /** How many files at a time; default: 4. */
    parallel?: number;
    /** Called with the number of bytes that are there and the number of all. */
    onProgress?: (bytes: number, total: number) => void;
    signal?: AbortSignal;
}
/** Download all files of a release into folder/dataset/version and return that folder. Run again, it continues. */
export declare function download(release: Release, folder: string, options?: DownloadOptions): Promise<string>;

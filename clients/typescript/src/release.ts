/** A release of a dataset: its manifest, and its files as streams. */

import { DownloadFailed } from "./errors.ts";
import type { Http } from "./http.ts";
import type { ReleaseFile, ReleaseManifest } from "./schemas.ts";

// A name is the server's: nothing of it may lead out of a folder.
const FILE = /^[a-z0-9-]{1,80}\.parquet$/;
const DATASET = /^[a-z_-]{1,40}$/;

export class Release {
  readonly manifest: ReleaseManifest;
  readonly #http: Http;

  constructor(http: Http, manifest: ReleaseManifest) {
    const wrong = manifest.files.map((file) => file.name).find((name) => !FILE.test(name));
    if (wrong !== undefined || !DATASET.test(manifest.dataset)) {
      throw new DownloadFailed(`the manifest has a name that is no name of a release: ${wrong ?? manifest.dataset}`);
    }
    this.#http = http;
    this.manifest = manifest;
  }

  /** Open a file from a byte on. The answer has status 206 where it begins there, and 200 where it is the whole file. */
  open(file: ReleaseFile, from: number = 0, signal?: AbortSignal): Promise<Response> {
    const address = this.#http.address(file.url);
    const foreign = Object.keys(this.#http.credential(address, true)).length === 0;
    const range = { Range: `bytes=${from}-`, "If-Range": `"sha256-${file.sha256}"` };
    const headers = { Accept: "*/*", ...(from ? range : {}) };
    return this.#http.open(foreign ? file.signed_url : file.url, { headers, keyNeeded: true, signal });
  }
}

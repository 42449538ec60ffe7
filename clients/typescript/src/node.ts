/** Releases onto a disk, for Node: several files at a time, resumed where they stopped, checked by their digests. */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { ConnectionFailed, DownloadFailed } from "./errors.ts";
import type { Release } from "./release.ts";
import type { ReleaseFile } from "./schemas.ts";

const TRIES_MAX = 8;

export interface DownloadOptions {
  /** How many files at a time; default: 4. */
  parallel?: number;
  /** Called with the number of bytes that are there and the number of all. */
  onProgress?: (bytes: number, total: number) => void;
  signal?: AbortSignal;
}

/** Download all files of a release into folder/dataset/version and return that folder. Run again, it continues. */
export async function download(release: Release, folder: string, options: DownloadOptions = {}): Promise<string> {
  const { manifest } = release;
  const target = join(folder, manifest.dataset, String(Number(manifest.data_version)));
  await mkdir(target, { recursive: true });
  const reached = new Map<string, number>();
  const left = [...manifest.files];
  const take = async (): Promise<void> => {
    for (let file = left.shift(); file; file = left.shift()) {
      const { name } = file;
      await whole(release, file, target, options.signal, (bytes) => {
        reached.set(name, bytes);
        options.onProgress?.([...reached.values()].reduce((sum, one) => sum + one, 0), manifest.bytes);
      });
    }
  };
  await Promise.all(Array.from({ length: options.parallel ?? 4 }, take));
  // Signed addresses open the files to everyone who reads them, so they are not kept.
  const kept = { ...manifest, files: manifest.files.map(({ signed_url: _, ...file }) => file) };
  await writeFile(join(target, "manifest.json"), JSON.stringify(kept, null, 1));
  return target;
}

async function whole(
  release: Release,
  file: ReleaseFile,
  target: string,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const path = join(target, file.name);
  const part = `${path}.part`;
  if (await isWhole(path, file)) return onBytes(file.bytes);
  if (await isWhole(part, file)) return rename(part, path);
  // Tries are counted from the last one that came further: a file of hours may be cut many times.
  for (let tries = 0, furthest = 0; tries < TRIES_MAX; ) {
    try {
      await more(release, file, part, signal, onBytes);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionFailed)) throw error;
    }
    if (await isWhole(part, file)) return rename(part, path);
    const there = await size(part);
    tries = there > furthest ? 0 : tries + 1;
    furthest = Math.max(there, furthest);
    // Not the bytes that were promised: from the beginning. Of a file without bytes there may be no part yet.
    if (there >= file.bytes) await rm(part, { force: true });
  }
  throw new DownloadFailed(`${file.name} came no further in ${TRIES_MAX} tries; run it again to continue`);
}

/** Append what is missing of a file. Rejects with ConnectionFailed where the connection ends before it is whole. */
async function more(
  release: Release,
  file: ReleaseFile,
  part: string,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const from = await size(part);
  const response = await release.open(file, from, signal);
  const resumed = response.status === 206;
  let bytes = resumed ? from : 0;
  const out = await open(part, resumed ? "a" : "w");
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const next = await reader?.read().catch((error: unknown) => {
        throw new ConnectionFailed(`the connection ended within ${file.name}`, { cause: error });
      });
      if (!next || next.done) return;
      await out.write(next.value);
      bytes += next.value.length;
      onBytes(bytes);
    }
  } finally {
    await out.close();
  }
}

async function size(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

async function isWhole(path: string, file: ReleaseFile): Promise<boolean> {
  const there = await stat(path).catch(() => null);
  if (there?.size !== file.bytes) return false;
  const hash = createHash("sha256");
  for await (const block of createReadStream(path)) hash.update(block as Uint8Array);
  return hash.digest("hex") === file.sha256;
}

/** How much disk the files take that were changed since a moment: what a command has written, at most. */
import { lstat, readdir } from "node:fs/promises";

/**
 * Bytes on disk of every file below `root` whose status changed at or after `sinceMs` (Unix milliseconds); the count
 * stops once it is over `enough`. No owner can set that time back. Links are counted and not followed; what vanishes
 * or cannot be read on the way is left out.
 */
export async function changedBytes(root: string, sinceMs: number, enough: number): Promise<number> {
  let bytes = 0;
  // Names are bytes: one that is no UTF-8 must not hide what it holds.
  const folders = [Buffer.from(root)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true, encoding: "buffer" }).catch(
      () => [],
    );
    for (const entry of entries) {
      const path = Buffer.concat([folder, SLASH, entry.name]);
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isFile()) continue;
      const stat = await lstat(path).catch(() => null);
      if (stat === null || stat.ctimeMs < sinceMs) continue;
      bytes += stat.blocks * 512;
      if (bytes > enough) return bytes;
    }
  }
  return bytes;
}

const SLASH = Buffer.from("/");

/** What stands for the content of a script or program, so that an approval ends when it changes. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { BOUND_CONTENT_BYTES_MAX } from "../limits.ts";

/**
 * SHA-256 of the file at `path` (a real path: links are not followed), hex. For a file over BOUND_CONTENT_BYTES_MAX
 * a tag of inode, size and times. null: absent, unreadable or no regular file.
 */
export async function contentHash(path: string): Promise<string | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => null);
  if (file === null) return null;
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) return null;
    if (stat.size > BOUND_CONTENT_BYTES_MAX) {
      return `unhashed:${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
    }
    const hash = createHash("sha256");
    // The size may grow while it is read; what is over the limit counts by its length alone.
    let left = BOUND_CONTENT_BYTES_MAX;
    const stream = file.createReadStream({ autoClose: false, start: 0 });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) break;
    }
    return hash.digest("hex");
  } catch {
    return null;
  } finally {
    await file.close().catch(() => undefined);
  }
}

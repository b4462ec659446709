/** How one protected path stands: looked at through open folders, so that no link leads the look elsewhere. */
import { createHash, randomUUID } from "node:crypto";
import { type BigIntStats, closeSync, fstatSync, lstatSync, readlinkSync, readSync } from "node:fs";
import { PROTECTED_FILE_BYTES_MAX, STAMP_TICK_MS } from "../../limits.ts";
import { type BytePath, sysPath } from "../byte-path.ts";
import { openFile, openFolder } from "../safe-open.ts";

export type FileState =
  | { readonly kind: "absent" | "folder" | "other" }
  | {
      readonly kind: "file";
      /** Changes with every write: inode, size and times that only the kernel sets. */
      readonly stamp: string;
      readonly size: number;
      readonly mode: number;
      readonly uid: number;
      readonly gid: number;
    }
  | { readonly kind: "link"; readonly stamp: string; readonly target: string };

/** The folder that holds a path below the root, open, and the name in it. null: there is no such folder. */
export function holderOf(
  rootFd: number,
  path: BytePath,
): { readonly fd: number; readonly at: (name?: BytePath) => string | Buffer } | null {
  const slash = path.lastIndexOf("/");
  const folder = openFolder(rootFd, slash < 0 ? "" : path.slice(0, slash));
  if (folder.fd === undefined) return null;
  const { fd } = folder;
  const own = path.slice(slash + 1) as BytePath;
  return { fd, at: (name = own) => sysPath(`/proc/self/fd/${fd}/${name}` as BytePath) };
}

/** `path` is relative to the folder of `rootFd`. */
export function stateOf(rootFd: number, path: BytePath): FileState {
  const holder = holderOf(rootFd, path);
  if (holder === null) return { kind: "absent" };
  try {
    const stat = lstatSync(holder.at(), { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return { kind: "absent" };
    const stamp = stampOf(stat);
    if (stat.isSymbolicLink()) {
      return { kind: "link", stamp, target: readlinkSync(holder.at(), "latin1") };
    }
    if (stat.isDirectory()) return { kind: "folder" };
    if (!stat.isFile()) return { kind: "other" };
    const [size, mode] = [Number(stat.size), Number(stat.mode)];
    const [uid, gid] = [Number(stat.uid), Number(stat.gid)];
    return { kind: "file", stamp, size, mode: mode & 0o7777, uid, gid };
  } catch {
    // Swapped between the two looks: whatever it is, it is not what was kept.
    return { kind: "other" };
  } finally {
    closeSync(holder.fd);
  }
}

/**
 * Two writes in one tick of the kernel's clock leave the same times: what was written a moment ago gets a stamp that is
 * equal to no other, so that its content is read the next time too.
 */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs, ctimeMs }: BigIntStats): string {
  const young = Date.now() - Number(ctimeMs) < STAMP_TICK_MS;
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}${young ? `:${randomUUID()}` : ""}`;
}

/** The file's bytes and the stamp of just that file; null: no plain file, or longer than is kept. */
export function contentOf(
  rootFd: number,
  path: BytePath,
): { readonly bytes: Buffer; readonly stamp: string } | null {
  const file = openFile(rootFd, path);
  if (file.fd === undefined) return null;
  try {
    const stat = fstatSync(file.fd, { bigint: true });
    if (!stat.isFile()) return null;
    const buffer = Buffer.alloc(PROTECTED_FILE_BYTES_MAX + 1);
    let length = 0;
    for (;;) {
      const read = readSync(file.fd, buffer, length, buffer.length - length, length);
      length += read;
      if (read === 0 || length === buffer.length) break;
    }
    if (length > PROTECTED_FILE_BYTES_MAX) return null;
    return { bytes: Buffer.from(buffer.subarray(0, length)), stamp: stampOf(stat) };
  } finally {
    closeSync(file.fd);
  }
}

export function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

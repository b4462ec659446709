/** Puts what stands at a protected path aside and the kept copy back, whoever swaps what in the meantime. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PUT_BACK_TRIES_MAX } from "../../limits.ts";
import type { BytePath } from "../byte-path.ts";
import { openFolder } from "../safe-open.ts";
import { contentOf, holderOf, stampOf, stateOf } from "./file-state.ts";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Moves whatever stands at `path` into a folder of the daemon's. Returns the name it has there; null: there was nothing,
 * or it could only be removed (another file system, and more than is kept).
 */
export function putAside(
  rootFd: number,
  path: BytePath,
  asideDir: string,
  owner: Owner,
): string | null {
  const holder = holderOf(rootFd, path);
  if (holder === null) return null;
  const name = `${Date.now()}-${randomBytes(4).toString("hex")}`;
  const to = join(asideDir, name);
  try {
    mkdirSync(asideDir, { recursive: true, mode: 0o700 });
    renameSync(holder.at(), to);
    return name;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") return null;
    const bytes = contentOf(rootFd, path)?.bytes ?? null;
    if (bytes !== null) writeFileSync(to, bytes, { mode: 0o600 });
    // As the owner: root would follow nothing either, but need not be asked to remove a tree of somebody else's.
    const last = path.slice(path.lastIndexOf("/") + 1);
    const at = `/proc/${process.pid}/fd/${holder.fd}`;
    spawnSync("rm", ["-rf", "--", `./${Buffer.from(last, "latin1").toString()}`], {
      cwd: at,
      ...owner,
    });
    return bytes === null ? null : name;
  } finally {
    closeSync(holder.fd);
  }
}

/**
 * Writes a file where it was. It is another's folder: what was written under a passing name may be swapped before it gets
 * its own, so it is looked at after and tried again. Returns the stamp of what was written, which nobody but this call can
 * have made; null: somebody was faster each time.
 */
export function putBackFile(
  rootFd: number,
  path: BytePath,
  bytes: Buffer,
  { mode, uid, gid }: Owner & { readonly mode: number },
  asideDir: string,
): string | null {
  for (let tries = 0; tries < PUT_BACK_TRIES_MAX; tries++) {
    if (!makeFolders(rootFd, path, { uid, gid }, asideDir)) continue;
    const holder = holderOf(rootFd, path);
    if (holder === null) continue;
    const passing = `.recinto-${randomBytes(8).toString("hex")}` as BytePath;
    let fd: number | null = null;
    try {
      const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
      fd = openSync(holder.at(passing), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      writeFileSync(fd, bytes);
      renameSync(holder.at(passing), holder.at());
      const stands = lstatSync(holder.at(), { throwIfNoEntry: false });
      const written = fstatSync(fd);
      if (stands?.ino === written.ino && stands.dev === written.dev) {
        fchownSync(fd, uid, gid);
        fchmodSync(fd, mode);
        return stampOf(fstatSync(fd, { bigint: true }));
      }
    } catch {
      // A folder in its place, or a name that was swapped: away with it, and again.
      putAside(rootFd, path, asideDir, { uid, gid });
      remove(holder.at(passing));
    } finally {
      if (fd !== null) closeSync(fd);
      closeSync(holder.fd);
    }
  }
  return null;
}

export function putBackLink(
  rootFd: number,
  path: BytePath,
  target: string,
  owner: Owner,
  asideDir: string,
): string | null {
  if (!makeFolders(rootFd, path, owner, asideDir)) return null;
  const holder = holderOf(rootFd, path);
  if (holder === null) return null;
  try {
    symlinkSync(Buffer.from(target, "latin1"), holder.at());
    const stands = stateOf(rootFd, path);
    return stands.kind === "link" && stands.target === target ? stands.stamp : null;
  } catch {
    return null;
  } finally {
    closeSync(holder.fd);
  }
}

/** Folders on the way that were removed, or have something else in their place. */
function makeFolders(rootFd: number, path: BytePath, owner: Owner, asideDir: string): boolean {
  const parts = path.split("/").slice(0, -1);
  for (let depth = 1; depth <= parts.length; depth++) {
    const folder = parts.slice(0, depth).join("/") as BytePath;
    const there = openFolder(rootFd, folder);
    if (there.fd !== undefined) {
      closeSync(there.fd);
      continue;
    }
    putAside(rootFd, folder, asideDir, owner);
    const holder = holderOf(rootFd, folder);
    if (holder === null) return false;
    try {
      mkdirSync(holder.at(), 0o755);
      const made = openFolderToOwn(rootFd, folder);
      if (made === null) return false;
      fchownSync(made, owner.uid, owner.gid);
      fchmodSync(made, 0o755);
      closeSync(made);
    } catch {
      return false;
    } finally {
      closeSync(holder.fd);
    }
  }
  return true;
}

/** A descriptor that may change its owner: one of O_PATH may not. */
function openFolderToOwn(rootFd: number, folder: BytePath): number | null {
  const there = openFolder(rootFd, folder);
  if (there.fd === undefined) return null;
  try {
    return openSync(`/proc/self/fd/${there.fd}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
  } finally {
    closeSync(there.fd);
  }
}

function remove(path: string | Buffer): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already.
  }
}

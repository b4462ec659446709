/** Checks a folder of the host before it is mounted: no link on the way, and not one that the sandbox itself needs. */
import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { posix } from "node:path";
import { RecintoError } from "../errors.ts";
import { SANDBOX_CACHE, SANDBOX_TMP } from "../settings/sandbox-home.ts";

export interface MountSource {
  readonly path: string;
  /** Where the sandbox has it; absent: at the same path. */
  readonly target?: string;
  readonly uid: number;
  readonly gid: number;
  /** Device and inode: the mounted folder must turn out to be this one. */
  readonly identity: string;
}

/** The image's own folders and the kernel's: nothing is mounted on, above or inside these. */
const SYSTEM = [
  "/bin",
  "/boot",
  "/dev",
  "/etc",
  "/lib",
  "/lib64",
  "/proc",
  "/run/recinto",
  "/sbin",
  "/sys",
];
/** Nothing is mounted on or above these; inside is fine. */
const COVERED = [
  "/home/agent",
  "/opt",
  "/run",
  "/usr",
  "/usr/bin",
  "/usr/lib",
  "/var",
  SANDBOX_TMP,
  SANDBOX_CACHE,
];

/**
 * Every component is looked at without following links, so that a path swapped for a link is refused. What can happen
 * between this look and the mount is caught after the start, by `identity`. Throws `worktree-refused`.
 */
export async function checkMountSource(
  path: string,
  { file = false }: { readonly file?: boolean } = {},
): Promise<MountSource> {
  if (!posix.isAbsolute(path) || posix.normalize(path) !== path || path.endsWith("/")) {
    throw refused(path, "it is not an absolute, normal path", "name the folder by its real path");
  }
  const system = SYSTEM.find((folder) => overlap(path, folder));
  const covered = COVERED.find((folder) => isAtOrBelow(folder, path));
  if (system !== undefined || covered !== undefined) {
    throw refused(
      path,
      `it would hide ${system ?? covered} of the sandbox`,
      "move the project to a folder of its own, such as one below /srv or /home",
    );
  }
  let at = "";
  let last: BigIntStats | null = null;
  for (const name of path.split("/").slice(1)) {
    at += `/${name}`;
    last = await lstat(at, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      throw refused(path, `${at} cannot be looked at (${error.code})`, "check that it exists");
    });
    if (last.isSymbolicLink()) {
      throw refused(path, `${at} is a symbolic link`, "name the folder by its real path");
    }
    if (!last.isDirectory() && !(file && at === path && last.isFile())) {
      throw refused(path, `${at} is not a folder`, "name a folder");
    }
  }
  const { uid, gid, dev, ino } = last as BigIntStats;
  return { path, uid: Number(uid), gid: Number(gid), identity: `${dev}:${ino}` };
}

/** `path` is `folder` or lies in it. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

function overlap(a: string, b: string): boolean {
  return isAtOrBelow(a, b) || isAtOrBelow(b, a);
}

function refused(path: string, why: string, hint: string): RecintoError {
  return new RecintoError("worktree-refused", `${path} is not mounted: ${why}`, { hint });
}

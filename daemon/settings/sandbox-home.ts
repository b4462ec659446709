/** Folders that are the same in every sandbox: the policy judges by them and the sandbox is made with them. */
import type { Profile } from "./types.ts";

/** HOME of every command: a read-only skeleton. */
export const SANDBOX_HOME = "/home/agent";
/** The one folder of the home that can be written. */
export const SANDBOX_CACHE = `${SANDBOX_HOME}/.cache`;
export const SANDBOX_TMP = "/tmp";
/** The same with the caches that a profile names. */
export function scratchFolders({ caches }: Pick<Profile, "caches">): readonly string[] {
  return [...SANDBOX_SCRATCH, ...Object.values(caches).map(cacheTarget)];
}

/** `~/.npm` as the sandbox sees it. */
export function cacheTarget(path: string): string {
  return path.replace(/^~/, SANDBOX_HOME);
}

/** What a command may use as scratch. */
export const SANDBOX_SCRATCH: readonly string[] = [SANDBOX_TMP, SANDBOX_CACHE];

/** What sandboxes are given to trust, in one folder: the daemon's own certificate, and it with the usual public ones. */
export const TRUST_FILES = { own: "recinto.pem", all: "bundle.pem" } as const;

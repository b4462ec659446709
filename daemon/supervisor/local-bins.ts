/** Names of the programs a project has installed for itself: node_modules/.bin, from the cwd up to the worktree. */
import { readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { LOCAL_BIN_FOLDERS_MAX, LOCAL_BINS_MAX } from "../limits.ts";

/** More than the steps of any file system's clock. */
const SETTLED_NS = 2_000_000_000n;

/** Sorted, without repeats; undefined when there are too many to look at, so that nothing is taken for absent. */
export function localBins(worktree: string, cwd: string): readonly string[] | undefined {
  const names = new Set<string>();
  for (const folder of upTo(worktree, cwd)) {
    for (const name of namesIn(join(folder, "node_modules", ".bin"))) names.add(name);
    if (names.size > LOCAL_BINS_MAX) return undefined;
  }
  return [...names].sort();
}

function* upTo(worktree: string, cwd: string): Generator<string> {
  const below = relative(worktree, cwd);
  let folder = below === ".." || below.startsWith("../") ? worktree : cwd;
  for (;;) {
    yield folder;
    if (folder === worktree) return;
    folder = dirname(folder);
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return entries(folder);
  } catch {
    return [];
  }
}

interface Listed {
  readonly tag: string;
  readonly names: readonly string[];
}

/** What a folder held when it was read, as long as it has not changed since. */
const listed = new Map<string, Listed>();

function entries(folder: string): readonly string[] {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return [];
  // Not the time of its last change by name, which anybody may set; this one moves with it.
  const tag = `${stat.dev}:${stat.ino}:${stat.ctimeNs}`;
  const known = listed.get(folder);
  if (known?.tag === tag) return known.names;
  const names = readdirSync(folder);
  listed.delete(folder);
  // Its time moves in steps: what changes it within the same one could not be seen.
  if (BigInt(Date.now()) * 1_000_000n - stat.ctimeNs > SETTLED_NS)
    listed.set(folder, { tag, names });
  for (const oldest of listed.keys()) {
    if (listed.size <= LOCAL_BIN_FOLDERS_MAX) break;
    listed.delete(oldest);
  }
  return names;
}

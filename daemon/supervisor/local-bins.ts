/** Names of the programs a project has installed for itself: node_modules/.bin, from the cwd up to the worktree. */
import { readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { LOCAL_BINS_MAX } from "../limits.ts";

/** Sorted, without repeats; undefined when there are too many to look at, so that nothing is taken for absent. */
export function localBins(worktree: string, cwd: string): readonly string[] | undefined {
  const names = new Set<string>();
  for (const folder of upTo(worktree, cwd)) {
    for (const name of entries(join(folder, "node_modules", ".bin"))) names.add(name);
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

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

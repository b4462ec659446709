/** Paths inside a worktree that the host's git config runs or reads: the owner's git would take them from the agent. */
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { GIT_CONFIG_BYTES_MAX } from "../../limits.ts";
import { executingEntries } from "../git-config.ts";
import { gitLayout } from "../git-dir.ts";
import { openFile, openRoot } from "../safe-open.ts";

/** Relative to the worktree, sorted. `core.hooksPath = .hooks`, `include.path = ../tools/gitconfig`, `./run.sh --clean`. */
export function hostNamedPaths(worktree: string): readonly string[] {
  const layout = gitLayout(worktree);
  if (layout.kind !== "own" && layout.kind !== "linked") return [];
  const found = new Set<string>();
  const configs = [
    [layout.commonDir, "config"],
    [layout.gitDir, "config.worktree"],
  ] as const;
  for (const [folder, name] of configs) {
    for (const { key, value } of executingEntries(readConfig(folder, name))) {
      const base = key.startsWith("include") ? folder : worktree;
      for (const word of value.replace(/^!/, "").split(/[\s'";|&()]+/)) {
        if (word === "" || word.startsWith("-")) continue;
        const path = posix.relative(worktree, posix.resolve(base, word));
        if (path !== "" && !path.startsWith("..") && !/^\.git(\/|$)/.test(path)) found.add(path);
      }
    }
  }
  return [...found].sort();
}

function readConfig(folder: string, name: string): string {
  const root = openRoot(folder);
  if (root.fd === undefined) return "";
  const file = openFile(root.fd, name);
  closeSync(root.fd);
  if (file.fd === undefined) return "";
  try {
    const stat = fstatSync(file.fd);
    return stat.isFile() && stat.size <= GIT_CONFIG_BYTES_MAX ? readFileSync(file.fd, "utf8") : "";
  } finally {
    closeSync(file.fd);
  }
}

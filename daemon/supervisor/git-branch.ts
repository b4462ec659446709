/** Which branch a worktree is on, read from its files: git itself would run what the worktree's config says. */
import { lstatSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import picomatch from "picomatch";
import { GIT_POINTER_BYTES_MAX } from "../limits.ts";
import type { Project } from "../settings/types.ts";
import { readSmallFile } from "./small-file.ts";

/**
 * The branch's name, null when HEAD is detached, undefined when it cannot be told. A worktree's `.git` file is the
 * agent's to write, so a pointer counts only where no agent could have made what it points to: outside every worktree
 * of the project, with git's own pointer back to this one. Links on the way are followed, unlike in worktree/git-dir.ts:
 * what counts here is where it leads.
 */
export function branchOf(
  project: Pick<Project, "root" | "worktrees">,
  worktree: string,
): string | null | undefined {
  const dotGit = join(worktree, ".git");
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isDirectory()) return branchInHead(dotGit);
  const gitDir = linkedGitDir(project, worktree, dotGit);
  return gitDir === null ? undefined : branchInHead(gitDir);
}

function linkedGitDir(
  project: Pick<Project, "root" | "worktrees">,
  worktree: string,
  dotGit: string,
): string | null {
  const pointer = pointed(dotGit, "gitdir: ");
  if (pointer === null) return null;
  try {
    const gitDir = realpathSync(resolve(worktree, pointer));
    if (isWithin(gitDir, realpathSync(worktree)) || inSomeWorktree(project, gitDir)) return null;
    const back = pointed(join(gitDir, "gitdir"), "");
    if (back === null) return null;
    // The pointer back names the `.git` file; its folder must really be this worktree.
    const owner = realpathSync(dirname(isAbsolute(back) ? back : resolve(gitDir, back)));
    return owner === realpathSync(worktree) ? gitDir : null;
  } catch {
    return null;
  }
}

function inSomeWorktree({ root, worktrees }: Pick<Project, "root" | "worktrees">, path: string) {
  const matches = picomatch(worktrees, { dot: true });
  const names = relative(root, path).split("/");
  return names.some((_, last) => matches(names.slice(0, last + 1).join("/")));
}

function pointed(file: string, prefix: string): string | null {
  const text = readSmallFile(file, GIT_POINTER_BYTES_MAX);
  if (text === null || !text.startsWith(prefix)) return null;
  const path = text.slice(prefix.length).replace(/\n$/, "");
  return path === "" || path.includes("\n") || path.includes("\0") ? null : path;
}

/** As `branchOf`, of a git folder: the host's, or one that a sandbox has for itself and may well lie about. */
export function branchInHead(gitDir: string): string | null | undefined {
  const head = readSmallFile(join(gitDir, "HEAD"), GIT_POINTER_BYTES_MAX);
  if (head === null) return undefined;
  const branch = /^ref: refs\/heads\/([^\s\0]+)\n?$/.exec(head)?.[1];
  if (branch !== undefined) return branch;
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?\n?$/.test(head) ? null : undefined;
}

function isWithin(path: string, folder: string): boolean {
  const below = relative(folder, path);
  return below === "" || (below.split("/")[0] !== ".." && !isAbsolute(below));
}

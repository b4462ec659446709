/** Where a worktree's repository is: read from files, git not asked, the worktree not believed. */
import { closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { GIT_POINTER_BYTES_MAX } from "../limits.ts";
import { openFile, openRoot } from "./safe-open.ts";

export type GitLayout =
  | { readonly kind: "none" }
  /** A repository of its own: `.git` is a folder. */
  | { readonly kind: "own"; readonly gitDir: string; readonly commonDir: string }
  /** A linked worktree; `gitDir` is `COMMON/worktrees/ID`. */
  | { readonly kind: "linked"; readonly gitDir: string; readonly commonDir: string }
  /** What `.git` says cannot be relied on: whoever wrote it may not be git. */
  | { readonly kind: "untrusted"; readonly reason: string };

/**
 * `worktree` is absolute and real. The `.git` file of a linked worktree is the agent's to write, so it counts only when
 * what it names lies outside the worktree and names the worktree in turn. No link is followed anywhere.
 */
export function gitLayout(worktree: string): GitLayout {
  const dotGit = join(worktree, ".git");
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return { kind: "none" };
  if (stat.isDirectory()) return { kind: "own", gitDir: dotGit, commonDir: dotGit };
  const pointer = readLine(worktree, ".git", "gitdir: ");
  if (pointer === null) return untrusted(".git is neither a folder nor a pointer of git's");
  const gitDir = resolve(worktree, pointer);
  const commonDir = dirname(dirname(gitDir));
  if (basename(dirname(gitDir)) !== "worktrees") {
    return untrusted(`.git names ${gitDir}, which is not the git folder of a linked worktree`);
  }
  if (isBelow(gitDir, worktree)) {
    return untrusted(`.git names ${gitDir}, where agents can write`);
  }
  const back = readLine(gitDir, "gitdir", "");
  if (back === null || resolve(gitDir, back) !== dotGit) {
    return untrusted(`.git names ${gitDir}, which is not of this worktree: it does not lead back`);
  }
  const common = readLine(gitDir, "commondir", "");
  if (common === null || resolve(gitDir, common) !== commonDir) {
    return untrusted(`.git names ${gitDir}, whose commondir leads elsewhere`);
  }
  return { kind: "linked", gitDir, commonDir };
}

/** The one line of a small file after `prefix`; null when there is anything else in it, or a link on the way. */
function readLine(folder: string, name: string, prefix: string): string | null {
  const root = openRoot(folder);
  if (root.fd === undefined) return null;
  const file = openFile(root.fd, name);
  closeSync(root.fd);
  if (file.fd === undefined) return null;
  try {
    if (!fstatSync(file.fd).isFile()) return null;
    const buffer = Buffer.alloc(GIT_POINTER_BYTES_MAX + 1);
    const length = readSync(file.fd, buffer, 0, buffer.length, 0);
    const text = buffer.toString("utf8", 0, length).replace(/\n$/, "");
    if (length > GIT_POINTER_BYTES_MAX || !text.startsWith(prefix)) return null;
    const line = text.slice(prefix.length);
    return line === "" || /[\n\0]/.test(line) ? null : line;
  } finally {
    closeSync(file.fd);
  }
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function untrusted(reason: string): GitLayout {
  return { kind: "untrusted", reason };
}

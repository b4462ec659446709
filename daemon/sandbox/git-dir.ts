/** Finds the repository behind a worktree without believing what the worktree says about it. */
import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { GIT_POINTER_BYTES_MAX } from "../limits.ts";
import { isAtOrBelow } from "./mount-source.ts";

export type GitRepository = FoundRepository | NoRepository;

export interface FoundRepository {
  readonly commonDir: string;
  /** The worktree's own part of it: `COMMON/worktrees/ID`, or the common dir itself. */
  readonly gitDir: string;
  readonly dotGit: "file" | "folder";
}

/** Git is not offered in the sandbox, and why. */
export interface NoRepository {
  readonly commonDir: null;
  readonly reason: string;
  /** What `.git` is all the same; null: neither, so that nothing can be mounted there. */
  readonly dotGit: "file" | "folder" | null;
}

/**
 * The `.git` file of a linked worktree can be written by the agent, and what it names would be mounted. So the
 * repository has to name the worktree in turn (`worktrees/ID/gitdir`), look like one, and lie outside of everything that
 * agents can write (`writable`: a test for folders of worktrees). Links on the way are checkMountSource's to refuse.
 * worktree/git-dir.ts asks less of the same pointer, to watch and not to mount; neither folder may know the other.
 */
export async function gitRepository(
  worktree: string,
  writable: (folder: string) => boolean = () => false,
): Promise<GitRepository> {
  const pointer = join(worktree, ".git");
  const kind = await lstat(pointer).catch(() => null);
  if (kind === null) return none("the worktree has no .git", null);
  if (kind.isDirectory()) return looksLikeRepository(pointer, pointer, "folder");
  if (!kind.isFile()) return none(".git is neither a file nor a folder", null);

  const gitDir = await readPointer(pointer, /^gitdir: (.+)\n?$/);
  if (gitDir === null) return none(".git does not name a git folder");
  const own = resolve(worktree, gitDir);
  if (basename(dirname(own)) !== "worktrees") {
    return none(`${own} is not the git folder of a linked worktree`);
  }
  const back = await readPointer(join(own, "gitdir"), /^(.+)\n?$/);
  if (back === null || resolve(own, back) !== pointer) {
    return none(`${own} is not of this worktree: its gitdir file does not lead back`);
  }
  const commonDir = dirname(dirname(own));
  if (isAtOrBelow(commonDir, worktree) || writable(commonDir)) {
    return none(`${commonDir} lies in a folder that agents can write`);
  }
  return looksLikeRepository(commonDir, own, "file");
}

/** The profile offers no git. */
export async function noRepository(worktree: string, reason: string): Promise<NoRepository> {
  const kind = await lstat(join(worktree, ".git")).catch(() => null);
  return none(reason, kind?.isFile() ? "file" : kind?.isDirectory() ? "folder" : null);
}

async function looksLikeRepository(
  commonDir: string,
  gitDir: string,
  dotGit: "file" | "folder",
): Promise<GitRepository> {
  const [head, objects, refs] = await Promise.all(
    ["HEAD", "objects", "refs"].map((name) => lstat(join(commonDir, name)).catch(() => null)),
  );
  return head?.isFile() && objects?.isDirectory() && refs?.isDirectory()
    ? { commonDir, gitDir, dotGit }
    : none(`${commonDir} does not look like a git repository`, dotGit);
}

/** Reads a small file that may be hostile: no link, no device, no more than a path's worth. */
async function readPointer(path: string, form: RegExp): Promise<string | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(GIT_POINTER_BYTES_MAX), 0);
    return form.exec(buffer.toString("utf8", 0, bytesRead))?.[1] ?? null;
  } finally {
    await file.close();
  }
}

function none(reason: string, dotGit: NoRepository["dotGit"] = "file"): NoRepository {
  return { commonDir: null, reason, dotGit };
}

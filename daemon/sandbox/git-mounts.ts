/** What of a repository is mounted, by the profile's git mode: nothing that a git on the host reads can be written inside. */
import { join } from "node:path";
import type { Profile } from "../settings/types.ts";
import type { SandboxMount, SandboxTmpfs } from "./engine.ts";
import type { FoundRepository, GitRepository } from "./git-dir.ts";

export interface GitMounts {
  /** Git works inside. */
  readonly offered: boolean;
  readonly mounts: readonly SandboxMount[];
  readonly tmpfs: readonly SandboxTmpfs[];
  /** The sandbox's own git folder, as it sees it; null: the repository is read-only. */
  readonly privateGit: PrivateGitDir | null;
}

/** A git folder that belongs to one sandbox alone. */
export interface PrivateGitDir {
  /** Which one, for whoever keeps them. */
  readonly key: string;
  /** Where it is inside. */
  readonly gitDir: string;
  /** The folder itself, and the host's objects it builds on. */
  readonly mounts: readonly SandboxMount[];
}

export interface PrivateGitRequest {
  /** Stands for the sandbox. */
  readonly key: string;
  readonly project: string;
  readonly worktree: string;
  readonly repository: FoundRepository;
  readonly user: { readonly uid: number; readonly gid: number };
}

/** Makes a sandbox's git folder on first use and finds it again later. */
export interface PrivateGitPort {
  prepare(request: PrivateGitRequest): Promise<PrivateGitDir>;
}

/** Where a sandbox sees the host's objects when their own place is covered by its git folder. */
export const GIT_OBJECTS_DIR = "/run/recinto/git/objects";

/**
 * Mounts of a private git folder. For a linked worktree nothing else of the repository is there, so no config with
 * passwords in it either; for a plain one the folder lies over `.git` itself. `alternates`: other object folders of the
 * host that this repository builds on.
 */
export function privateGitMounts(
  { commonDir, gitDir, dotGit }: FoundRepository,
  folder: string,
  host: { readonly modules: boolean; readonly alternates: readonly string[] },
): readonly SandboxMount[] {
  return [
    { source: folder, target: gitDir, readOnly: false },
    {
      source: join(commonDir, "objects"),
      target: objectsInside(commonDir, dotGit),
      readOnly: true,
    },
    ...(host.modules ? [readOnly(join(gitDir, "modules"))] : []),
    ...host.alternates.map(readOnly),
  ];
}

/** Where the sandbox sees the host's objects. */
export function objectsInside(commonDir: string, dotGit: FoundRepository["dotGit"]): string {
  return dotGit === "file" ? join(commonDir, "objects") : GIT_OBJECTS_DIR;
}

/** Without a port commits cannot be kept: `commit` is then no more than `read`. */
export async function gitMounts(
  mode: Profile["git"],
  git: GitRepository,
  port: PrivateGitPort | undefined,
  {
    outer = [],
    ...request
  }: Omit<PrivateGitRequest, "repository"> & {
    /** Other folders that are mounted read-only, with whatever repository they hold. */
    readonly outer?: readonly string[];
  },
): Promise<GitMounts> {
  const dotGit = join(request.worktree, ".git");
  if (git.commonDir === null) return { offered: false, privateGit: null, ...covered(dotGit, git) };
  const { commonDir } = git;
  const pointer = git.commonDir === dotGit ? [] : [readOnly(dotGit)];
  if (mode === "commit" && port !== undefined) {
    const privateGit = await port.prepare({ ...request, repository: git });
    const mounts = [...privateGit.mounts, ...pointer];
    // The repository's config may hold passwords: where the project is there, its `.git` is not.
    const shown = outer.some((folder) => commonDir.startsWith(`${folder}/`));
    const tmpfs = shown && git.dotGit === "file" ? [emptyFolder(commonDir)] : [];
    return { offered: true, mounts, tmpfs, privateGit };
  }
  const mounts = [readOnly(git.commonDir), ...pointer];
  return { offered: true, mounts, tmpfs: [], privateGit: null };
}

/**
 * Git is not offered, and what a git on the host goes by must not be changed either: a pointer stays as it is, a folder
 * is hidden.
 */
function covered(
  dotGit: string,
  { dotGit: kind }: GitRepository,
): Pick<GitMounts, "mounts" | "tmpfs"> {
  return {
    mounts: kind === "file" ? [readOnly(dotGit)] : [],
    tmpfs: kind === "folder" ? [emptyFolder(dotGit)] : [],
  };
}

function emptyFolder(target: string): SandboxTmpfs {
  return { target, sizeBytes: 4096, exec: false, uid: 0, gid: 0, mode: 0o555 };
}

function readOnly(path: string): SandboxMount {
  return { source: path, target: path, readOnly: true };
}

/** The repository of a project's worktree, and the look at what of it is about to be mounted. */
import { relative } from "node:path";
import picomatch from "picomatch";
import type { Profile, Project } from "../settings/types.ts";
import { type GitRepository, gitRepository, noRepository } from "./git-dir.ts";
import type { GitMounts } from "./git-mounts.ts";
import { checkMountSource, type MountSource } from "./mount-source.ts";

export function checkGitMounts({ mounts }: GitMounts): Promise<readonly MountSource[]> {
  const check = async ({ source, target }: GitMounts["mounts"][number]) => ({
    ...(await checkMountSource(source, { file: true })),
    target,
  });
  return Promise.all(mounts.map(check));
}

export async function repositoryFor(
  project: Pick<Project, "root" | "worktrees">,
  profile: Profile,
  worktree: string,
): Promise<GitRepository> {
  if (profile.git === "none") return noRepository(worktree, "the profile says git: none");
  // What lies in any worktree of the project could have been made by an agent.
  const isWorktree = picomatch(project.worktrees, { dot: true });
  const writable = (folder: string) => {
    const names = relative(project.root, folder).split("/");
    return names.some((_, last) => isWorktree(names.slice(0, last + 1).join("/")));
  };
  return gitRepository(worktree, writable);
}

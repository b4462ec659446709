/** All that a sandbox will be made of, looked up and checked before anything is made. */
import type { Profile, Project } from "../settings/types.ts";
import type { Engine, SandboxSpec } from "./engine.ts";
import type { GitRepository } from "./git-dir.ts";
import { gitMounts, type PrivateGitDir, type PrivateGitPort } from "./git-mounts.ts";
import type { GivenFolders } from "./given-folders.ts";
import { resolveImage } from "./image-ref.ts";
import { checkMountSource, type MountSource } from "./mount-source.ts";
import { type RunnerFolders, sandboxKey, sandboxSpec } from "./spec.ts";
import { checkGitMounts, repositoryFor } from "./worktree-repository.ts";

export interface PlanParts {
  readonly engine: Engine;
  readonly owner: string;
  readonly imagesDir: string;
  readonly privateGit?: PrivateGitPort;
  readonly given?: GivenFolders;
}

export interface SandboxPlan {
  readonly spec: SandboxSpec;
  /** Folders of the host that have to be there inside, those and no others. */
  readonly sources: readonly MountSource[];
  readonly git: GitRepository;
  readonly privateGit: PrivateGitDir | null;
}

/** Errors: worktree-refused, bad-profile, image-missing, engine-unreachable, engine-failed. */
export async function planSandbox(
  parts: PlanParts,
  project: Pick<Project, "id" | "root" | "worktrees">,
  profile: Profile,
  worktree: string,
  runner: RunnerFolders | null,
): Promise<SandboxPlan> {
  const { engine, owner, imagesDir } = parts;
  const source = await checkMountSource(worktree);
  const git = await repositoryFor(project, profile, worktree);
  const user = { uid: source.uid, gid: source.gid };
  const key = sandboxKey({ owner, projectId: project.id, worktree });
  const request = { key, project: project.id, worktree, user };
  const outer = profile.mount === "project" && project.root !== worktree ? [project.root] : [];
  const mounted = await gitMounts(profile.git, git, parts.privateGit, { ...request, outer });
  const besides = [...outer, ...profile.readable].map((path) => checkMountSource(path));
  const image = await resolveImage(engine, profile.image, imagesDir);
  const spec = sandboxSpec({
    owner,
    profile,
    projectId: project.id,
    projectRoot: outer[0] ?? null,
    worktree,
    user,
    imageId: image.id,
    git: mounted,
    given: (await parts.given?.mounts({ ...request, profile })) ?? [],
    runner,
  });
  return {
    spec,
    sources: [source, ...(await Promise.all(besides)), ...(await checkGitMounts(mounted))],
    git,
    privateGit: mounted.privateGit,
  };
}

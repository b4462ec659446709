/** Gives sandboxes their private git dirs: what worktree/ makes, in the words of mounts. */
import { objectsInside, type PrivateGitPort, privateGitMounts } from "../sandbox/git-mounts.ts";
import type { PrivateGits } from "../worktree/private-git/private-gits.ts";

export function privateGitPort(gits: PrivateGits): PrivateGitPort {
  return {
    async prepare({ repository, ...request }) {
      const { commonDir, gitDir, dotGit } = repository;
      const made = await gits.prepare({
        ...request,
        repository: { commonDir, gitDir },
        objectsInside: objectsInside(commonDir, dotGit),
      });
      return { key: made.key, gitDir, mounts: privateGitMounts(repository, made.folder, made) };
    },
  };
}

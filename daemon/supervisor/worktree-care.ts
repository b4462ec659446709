/** What looks after worktrees while agents work in them, tied together: watchers, protected files, git of their own. */
import { join } from "node:path";
import type { Journal } from "../journal/types.ts";
import { type Escort, together } from "./escort.ts";
import { GitDesk } from "./git-desk.ts";
import type { SupervisorDeps } from "./ports.ts";
import { ProtectedDesk } from "./protected-desk.ts";
import { WatchBook } from "./watch-book.ts";

export interface WorktreeCare {
  readonly git: GitDesk;
  readonly watches: WatchBook;
  /** Goes with every command: git first, so that what it brings to the host counts when files are compared. */
  readonly escort: Escort;
  /** Of the protected files alone, for changes that the daemon itself makes. */
  readonly protection: Escort;
  close(): Promise<void>;
}

/** `project` throws `unknown-project`. */
export function careForWorktrees(
  deps: SupervisorDeps,
  journal: Journal,
  project: (id: string) => unknown,
): WorktreeCare {
  const git = new GitDesk({ ...deps, journal, project });
  const files = new ProtectedDesk({
    journal,
    log: deps.log,
    folder: join(deps.config.stateDir, "protected"),
    settled: (...worktree) => watches.settled(...worktree),
    fromGit: (...changed) => git.fromOthers(...changed),
  });
  const watches = new WatchBook({
    ...deps,
    journal,
    onWatch: (...watched) => files.open(...watched),
    onEntry: (...entry) => files.onEntry(...entry),
  });
  return {
    git,
    watches,
    escort: together([git, files]),
    protection: files,
    async close() {
      files.close();
      await watches.close();
    },
  };
}

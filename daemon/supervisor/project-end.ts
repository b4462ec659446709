/** The end of a project: everything that belongs to it goes, its files stay. */
import type { Project } from "../settings/types.ts";
import type { SandboxPort, SupervisorDeps } from "./ports.ts";
import type { SessionDesk } from "./session-desk.ts";
import type { Sessions } from "./sessions.ts";
import type { WatchBook } from "./watch-book.ts";

export interface ProjectParts {
  readonly deps: Pick<SupervisorDeps, "gits" | "log">;
  readonly sessions: Sessions;
  readonly desk: SessionDesk;
  readonly watches: WatchBook;
  readonly sandboxes: SandboxPort;
}

/** Never rejects: what cannot be cleared is logged, and the rest is. */
export async function endProject(project: Project, parts: ProjectParts): Promise<void> {
  const { deps, sessions, desk, watches, sandboxes } = parts;
  const { id } = project;
  const own = sessions.all().filter((session) => session.project === id);
  const ends = [
    ...own.map((session) => desk.close(session, null, "its project was removed")),
    watches.closeProject(id),
    sandboxes.removeProject(id).then(() => deps.gits.removeProject(id)),
  ];
  for (const result of await Promise.allSettled(ends)) {
    if (result.status === "fulfilled") continue;
    deps.log.warn({ project: id, error: result.reason }, "cannot clear a project");
  }
}

/** What in the worktrees could hurt the host, as callers see it, and a person's consent to single links. */
import { RecintoError } from "../errors.ts";
import type { Journal } from "../journal/types.ts";
import type { Registry } from "../settings/registry.ts";
import type { Project } from "../settings/types.ts";
import { HazardConsents } from "./hazard-consents.ts";
import { refuseAgentAsApprover, requireAdmin } from "./identity.ts";
import type { SupervisorDeps } from "./ports.ts";
import { requireProject } from "./project-desk.ts";
import type { Sessions } from "./sessions.ts";
import type { HazardCalls, SeenHazard, WorktreeHazards } from "./supervisor-interface.ts";
import type { Caller } from "./types.ts";
import type { WatchBook } from "./watch-book.ts";

export interface HazardDeskParts
  extends Pick<SupervisorDeps, "adminWall" | "config" | "log" | "now"> {
  readonly journal: Journal;
  readonly registry: Registry;
  readonly sessions: Sessions;
  readonly watches: WatchBook;
  readonly agentUids: (project: Project) => ReadonlySet<number>;
}

export class HazardDesk implements HazardCalls {
  readonly #parts: HazardDeskParts;
  readonly consents: HazardConsents;

  constructor(parts: HazardDeskParts) {
    this.#parts = parts;
    this.consents = new HazardConsents(parts.config.stateDir, parts.log);
  }

  list(caller: Caller, project?: string): readonly WorktreeHazards[] {
    const { registry, sessions, watches } = this.#parts;
    if (project !== undefined && caller.socket.kind === "admin") requireProject(registry, project);
    const visible = sessions.visibleTo(caller);
    const own = new Set(visible.map((session) => `${session.project} ${session.worktree}`));
    return watches
      .report(project)
      .filter(
        (each) => caller.socket.kind === "admin" || own.has(`${each.project} ${each.worktree}`),
      )
      .map((each) => {
        const acceptedAt = this.consents.acceptedAt(each.project);
        const hazards = each.hazards.map((hazard): SeenHazard => {
          const at = hazard.kind === "escaping-link" ? acceptedAt(hazard) : null;
          return at === null ? hazard : { ...hazard, acceptedAt: at };
        });
        return { ...each, hazards };
      });
  }

  accept(caller: Caller, id: string): SeenHazard {
    requireAdmin(caller);
    const { adminWall, agentUids, journal, now, registry, watches } = this.#parts;
    // Worktrees of two projects may hold one another: the link is the same and so is what it asks for.
    const found = watches
      .report()
      .flatMap(({ project, worktree, hazards }) =>
        hazards
          .filter((hazard) => hazard.id === id)
          .map((hazard) => ({ project, worktree, hazard })),
      );
    const [first] = found;
    if (first === undefined) throw unknown(id);
    const { hazard } = first;
    if (hazard.kind !== "escaping-link") {
      throw new RecintoError("bad-request", `${hazard.path} is no link: ${hazard.reason}`, {
        hint: "only links that leave the project are accepted; remove the thing itself",
      });
    }
    const at = now();
    const { path, target = "", resolved = null } = hazard;
    for (const { project } of found) {
      refuseAgentAsApprover(caller, agentUids(registry.project(project)), adminWall());
    }
    for (const { project, worktree } of found) {
      const data = { worktree, id, path, target, resolved };
      journal.append({ event: "hazard.accepted", project, uid: caller.uid, data });
      const acceptedAt = new Date(at).toISOString();
      const acceptedBy = caller.uid;
      this.consents.add(project, { id, path, target, resolved, acceptedAt, acceptedBy });
    }
    return { ...hazard, acceptedAt: at };
  }

  forget(caller: Caller, id: string): void {
    requireAdmin(caller);
    const { journal, registry } = this.#parts;
    const holders = registry.projects().filter((project) => this.consents.has(project.id, id));
    if (holders.length === 0) throw unknown(id);
    for (const { id: project } of holders) {
      journal.append({ event: "hazard.forgotten", project, uid: caller.uid, data: { id } });
      this.consents.remove(project, id);
    }
  }
}

function unknown(id: string): RecintoError {
  return new RecintoError("not-found", `no hazard ${JSON.stringify(id)}`, {
    hint: "recinto hazards lists them, with their ids",
  });
}

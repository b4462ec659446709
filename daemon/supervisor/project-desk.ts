/** Projects as callers see and admins change them, and every change of settings on record. */

import { RecintoError } from "../errors.ts";
import type { EntryQuery, Journal, NewEntry } from "../journal/types.ts";
import type { Registry, RegistryEvent } from "../settings/registry.ts";
import type { Project } from "../settings/types.ts";
import type { Log, SupervisorDeps } from "./ports.ts";
import { mayLookAt } from "./roles.ts";
import type { Caller } from "./types.ts";

type Listener = (projects: readonly Project[]) => void;

export interface ProjectDeskOptions {
  readonly open: SupervisorDeps["openRegistry"];
  readonly journal: Journal;
  readonly log: Log;
  /** Ends everything that belongs to a project that is no more; never rejects. */
  readonly clear: (project: Project) => Promise<void>;
}

export class ProjectDesk {
  readonly registry: Registry;
  readonly #options: ProjectDeskOptions;
  readonly #listeners = new Set<Listener>();
  readonly #clearing = new Map<string, Promise<void>>();
  /** Who is changing the projects right now; null: somebody with an editor. */
  #changedBy: number | null = null;

  constructor(options: ProjectDeskOptions) {
    this.#options = options;
    this.registry = options.open((event) => this.#on(event));
  }

  /** Admin: all. Agent: the project of its socket. */
  visible(caller: Caller): readonly Project[] {
    const { socket } = caller;
    const own = socket.kind === "agent" ? socket.project : null;
    return this.registry.projects().filter(({ id }) => id === own || mayLookAt(caller, id));
  }

  /** Throws `unknown-project`, also for one that is there and not the caller's. */
  one(caller: Caller, id: string): Project {
    const found = this.visible(caller).find((project) => project.id === id);
    if (found !== undefined) return found;
    throw unknownProject(id, this.visible(caller));
  }

  /** An admin's query of the journal, which also knows projects that are gone. Throws `unknown-project`. */
  onRecord(query: EntryQuery): EntryQuery {
    const { project } = query;
    if (project === undefined || this.#options.journal.read({ project, limit: 1 }).length > 0) {
      return query;
    }
    requireProject(this.registry, project);
    return query;
  }

  add(project: Project, uid: number): Project {
    return this.#as(uid, () => this.registry.addProject(project));
  }

  /** Resolves once its sessions, watchers and sandboxes are gone. */
  async remove(id: string, uid: number): Promise<void> {
    this.#as(uid, () => this.registry.removeProject(id));
    await this.#clearing.get(id);
  }

  /** Calls at once and after each change. */
  subscribe(listener: Listener): () => void {
    const own: Listener = (projects) => listener(projects);
    this.#listeners.add(own);
    own(this.registry.projects());
    return () => this.#listeners.delete(own);
  }

  #as<T>(uid: number, change: () => T): T {
    this.#changedBy = uid;
    try {
      return change();
    } finally {
      this.#changedBy = null;
    }
  }

  #on(event: RegistryEvent): void {
    const { journal, log } = this.#options;
    if (event.type === "problem") {
      const { file, error, kept } = event;
      log.error({ file, error, kept }, "settings cannot be used");
    } else log.info(event, event.type);
    if (event.type === "project-removed") this.#clear(event.project);
    const entry = entryOf(event, this.#changedBy);
    try {
      if (entry !== null) journal.append(entry);
    } catch (error) {
      // The settings hold already; the next append tells whoever runs something.
      log.error({ error }, "a change of settings could not be recorded");
    }
    if (!event.type.startsWith("project-")) return;
    for (const listener of this.#listeners) listener(this.registry.projects());
  }

  #clear(project: Project): void {
    const done = this.#options.clear(project).finally(() => this.#clearing.delete(project.id));
    this.#clearing.set(project.id, done);
  }
}

/** For an admin who names a project. Throws `unknown-project` with those that there are. */
export function requireProject(registry: Registry, id: string): void {
  const all = registry.projects();
  if (!all.some((project) => project.id === id)) throw unknownProject(id, all);
}

/** `there`: those that the caller may know of. */
function unknownProject(id: string, there: readonly Project[]): RecintoError {
  return new RecintoError("unknown-project", `no project ${JSON.stringify(id)}`, {
    hint:
      there.length === 0 ? "there are none" : `there are: ${there.map((one) => one.id).join(", ")}`,
  });
}

function entryOf(event: RegistryEvent, uid: number | null): NewEntry | null {
  switch (event.type) {
    case "project-added":
    case "project-changed": {
      const { id: project, ...data } = event.project;
      const changed = event.type === "project-changed";
      return { event: "project.added", project, uid, data: { ...data, changed } };
    }
    case "project-removed": {
      const { id: project, root } = event.project;
      return { event: "project.removed", project, uid, data: { root } };
    }
    case "rules-reloaded":
      return { event: "rules.reloaded", uid, data: { files: event.files } };
    case "problem": {
      const { file, error, kept } = event;
      const { code, message, hint } = error;
      return { event: "settings.refused", uid, data: { file, code, message, hint, kept } };
    }
    case "profiles-reloaded":
      return { event: "profiles.reloaded", uid, data: { profiles: event.profiles } };
    default:
      return null;
  }
}

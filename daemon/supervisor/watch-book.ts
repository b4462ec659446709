/** One watcher per worktree that is used, and the hazards they report, on record. */
import { RecintoError } from "../errors.ts";
import type { Journal, NewEntry } from "../journal/types.ts";
import { HAZARD_FLUSH_MAX, HAZARD_FLUSH_MS, WATCHER_READY_WAIT_MS } from "../limits.ts";
import type { Profile, Project } from "../settings/types.ts";
import type { BytePath } from "../worktree/byte-path.ts";
import type { Hazard, WorktreeWatcher } from "../worktree/types.ts";
import type { Log, SupervisorDeps } from "./ports.ts";
import type { WorktreeHazards } from "./supervisor-interface.ts";

interface Watched {
  readonly project: string;
  readonly worktree: string;
  /** Scope roots and protected names it was started with: other ones need another watcher. */
  readonly looksFor: string;
  readonly watcher: WorktreeWatcher;
}

export interface WatchBookDeps extends Pick<SupervisorDeps, "watch" | "now"> {
  readonly journal: Journal;
  readonly log: Log;
  /** Before a worktree is watched. */
  readonly onWatch: (project: Project, profile: Profile, worktree: string) => void;
  /** Every entry of a worktree as it is seen. */
  readonly onEntry: (worktree: string, path: BytePath, name: BytePath) => void;
}

export class WatchBook {
  readonly #deps: WatchBookDeps;
  readonly #watched = new Map<string, Watched>();
  #toRecord: NewEntry[] = [];
  #flush: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(deps: WatchBookDeps) {
    this.#deps = deps;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Hazards of a worktree once it was walked; its watcher is started when there is none. Throws `worktree-refused`,
   * and `busy` when the walk takes longer than WATCHER_READY_WAIT_MS: links that nobody has seen are not judged.
   */
  async hazardsIn(
    project: Project,
    profile: Profile,
    worktree: string,
  ): Promise<readonly Hazard[]> {
    const { watcher } = this.ensure(project, profile, worktree);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(() => resolve("late"), WATCHER_READY_WAIT_MS);
    });
    const first = await Promise.race([watcher.ready, late]);
    clearTimeout(timer);
    if (first === "late") {
      throw new RecintoError("busy", `${worktree} is still being walked for links that leave it`);
    }
    return watcher.hazards();
  }

  ensure(project: Project, profile: Profile, worktree: string): Watched {
    const key = JSON.stringify([project.id, worktree]);
    const roots = [...new Set([project.root, worktree, ...profile.readable])];
    const looksFor = JSON.stringify([roots, profile.policy.protectedFiles]);
    const before = this.#watched.get(key);
    if (before?.looksFor === looksFor) return before;
    this.#deps.onWatch(project, profile, worktree);
    const entry = (event: NewEntry["event"], data: object): NewEntry => ({
      event,
      project: project.id,
      data: { worktree, ...data },
    });
    const watcher = this.#deps.watch({
      worktree,
      roots,
      now: this.#deps.now,
      onFound: (hazard) => this.#record(entry("hazard.found", { hazard })),
      onGone: (hazard) => this.#record(entry("hazard.gone", { hazard })),
      onEntry: (path, name) => this.#deps.onEntry(worktree, path, name),
      onDegraded: (reason) => this.#record(entry("watcher.degraded", { reason })),
    });
    const watched = {
      project: project.id,
      worktree,
      looksFor,
      watcher,
    };
    this.#watched.set(key, watched);
    if (before !== undefined) this.#close(before);
    // Whoever waits for it is told; here it must only not count as unhandled.
    watcher.ready.catch((error) => this.#deps.log.warn({ worktree, error }, "watcher failed"));
    return watched;
  }

  /** Resolves when what happened in the worktree so far was looked at; at once where nobody watches. */
  async settled(project: string, worktree: string): Promise<void> {
    const watched = this.#watched.get(JSON.stringify([project, worktree]));
    await watched?.watcher.ready;
    await watched?.watcher.settled();
  }

  report(project?: string): readonly WorktreeHazards[] {
    return [...this.#watched.values()]
      .filter((watched) => project === undefined || watched.project === project)
      .map(({ project, worktree, watcher }) => ({
        project,
        worktree,
        watcher: watcher.status(),
        hazards: watcher.hazards(),
      }));
  }

  async closeProject(project: string): Promise<void> {
    const own = [...this.#watched].filter(([, watched]) => watched.project === project);
    for (const [key] of own) this.#watched.delete(key);
    await Promise.all(own.map(([, { watcher }]) => watcher.close()));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#watched.values()];
    this.#watched.clear();
    await Promise.all(all.map(({ watcher }) => watcher.close()));
    this.#write();
  }

  #close({ watcher, worktree }: Watched): void {
    watcher
      .close()
      .catch((error) => this.#deps.log.warn({ worktree, error }, "cannot close a watcher"));
  }

  #record(entry: NewEntry): void {
    this.#toRecord.push(entry);
    this.#flush ??= setTimeout(() => this.#write(), HAZARD_FLUSH_MS);
  }

  #write(): void {
    if (this.#flush !== null) clearTimeout(this.#flush);
    this.#flush = null;
    const entries = this.#toRecord.splice(0);
    const [first] = entries;
    if (first === undefined) return;
    const over = entries.splice(HAZARD_FLUSH_MAX).length;
    if (over > 0) entries.push({ event: "hazard.found", data: { notListed: over } });
    try {
      this.#deps.journal.appendAll(entries);
    } catch (error) {
      this.#deps.log.error({ error, entries: entries.length }, "hazards could not be recorded");
    }
  }
}

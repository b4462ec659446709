/** Watchers for every worktree that projects declare, from the start on and not only while somebody works there. */
import { checkMountSource } from "../sandbox/mount-source.ts";
import type { Registry } from "../settings/registry.ts";
import type { Project } from "../settings/types.ts";
import type { Log } from "./ports.ts";
import type { WatchBook } from "./watch-book.ts";

export interface DeclaredWatchesParts {
  readonly registry: Registry;
  readonly watches: WatchBook;
  readonly log: Log;
}

export class DeclaredWatches {
  readonly #parts: DeclaredWatchesParts;
  #last: Promise<void> = Promise.resolve();

  constructor(parts: DeclaredWatchesParts) {
    this.#parts = parts;
  }

  /** One worktree is walked after another, so that a start with many of them leaves the machine to others. */
  follow(projects: readonly Project[]): void {
    this.#last = this.#last.then(async () => {
      for (const { id } of projects) await this.#project(id);
    });
  }

  async #project(id: string): Promise<void> {
    const { registry } = this.#parts;
    // It may have been removed or changed while others were walked.
    const current = () => registry.projects().find((each) => each.id === id);
    const project = current();
    if (project === undefined) return;
    try {
      for (const worktree of registry.listWorktrees(project)) {
        if (current() === project) await this.#worktree(project, worktree);
      }
    } catch (error) {
      this.#parts.log.warn({ project: id, error }, "worktrees are not watched yet");
    }
  }

  async #worktree(project: Project, worktree: string): Promise<void> {
    const { log, registry, watches } = this.#parts;
    try {
      // Nothing runs in a worktree of root's, so nothing changes in it either.
      if ((await checkMountSource(worktree)).uid === 0) return;
      if (watches.closed || !registry.projects().includes(project)) return;
      await watches.ensure(project, registry.profile(project.profile), worktree).watcher.ready;
    } catch (error) {
      log.warn({ worktree, error }, "a worktree is not watched yet");
    }
  }
}

/** Denial counters by project, worktree and user: a new session or a restart of the daemon resets none of them (B2). */
import type { Journal, NewEntry } from "../journal/types.ts";
import { NO_DENIALS, recordApproval, recordRefusal } from "../policy/denials.ts";
import type { DenialState, Rung, Verdict } from "../policy/types.ts";
import type { DenialKey } from "./supervisor-interface.ts";

/** Whose counters; a session has these three. */
export type Counted = Required<DenialKey>;

/** A change that is to be journalled, and counts once it was. */
export interface DenialChange {
  readonly entries: readonly NewEntry[];
  commit(): void;
}

const NOTHING: DenialChange = { entries: [], commit() {} };

const UNCOUNTED: ReadonlySet<Rung> = new Set<Rung>(["denials", "stale-authority"]);

export class DenialBook {
  readonly #states = new Map<string, { readonly key: Counted; readonly state: DenialState }>();

  /** Reads the counters back from the journal, which holds every change of them. */
  static restore(journal: Journal): DenialBook {
    const book = new DenialBook();
    for (const { data } of journal.standing("denials")) {
      const { project, worktree, uid, state } = data as unknown as Counted & { state: DenialState };
      book.#set({ project, worktree, uid }, state);
    }
    return book;
  }

  state(key: Counted): DenialState {
    return this.#states.get(idOf(key))?.state ?? NO_DENIALS;
  }

  /**
   * A person or the policy refused. A refusal for having been refused too often does not count again, and acting on an
   * interface that is gone is no pushing against the policy.
   */
  refused(key: Counted, verdict: Verdict): DenialChange {
    const denied = verdict.segments.filter((segment) => segment.verdict === "deny");
    if (denied.length > 0 && denied.every(({ rung }) => UNCOUNTED.has(rung))) return NOTHING;
    return this.#change("denials.changed", key, recordRefusal(this.state(key), verdict));
  }

  /** A person approved: the rows of these classes begin again. */
  approved(key: Counted, verdict: Verdict): DenialChange {
    const before = this.state(key);
    const after = recordApproval(before, verdict);
    const rows = (state: DenialState) => Object.keys(state.consecutive).length;
    return rows(before) === rows(after) ? NOTHING : this.#change("denials.changed", key, after);
  }

  /** The counters of everyone the key covers; `uid` is who resets them. */
  reset(key: DenialKey, uid: number): DenialChange & { readonly count: number } {
    const changes = [...this.#states.values()]
      .map((counted) => counted.key)
      .filter(
        (counted) =>
          counted.project === key.project &&
          (key.worktree === undefined || counted.worktree === key.worktree) &&
          (key.uid === undefined || counted.uid === key.uid),
      )
      .map((counted) => this.#change("denials.reset", counted, NO_DENIALS, uid));
    return {
      count: changes.length,
      entries: changes.flatMap((change) => change.entries),
      commit: () => changes.forEach((change) => void change.commit()),
    };
  }

  #change(
    event: "denials.changed" | "denials.reset",
    key: Counted,
    state: DenialState,
    uid: number | null = null,
  ): DenialChange {
    // The key alone: a session, which is one, must not be kept alive by its counters.
    const own = { project: key.project, worktree: key.worktree, uid: key.uid };
    return {
      entries: [{ event, project: own.project, uid, data: { ...own, state } }],
      commit: () => this.#set(own, state),
    };
  }

  #set(key: Counted, state: DenialState): void {
    if (state.total === 0 && Object.keys(state.consecutive).length === 0) {
      this.#states.delete(idOf(key));
    } else {
      this.#states.set(idOf(key), { key, state });
    }
  }
}

function idOf({ project, worktree, uid }: Counted): string {
  return JSON.stringify([project, worktree, uid]);
}

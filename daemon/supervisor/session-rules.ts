/** Rules of a session (B1): given from the admin side for whoever works on a worktree, kept over restart and new session. */
import type { Journal, NewEntry } from "../journal/types.ts";
import type { Rule } from "../policy/types.ts";

export interface SessionRules {
  readonly project: string;
  readonly worktree: string;
  /** null: whichever user works there. */
  readonly forUid: number | null;
  readonly rules: readonly Rule[];
  readonly merge: boolean;
  /** Unix milliseconds; null: until they are taken back. */
  readonly expiresAt: number | null;
}

/** Whose rules. */
export interface SessionRulesKey {
  readonly project: string;
  readonly worktree: string;
  readonly uid: number;
}

export class SessionRuleBook {
  readonly #given = new Map<string, SessionRules>();
  readonly #now: () => number;

  private constructor(now: () => number) {
    this.#now = now;
  }

  /** Reads them back from the journal, which holds every giving and taking back. */
  static restore(journal: Journal, now: () => number): SessionRuleBook {
    const book = new SessionRuleBook(now);
    for (const { data } of journal.standing("session-rules")) {
      book.#set(data as unknown as SessionRules);
    }
    return book;
  }

  /** What holds for a session: given for its user, and for anybody on its worktree. */
  of({ project, worktree, uid }: SessionRulesKey): readonly SessionRules[] {
    return [uid, null].flatMap((forUid) => {
      const given = this.#given.get(idOf({ project, worktree, forUid }));
      return given === undefined || this.#over(given) ? [] : [given];
    });
  }

  inProject(project: string): readonly SessionRules[] {
    return [...this.#given.values()].filter((one) => one.project === project && !this.#over(one));
  }

  /** Replaces what was given before; no rules takes them back. Counts once `commit` is called, after it is on record. */
  give(given: SessionRules, by: number): { readonly entry: NewEntry; commit(): void } {
    return {
      entry: { event: "session.rules", project: given.project, uid: by, data: { ...given } },
      commit: () => this.#set(given),
    };
  }

  #over({ expiresAt }: SessionRules): boolean {
    return expiresAt !== null && expiresAt <= this.#now();
  }

  #set(given: SessionRules): void {
    // An empty file with `merge: false` still says something: that no lower source holds.
    if (given.rules.length === 0 && given.merge) this.#given.delete(idOf(given));
    else this.#given.set(idOf(given), given);
  }
}

function idOf({
  project,
  worktree,
  forUid,
}: Pick<SessionRules, "project" | "worktree" | "forUid">) {
  return JSON.stringify([project, worktree, forUid]);
}

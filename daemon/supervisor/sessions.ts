/** The live sessions: one per sandbox, opened and found by who calls, ended when nothing uses them. */

import { RecintoError } from "../errors.ts";
import { RUNS_PER_SESSION_MAX, SESSION_IDLE_MAX_MS, SESSIONS_MAX } from "../limits.ts";
import type { KeptSession } from "./recovery.ts";
import { mayLookAt } from "./roles.ts";
import type { Caller } from "./types.ts";

export interface Session {
  readonly id: string;
  readonly project: string;
  /** Absolute, without a link on the way. */
  readonly worktree: string;
  readonly uid: number;
  readonly gid: number;
  readonly openedAt: number;
  lastUsedAt: number;
  /** Its commands, from being judged to being recorded: each resolves when it is over. */
  readonly work: Set<Promise<void>>;
  /** What its ended commands left running: each resolves when nothing of it is left. */
  readonly background: Set<Promise<void>>;
  /** Aborted, with the error for those who wait, when the session is closed. */
  readonly closed: AbortController;
}

export interface SessionsOptions {
  readonly now: () => number;
  readonly newId: () => string;
}

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #live = new Map<string, Session>();
  /** Every user that ever had a session, by project: none of them approves, also after closing it. */
  readonly #agentUids = new Map<string, Set<number>>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** The caller's live session on this worktree, if it has one. Throws `session-busy` when another user has one. */
  existing(caller: Caller, project: string, worktree: string): Session | null {
    const live = this.#on(project, worktree);
    if (live === undefined) return null;
    if (live.uid === caller.uid) return live;
    throw new RecintoError(
      "session-busy",
      `uid ${live.uid} has a live session on ${worktree} since ${new Date(live.openedAt).toISOString()}`,
    );
  }

  /** A new session, not yet live: `add` makes it so once it is recorded. */
  create(caller: Caller, project: string, worktree: string): Session {
    if (this.#live.size >= SESSIONS_MAX) {
      throw new RecintoError("busy", `${SESSIONS_MAX} sessions are open`, {
        hint: "close one that is not used any more",
      });
    }
    const { uid, gid } = caller;
    const openedAt = this.#options.now();
    return this.#fresh({ id: this.#options.newId(), project, worktree, uid, gid, openedAt });
  }

  /** Those of a former daemon go on as they were; that nothing uses them counts from now. */
  restore(kept: readonly KeptSession[]): void {
    for (const session of kept) this.add(this.#fresh(session));
  }

  #fresh(kept: KeptSession): Session {
    const lastUsedAt = this.#options.now();
    const closed = new AbortController();
    return { ...kept, lastUsedAt, work: new Set(), background: new Set(), closed };
  }

  add(session: Session): void {
    this.#live.set(session.id, session);
    const uids = this.#agentUids.get(session.project) ?? new Set();
    this.#agentUids.set(session.project, uids.add(session.uid));
  }

  /**
   * The session, for its owner (agent over its project's socket) or an admin who looks. Throws `unknown-session` for
   * anything else, so that an id tells nobody that it exists.
   */
  visible(caller: Caller, id: string): Session {
    const session = this.#live.get(id);
    if (session !== undefined && (mayLookAt(caller, session.project) || owns(caller, session))) {
      return session;
    }
    throw new RecintoError("unknown-session", `no session ${JSON.stringify(id)} of yours`);
  }

  /** The session, for its owner alone: an admin answers and looks, but does not act as the agent. */
  owned(caller: Caller, id: string): Session {
    const session = this.visible(caller, id);
    if (owns(caller, session)) return session;
    throw new RecintoError("not-permitted", `session ${id} belongs to uid ${session.uid}`, {
      hint: "open a session of your own",
    });
  }

  visibleTo(caller: Caller): readonly Session[] {
    return this.all().filter(
      (session) => mayLookAt(caller, session.project) || owns(caller, session),
    );
  }

  all(): readonly Session[] {
    return [...this.#live.values()];
  }

  /** Sessions that nothing used for SESSION_IDLE_MAX_MS. */
  idle(): readonly Session[] {
    const since = this.#options.now() - SESSION_IDLE_MAX_MS;
    return this.all().filter((session) => session.work.size === 0 && session.lastUsedAt < since);
  }

  /** Counts work of a session; returns how to say that it is over. Throws `busy` over RUNS_PER_SESSION_MAX. */
  begin(session: Session): () => void {
    if (session.work.size >= RUNS_PER_SESSION_MAX) {
      throw new RecintoError(
        "busy",
        `session ${session.id} has ${session.work.size} commands at once`,
      );
    }
    let over = () => {};
    const work = new Promise<void>((resolve) => {
      over = resolve;
    });
    session.work.add(work);
    return () => {
      session.work.delete(work);
      session.lastUsedAt = this.#options.now();
      over();
    };
  }

  /** It is not live any more; what it waits for and runs is given up with `reason`. */
  remove(session: Session, reason: RecintoError): void {
    this.#live.delete(session.id);
    session.closed.abort(reason);
  }

  agentUids(project: string): ReadonlySet<number> {
    return this.#agentUids.get(project) ?? new Set();
  }

  #on(project: string, worktree: string): Session | undefined {
    return this.all().find((live) => live.project === project && live.worktree === worktree);
  }
}

function owns(caller: Caller, session: Session): boolean {
  const { socket } = caller;
  return (
    session.uid === caller.uid && (socket.kind === "admin" || socket.project === session.project)
  );
}

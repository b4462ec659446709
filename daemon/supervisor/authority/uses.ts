/** What runs on grants right now: begun under the ledger's check, killed when a grant closes, and over before it is closed. */
import type { CloseCause, LedgerState, Step } from "../../authority/ledger-types.ts";
import { RecintoError } from "../../errors.ts";
import type { ExecProcess } from "../../sandbox/engine.ts";
import type { Session } from "../sessions.ts";
import type { Rests } from "./binding.ts";
import type { HeldLedger, LedgerBook, LedgerKey } from "./ledger-book.ts";

/** One command or file operation that rests on grants. */
export interface Use {
  /** Aborts when one of them closes. */
  readonly signal: AbortSignal;
  /** What closed it, once it does. */
  readonly cause: CloseCause | null;
  /** Whether every grant it rests on lives at this moment. */
  live(): boolean;
  /** What it started: killed at once when a grant closes, also when that was before this call. */
  attach(process: Pick<ExecProcess, "kill">): void;
  /** Called when a grant closes, before anything else is waited for. */
  onClosing(cut: (reason: string) => void): void;
  /** Nothing of it is left. More than once does nothing. */
  finish(): void;
}

export interface RefusedUse {
  readonly refused: string;
  readonly instead?: string;
}

interface Running {
  readonly key: LedgerKey;
  readonly kill: (cause: CloseCause) => void;
}

export class Uses {
  readonly #book: LedgerBook;
  readonly #onError: (error: unknown) => void;
  readonly #running = new Map<string, Running>();

  constructor(book: LedgerBook, onError: (error: unknown) => void) {
    this.#book = book;
    this.#onError = onError;
    book.subscribe((ledger, step) => this.#after(ledger, step));
  }

  /**
   * The check under the lock (C4): what it lets begin is to be started in the same turn, and `signal` looked at before.
   * `rests` without handles begins nothing: null, unless another contract is in force than it was judged under.
   */
  begin(
    session: Pick<Session, "id" | "project" | "uid" | "worktree">,
    rests: Pick<Rests, "handles" | "epoch" | "contract">,
    invocation: string,
  ): Use | RefusedUse | null {
    const { handles, epoch } = rests;
    const { project, worktree, uid, id } = session;
    const key = { project, worktree };
    if ((this.#book.get(key)?.state.contract ?? null) !== rests.contract) {
      return { refused: "its contract was replaced after it was judged", instead: "send it again" };
    }
    if (handles.length === 0) return null;
    const use = new LiveUse(
      () => this.#liveAll(key, handles),
      () => this.#finish(key, invocation),
    );
    // Registered first: the step itself may find that a grant is over.
    this.#running.set(invocation, { key, kill: (cause) => use.close(cause) });
    const which = epoch === undefined ? {} : { epoch };
    const command = { type: "invoke", handles, invocation, ...which } as const;
    let outcome: Step["outcome"];
    try {
      ({ outcome } = this.#book.step(key, command, { uid, session: id }, { soon: true }));
    } catch (error) {
      this.#running.delete(invocation);
      throw error;
    }
    if (outcome.ok) return use;
    this.#running.delete(invocation);
    const { reason, renewal } = outcome;
    return { refused: reason, ...(renewal === undefined ? {} : { instead: renewal.text }) };
  }

  /** What a former daemon left: none of it runs any more. */
  settleLost(): void {
    for (const { project, worktree, state } of this.#book.all()) {
      const key = { project, worktree };
      const lost = new Set(state.grants.flatMap(({ running }) => running));
      for (const invocation of lost) {
        if (!this.#running.has(invocation)) this.#finish(key, invocation);
      }
      this.#book.step(key, { type: "tick" }, DAEMON);
    }
  }

  /** Resolves when the grant is closed: nothing lives on it. */
  closed(key: LedgerKey, handle: string): Promise<void> {
    const over = (state: LedgerState | undefined) =>
      !(state?.grants.some((grant) => grant.handle === handle) ?? false);
    if (over(this.#book.get(key)?.state)) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.#book.subscribe((ledger) => {
        if (ledger.project !== key.project || ledger.worktree !== key.worktree) return;
        if (!over(ledger.state)) return;
        stop();
        resolve();
      });
    });
  }

  #liveAll(key: LedgerKey, handles: readonly string[]): boolean {
    const grants = this.#book.get(key)?.state.grants ?? [];
    return handles.every((handle) =>
      // The last use of a counted grant may go on.
      grants.some((grant) => grant.handle === handle && grant.state !== "closing"),
    );
  }

  #finish(key: LedgerKey, invocation: string): void {
    this.#running.delete(invocation);
    try {
      this.#book.step(key, { type: "finish", invocation }, DAEMON);
    } catch (error) {
      this.#onError(error);
    }
  }

  #after({ project, worktree, state }: HeldLedger, { events }: Step): void {
    for (const event of events) {
      if (event.type !== "grant.closing") continue;
      for (const invocation of event.running) this.#running.get(invocation)?.kill(event.cause);
    }
    const gone = state.grants.some(
      ({ state: at, running }) => at === "closing" && running.length === 0,
    );
    // In a turn of its own: a step is not taken within a step.
    if (gone) queueMicrotask(() => this.#closeGone({ project, worktree }));
  }

  #closeGone(key: LedgerKey): void {
    const grants = this.#book.get(key)?.state.grants ?? [];
    const gone = grants.filter(({ state, running }) => state === "closing" && running.length === 0);
    for (const { handle } of gone) {
      try {
        this.#book.step(key, { type: "closingDone", handle }, DAEMON);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

export const DAEMON = { uid: null, session: null } as const;

class LiveUse implements Use {
  readonly #controller = new AbortController();
  readonly #cuts: ((reason: string) => void)[] = [];
  readonly #over: () => void;
  readonly live: () => boolean;
  #process: Pick<ExecProcess, "kill"> | null = null;
  #finished = false;
  cause: CloseCause | null = null;

  constructor(live: () => boolean, over: () => void) {
    this.live = live;
    this.#over = over;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  close(cause: CloseCause): void {
    if (this.cause !== null) return;
    this.cause = cause;
    this.#controller.abort(
      new RecintoError("refused", `the grant it ran on was closed: ${cause.text}`, {
        hint: "the interface says what there is now",
      }),
    );
    void this.#process?.kill("KILL").catch(() => undefined);
    for (const cut of this.#cuts) cut(cause.text);
  }

  attach(process: Pick<ExecProcess, "kill">): void {
    this.#process = process;
    if (this.cause !== null) void process.kill("KILL").catch(() => undefined);
  }

  onClosing(cut: (reason: string) => void): void {
    this.#cuts.push(cut);
    if (this.cause !== null) cut(this.cause.text);
  }

  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#over();
  }
}

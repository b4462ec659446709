/** What runs right now, on grants or on what the contract gives: begun under the ledger's check, killed when that is gone. */
import type { CloseCause, LedgerState, Step } from "../../authority/ledger-types.ts";
import type { Contract } from "../../authority/types.ts";
import { RecintoError } from "../../errors.ts";
import type { ExecProcess } from "../../sandbox/engine.ts";
import type { Session } from "../sessions.ts";
import type { Rests } from "./binding.ts";
import type { HeldLedger, LedgerBook, LedgerKey } from "./ledger-book.ts";

/** One command or file operation, and the grants that it rests on. */
export interface Use {
  /** Aborts when one of them closes, or when another contract comes into force. */
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
  /** That it was judged under. */
  readonly contract: Contract | null;
  readonly use: LiveUse;
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
   * Without handles nothing is counted, but it ends like the others when it is under another contract than is in force.
   */
  begin(
    session: Pick<Session, "id" | "project" | "uid" | "worktree">,
    rests: Pick<Rests, "handles" | "epoch" | "contract">,
    invocation: string,
  ): Use | RefusedUse {
    const { handles, epoch, contract } = rests;
    const { project, worktree, uid, id } = session;
    const key = { project, worktree };
    if ((this.#book.get(key)?.state.contract ?? null) !== contract) {
      return { refused: "its contract was replaced after it was judged", instead: "send it again" };
    }
    const use = new LiveUse(
      () => this.#liveAll(key, handles),
      () => {
        if (handles.length === 0) this.#running.delete(invocation);
        else this.#finish(key, invocation);
      },
    );
    // Registered first: the step itself may find that a grant is over.
    this.#running.set(invocation, { key, contract, use });
    if (handles.length === 0) return use;
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

  /** Resolves when nothing of what was told to end there is left. */
  async ending(key: LedgerKey): Promise<void> {
    const told = [...this.#running.values()].filter(
      (each) => isSame(each.key, key) && each.use.cause !== null,
    );
    await Promise.all(told.map(({ use }) => use.over));
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
      if (event.type === "contract.set") this.#endOthers({ project, worktree }, state.contract);
      if (event.type !== "grant.closing") continue;
      for (const invocation of event.running) this.#running.get(invocation)?.use.close(event.cause);
    }
    const gone = state.grants.some(
      ({ state: at, running }) => at === "closing" && running.length === 0,
    );
    // In a turn of its own: a step is not taken within a step.
    if (gone) queueMicrotask(() => this.#closeGone({ project, worktree }));
  }

  /** A contract binds what runs already, too: a shell with an open input would go on beyond it for ever. */
  #endOthers(key: LedgerKey, contract: Contract | null): void {
    if (contract === null) return;
    const cause = {
      kind: "revoked",
      text: `the contract ${contract.task} came into force`,
    } as const;
    for (const running of this.#running.values()) {
      if (isSame(running.key, key) && running.contract !== contract) running.use.close(cause);
    }
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

function isSame(one: LedgerKey, other: LedgerKey): boolean {
  return one.project === other.project && one.worktree === other.worktree;
}

class LiveUse implements Use {
  readonly #controller = new AbortController();
  readonly #cuts: ((reason: string) => void)[] = [];
  readonly #atEnd: () => void;
  readonly live: () => boolean;
  readonly over: Promise<void>;
  #resolveOver: () => void = () => undefined;
  #process: Pick<ExecProcess, "kill"> | null = null;
  #finished = false;
  cause: CloseCause | null = null;

  constructor(live: () => boolean, atEnd: () => void) {
    this.live = live;
    this.#atEnd = atEnd;
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  close(cause: CloseCause): void {
    if (this.cause !== null) return;
    this.cause = cause;
    this.#controller.abort(
      new RecintoError("refused", `what it ran on is over: ${cause.text}`, {
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
    this.#atEnd();
    this.#resolveOver();
  }
}

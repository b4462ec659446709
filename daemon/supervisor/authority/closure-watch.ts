/** Ends grants in time: the clock's part, files, and the checks that the daemon runs after what could have changed them. */
import { writablePaths } from "../../authority/envelope.ts";
import { nextEnd, type WatchedClosure, watchedClosures } from "../../authority/watching.ts";
import { RecintoError } from "../../errors.ts";
import {
  CLOSURE_CHECK_EVERY_MS,
  CLOSURE_CHECK_REST,
  CLOSURE_DEBOUNCE_MS,
  CLOSURE_FILE_POLL_MS,
} from "../../limits-authority.ts";
import type { ClosureCheck } from "./authority-calls.ts";
import { type CommandSightParts, type Sight, seeCommand, seeFile } from "./closure-sight.ts";
import type { HeldLedger, LedgerBook, LedgerKey } from "./ledger-book.ts";
import { DAEMON } from "./uses.ts";

export interface ClosureWatchParts extends CommandSightParts {
  readonly book: LedgerBook;
  /** Unix milliseconds, never going back. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/** What a timer of Node can hold. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Of one ledger. */
interface Watch {
  ttl: NodeJS.Timeout | null;
  files: NodeJS.Timeout | null;
  commands: NodeJS.Timeout | null;
  /** When `commands` fires. */
  commandsAt: number;
  /** A check that runs now: one at a time. */
  running: boolean;
  /** Something was done since the last check began. */
  dirty: boolean;
  endedAt: number;
  tookMs: number;
}

export class ClosureWatch {
  readonly #parts: ClosureWatchParts;
  readonly #watches = new Map<string, Watch>();
  #stopped = false;

  constructor(parts: ClosureWatchParts) {
    this.#parts = parts;
    parts.book.subscribe((ledger) => this.#arm(ledger));
  }

  /** For what a restart found. */
  start(): void {
    for (const ledger of this.#parts.book.all()) this.#arm(ledger);
  }

  stop(): void {
    this.#stopped = true;
    for (const watch of this.#watches.values()) clear(watch);
    this.#watches.clear();
  }

  /** Something of the agent's may have changed files: what is watched there is looked at soon. */
  acted(key: LedgerKey): void {
    const ledger = this.#parts.book.get(key);
    if (ledger === null || this.#stopped) return;
    const watched = watchedClosures(ledger.state);
    if (watched.length === 0) return;
    const watch = this.#watchOf(key);
    watch.dirty = true;
    if (watched.some(isFile)) void this.#lookAtFiles(key);
    this.#armCommands(ledger, watch);
  }

  /** Looks now, since the agent asks. Throws `not-found`, `busy`, and what stands against running anything. */
  async check(key: LedgerKey, name: string): Promise<ClosureCheck> {
    const ledger = this.#parts.book.get(key);
    const all = ledger === null ? [] : watchedClosures(ledger.state);
    const watched = all.filter(({ closure }) => closure.name === name);
    const [first] = watched;
    if (ledger === null || first === undefined) {
      const names = [...new Set(all.map(({ closure }) => closure.name))];
      throw new RecintoError("not-found", `no live grant ends with ${JSON.stringify(name)}`, {
        hint:
          names.length === 0 ? "nothing is there to be checked" : `there are ${names.join(", ")}`,
      });
    }
    const sights: ClosureCheck[] = [];
    for (const each of watched) sights.push(await this.#look(ledger, each));
    return sights.find(({ fired }) => fired) ?? (sights[0] as ClosureCheck);
  }

  async #look(ledger: HeldLedger, watched: WatchedClosure): Promise<ClosureCheck> {
    const { name, when } = watched.closure;
    if (when.kind === "file") {
      return this.#said(ledger, watched, await seeFile(ledger.worktree, when.path, when.test));
    }
    if (when.kind !== "command") throw new TypeError(`${name} is not looked at`);
    const watch = this.#watchOf(ledger);
    if (watch.running) {
      throw new RecintoError("busy", "a check runs on this worktree already", {
        hint: "it is run again by itself after each command",
      });
    }
    watch.running = true;
    watch.dirty = false;
    const startedAt = this.#parts.now();
    try {
      const envelope = writablePaths(ledger.state.contract, [], ledger.worktree) ?? [];
      const sight = await seeCommand(this.#parts, ledger, name, when, envelope);
      return this.#said(ledger, watched, sight);
    } finally {
      watch.running = false;
      watch.endedAt = this.#parts.now();
      watch.tookMs = watch.endedAt - startedAt;
      const now = this.#parts.book.get(ledger);
      if (now !== null) this.#armCommands(now, watch);
    }
  }

  /** Ends the grants that it was looked at for; those alone, since others may mean another condition by the name. */
  #said(key: LedgerKey, { closure, handles }: WatchedClosure, sight: Sight): ClosureCheck {
    const closed: string[] = [];
    if (sight.fired) {
      for (const handle of handles) {
        const { evidence } = sight;
        const command = { type: "closureFired", closure: closure.name, handle, evidence } as const;
        const { outcome } = this.#parts.book.step(key, command, DAEMON);
        if (outcome.ok && outcome.result === "done") closed.push(handle);
      }
    }
    return { closure: closure.name, ...sight, closed };
  }

  #arm(ledger: HeldLedger): void {
    if (this.#stopped) return;
    const end = nextEnd(ledger.state);
    const watched = watchedClosures(ledger.state);
    const known = this.#watches.get(idOf(ledger));
    if (known === undefined && end === null && watched.length === 0) return;
    const watch = known ?? this.#watchOf(ledger);
    if (watch.ttl !== null) clearTimeout(watch.ttl);
    watch.ttl =
      end === null
        ? null
        : setTimeout(
            () => this.#tick(ledger),
            Math.min(Math.max(0, end - this.#parts.now()), TIMER_MS_MAX),
          );
    watch.ttl?.unref();
    if (watched.some(isFile)) {
      watch.files ??= setInterval(
        () => void this.#lookAtFiles(ledger),
        CLOSURE_FILE_POLL_MS,
      ).unref();
    } else if (watch.files !== null) {
      clearInterval(watch.files);
      watch.files = null;
    }
    this.#armCommands(ledger, watch);
  }

  /** Soon after something was done, but never more than a part of the time; else now and then. */
  #armCommands(ledger: HeldLedger, watch: Watch): void {
    const wanted = watchedClosures(ledger.state).some((each) => !isFile(each));
    const idle = !wanted || watch.running || this.#stopped;
    const now = this.#parts.now();
    const rested = watch.endedAt + watch.tookMs * CLOSURE_CHECK_REST;
    const at = Math.max(now + (watch.dirty ? CLOSURE_DEBOUNCE_MS : CLOSURE_CHECK_EVERY_MS), rested);
    // What happens on the ledger meanwhile must not put the next look off again and again.
    if (!idle && watch.commands !== null && watch.commandsAt <= at) return;
    if (watch.commands !== null) clearTimeout(watch.commands);
    watch.commands = null;
    if (idle) return;
    watch.commandsAt = at;
    watch.commands = setTimeout(
      () => {
        watch.commands = null;
        void this.#runAll(ledger);
      },
      Math.min(at - now, TIMER_MS_MAX),
    ).unref();
  }

  async #runAll(key: LedgerKey): Promise<void> {
    const ledger = this.#parts.book.get(key);
    if (ledger === null) return;
    for (const watched of watchedClosures(ledger.state).filter((each) => !isFile(each))) {
      if (this.#stopped) return;
      try {
        await this.#look(ledger, watched);
      } catch (error) {
        // A check that cannot run ends nothing; the ttl will.
        this.#parts.onError(error);
      }
    }
  }

  async #lookAtFiles(key: LedgerKey): Promise<void> {
    const ledger = this.#parts.book.get(key);
    if (ledger === null) return;
    for (const watched of watchedClosures(ledger.state).filter(isFile)) {
      try {
        await this.#look(ledger, watched);
      } catch (error) {
        this.#parts.onError(error);
      }
    }
  }

  #tick(key: LedgerKey): void {
    try {
      this.#parts.book.step(key, { type: "tick" }, DAEMON);
    } catch (error) {
      this.#parts.onError(error);
    }
  }

  #watchOf(key: LedgerKey): Watch {
    const id = idOf(key);
    const known = this.#watches.get(id);
    if (known !== undefined) return known;
    const made: Watch = {
      ttl: null,
      files: null,
      commands: null,
      commandsAt: 0,
      running: false,
      dirty: false,
      endedAt: 0,
      tookMs: 0,
    };
    this.#watches.set(id, made);
    return made;
  }
}

function isFile({ closure }: WatchedClosure): boolean {
  return closure.when.kind === "file";
}

function clear({ ttl, files, commands }: Watch): void {
  if (ttl !== null) clearTimeout(ttl);
  if (files !== null) clearInterval(files);
  if (commands !== null) clearTimeout(commands);
}

function idOf({ project, worktree }: LedgerKey): string {
  return JSON.stringify([project, worktree]);
}

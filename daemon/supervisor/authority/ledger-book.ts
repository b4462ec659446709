/** The ledgers of all worktrees: each step on record before it counts, and all of them there again after a restart. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { newLedger, step } from "../../authority/ledger.ts";
import { ledgerText, readLedger } from "../../authority/ledger-json.ts";
import {
  LEDGER_EVENTS,
  type LedgerCommand,
  type LedgerState,
  type Step,
} from "../../authority/ledger-types.ts";
import type { Journal } from "../../journal/types.ts";
import { LEDGER_STEPS_PER_SAVE } from "../../limits-authority.ts";
import type { Log } from "../ports.ts";
import { type By, type StepEntryData, stepEntries } from "./ledger-entries.ts";

export interface LedgerKey {
  readonly project: string;
  /** Absolute. */
  readonly worktree: string;
}

/** The contract's own text, and who set it. */
export interface ContractText {
  readonly text: string;
  readonly setAt: number;
  readonly setBy: number;
}

export interface HeldLedger extends LedgerKey {
  readonly state: LedgerState;
  readonly contract: ContractText | null;
}

export interface LedgerBookOptions {
  readonly journal: Journal;
  readonly stateDir: string;
  readonly now: () => number;
  readonly log: Log;
}

type Without<T> = T extends unknown ? Omit<T, "now"> : never;
/** A command of the ledger; the book adds the time. */
export type TimelessCommand = Without<LedgerCommand>;

export interface StepOptions {
  /** Not to wait for the disk: the caller does, before anything comes of it. */
  readonly soon?: boolean;
  /** What else the first entry says. */
  readonly data?: Readonly<Record<string, unknown>>;
}

type Listener = (ledger: HeldLedger, step: Step) => void;

const SAVED_VERSION = 1;
const savedFile = z.strictObject({
  version: z.literal(SAVED_VERSION),
  seq: z.int(),
  ledgers: z.array(
    z.strictObject({
      project: z.string(),
      worktree: z.string(),
      ledger: z.string(),
      contract: z
        .strictObject({ text: z.string(), setAt: z.number(), setBy: z.number() })
        .nullable(),
    }),
  ),
});

/** Entries of the journal read at a time. */
const PAGE = 1_000;

/**
 * The journal is what is true: every step that matters is there, with its command. The file only saves reading all of
 * it at a start, and may be lost.
 */
export class LedgerBook {
  readonly #options: LedgerBookOptions;
  readonly #held = new Map<string, HeldLedger>();
  readonly #listeners = new Set<Listener>();
  #seq = 0;
  #unsaved = 0;

  constructor(options: LedgerBookOptions) {
    this.#options = options;
    this.#restore();
  }

  /** null: nothing was ever given or set there. */
  get(key: LedgerKey): HeldLedger | null {
    return this.#held.get(idOf(key)) ?? null;
  }

  all(): readonly HeldLedger[] {
    return [...this.#held.values()];
  }

  /** Plays a command. Nothing counts unless it was recorded. Throws `journal-failed`. */
  step(key: LedgerKey, command: TimelessCommand, by: By, options: StepOptions = {}): Step {
    const whole = { ...command, now: this.#options.now() } as LedgerCommand;
    const before = this.get(key) ?? emptyLedger(key);
    const next = step(before.state, whole);
    const entries = stepEntries(key, whole, next.events, by, options.data ?? {});
    if (entries.length > 0) {
      const { journal } = this.#options;
      const written = options.soon ? journal.appendSoon(entries) : journal.appendAll(entries);
      this.#seq = written.at(-1)?.seq ?? this.#seq;
    }
    const contract = contractAfter(before, whole, options.data ?? {});
    const held = { ...before, state: next.state, contract };
    this.#held.set(idOf(key), held);
    if (entries.length > 0 && ++this.#unsaved >= LEDGER_STEPS_PER_SAVE) this.save();
    for (const listener of this.#listeners) listener(held, next);
    return next;
  }

  /** Called after each step, in order. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Never throws: the journal has all of it. */
  save(): void {
    this.#unsaved = 0;
    const { stateDir, log } = this.#options;
    const file = join(stateDir, "authority.json");
    const ledgers = this.all().map(({ project, worktree, state, contract }) => ({
      project,
      worktree,
      ledger: ledgerText(state),
      contract,
    }));
    try {
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      const saved = { version: SAVED_VERSION, seq: this.#seq, ledgers };
      writeFileSync(`${file}.new`, JSON.stringify(saved), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } catch (error) {
      log.warn({ error }, "the grants were not saved; the next start reads them from the journal");
    }
  }

  #restore(): void {
    const { journal, log } = this.#options;
    try {
      this.#readSaved();
    } catch (error) {
      this.#held.clear();
      this.#seq = 0;
      log.warn({ error }, "saved grants cannot be used; they are read from the journal");
    }
    if (this.#seq === 0) this.#replayPruned();
    for (;;) {
      const page = journal.read({ afterSeq: this.#seq, events: LEDGER_EVENTS, limit: PAGE });
      for (const { project, data } of page) {
        const { worktree, step: command } = data as StepEntryData;
        if (project !== null && command !== undefined) {
          this.#replay({ project, worktree }, command, data);
        }
      }
      this.#seq = page.at(-1)?.seq ?? this.#seq;
      if (page.length < PAGE) return;
    }
  }

  /** Without the file, where the journal was pruned: grants are gone, but a contract binds on. */
  #replayPruned(): void {
    const { journal } = this.#options;
    const [oldest] = journal.read({ limit: 1 });
    for (const { seq, project, data } of journal.standing("contract")) {
      const { worktree, step: command } = data as StepEntryData;
      if (oldest === undefined || seq >= oldest.seq) continue;
      if (project !== null && command !== undefined) {
        this.#replay({ project, worktree }, command, data);
      }
    }
  }

  #replay(key: LedgerKey, command: LedgerCommand, data: Readonly<Record<string, unknown>>): void {
    const before = this.get(key) ?? emptyLedger(key);
    const { state } = step(before.state, command);
    const contract = contractAfter(before, command, data);
    // The end of a use that ends no grant is not on record; whatever ran then is over now.
    const grants = state.grants.map((grant) =>
      grant.state === "live" ? { ...grant, running: [] } : grant,
    );
    this.#held.set(idOf(key), { ...before, state: { ...state, grants }, contract });
  }

  #readSaved(): void {
    const { journal, stateDir } = this.#options;
    let text: string;
    try {
      text = readFileSync(join(stateDir, "authority.json"), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    const { seq, ledgers } = savedFile.parse(JSON.parse(text));
    // A power cut may take the journal's end, but not what was saved after it.
    if (seq > journal.count()) throw new RangeError("it is ahead of the journal");
    for (const { ledger, ...rest } of ledgers) {
      const { state, refused } = readLedger(ledger);
      if (state === undefined) throw new RangeError(`${rest.worktree}: ${refused}`);
      this.#held.set(idOf(rest), { ...rest, state });
    }
    this.#seq = seq;
  }
}

function emptyLedger(key: LedgerKey): HeldLedger {
  const { project, worktree } = key;
  return { project, worktree, state: newLedger(project, null, 0), contract: null };
}

function contractAfter(
  before: HeldLedger,
  command: LedgerCommand,
  data: Readonly<Record<string, unknown>>,
): ContractText | null {
  if (command.type !== "contractSet") return before.contract;
  if (command.contract === null) return null;
  const { text, setBy } = data.source as Pick<ContractText, "text" | "setBy">;
  return { text, setAt: command.now, setBy };
}

function idOf({ project, worktree }: LedgerKey): string {
  return JSON.stringify([project, worktree]);
}

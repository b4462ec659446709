/** The journal on disk: append-only, chained by hash, one sync per append, read in batches. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type Database from "better-sqlite3";
import { RecintoError } from "../errors.ts";
import {
  JOURNAL_ENTRY_BYTES_MAX,
  JOURNAL_READ_DEFAULT,
  JOURNAL_READ_MAX,
  JOURNAL_VERIFY_BATCH,
} from "../limits.ts";
import { canonicalJson } from "./canonical-json.ts";
import { CHAIN_START, type ChainState, chainBreak, entryHash, GENESIS, type Row } from "./chain.ts";
import { isCorruption, openDatabase } from "./database.ts";
import { DiskSync, syncFolderOf } from "./disk-sync.ts";
import { selectEntries } from "./query.ts";
import type { StandingKind } from "./standing.ts";
import { StandingTable } from "./standing-table.ts";
import type {
  EntryQuery,
  Journal,
  JournalEntry,
  JournalEvent,
  NewEntry,
  VerifyResult,
} from "./types.ts";

export interface JournalOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A listener threw; it stays subscribed. */
  readonly onListenerError?: (error: unknown) => void;
}

/**
 * Opens or makes the journal at `path` (file and side files 0600). Throws `journal-in-use` when another daemon has it,
 * `journal-broken` when it is damaged, of another layout or its newest entries do not chain, `journal-failed` otherwise.
 */
export function openJournal(path: string, options: JournalOptions): Journal {
  const db = openDatabase(path);
  try {
    return new SqliteJournal(db, path, options);
  } catch (error) {
    db.close();
    throw isCorruption(error) ? broken(path, String(error), error) : error;
  }
}

interface Written {
  readonly row: Row;
  readonly entry: JournalEntry;
}

class SqliteJournal implements Journal {
  readonly #db: Database.Database;
  readonly #options: JournalOptions;
  readonly #insert: Database.Statement<[Row]>;
  readonly #batch: Database.Statement<[number, number], Row>;
  readonly #listeners = new Set<(entry: JournalEntry) => void>();
  readonly #disk: DiskSync;
  readonly #standing: StandingTable;
  readonly #transact: (rows: readonly Written[]) => void;
  #lost: unknown = null;
  #tail: ChainState;

  constructor(db: Database.Database, path: string, options: JournalOptions) {
    this.#db = db;
    this.#options = options;
    this.#insert = db.prepare(
      "INSERT INTO entries VALUES (@seq, @at, @event, @project, @session, @uid, @data, @hash)",
    );
    this.#batch = db.prepare("SELECT * FROM entries WHERE seq > ? ORDER BY seq LIMIT ?");
    this.#standing = new StandingTable(db);
    this.#transact = db.transaction((rows: readonly Written[]) => {
      for (const { row, entry } of rows) {
        this.#insert.run(row);
        this.#standing.apply(row, entry.data);
      }
    });
    this.#tail = this.#checkedTail(path);
    this.#disk = new DiskSync(`${path}-wal`);
    syncFolderOf(path);
  }

  append(entry: NewEntry): JournalEntry {
    return this.appendAll([entry])[0] as JournalEntry;
  }

  appendAll(entries: readonly NewEntry[]): readonly JournalEntry[] {
    return this.#write(entries);
  }

  appendSoon(entries: readonly NewEntry[]): readonly JournalEntry[] {
    this.#db.exec("PRAGMA synchronous = NORMAL");
    try {
      return this.#write(entries);
    } finally {
      this.#db.exec("PRAGMA synchronous = FULL");
    }
  }

  async synced(): Promise<void> {
    try {
      await this.#disk.reached();
    } catch (cause) {
      // What is not known to be on disk must not be built upon: from here on nothing is recorded, so nothing runs.
      this.#lost ??= cause;
      throw this.#failed(cause);
    }
  }

  #failed(cause: unknown): RecintoError {
    return new RecintoError("journal-failed", `the journal cannot record: ${String(cause)}`, {
      cause,
    });
  }

  #write(entries: readonly NewEntry[]): readonly JournalEntry[] {
    if (this.#lost !== null) throw this.#failed(this.#lost);
    let written: readonly Written[];
    try {
      written = this.#chained(entries);
      this.#transact(written);
    } catch (cause) {
      throw this.#failed(cause);
    }
    this.#tail = written.at(-1)?.row ?? this.#tail;
    for (const { entry } of written) this.#tell(entry);
    return written.map(({ entry }) => entry);
  }

  read(query: EntryQuery): readonly JournalEntry[] {
    const limit = Math.min(query.limit ?? JOURNAL_READ_DEFAULT, JOURNAL_READ_MAX);
    const { sql, values } = selectEntries(query, limit);
    const rows = this.#db.prepare<unknown[], Row>(sql).all(...values);
    if (query.newest) rows.reverse();
    return rows.map(entryOf);
  }

  standing(kind: StandingKind): readonly JournalEntry[] {
    return this.#standing.rows(kind).map(entryOf);
  }

  verify(): VerifyResult {
    const walk = this.#walk();
    for (;;) {
      const step = walk.next();
      if (step.done) return step.value;
    }
  }

  async verifyInSteps(): Promise<VerifyResult> {
    const walk = this.#walk();
    for (;;) {
      const step = walk.next();
      if (step.done) return step.value;
      await nextTurn();
    }
  }

  subscribe(listener: (entry: JournalEntry) => void): () => void {
    // A wrapper of its own, so that the same function subscribed twice is two subscriptions.
    const own = (entry: JournalEntry) => listener(entry);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  count(): number {
    return this.#tail.seq;
  }

  close(): void {
    this.#listeners.clear();
    this.#disk.close();
    if (this.#db.open) this.#db.close();
  }

  #chained(entries: readonly NewEntry[]): Written[] {
    let { seq, hash } = this.#tail;
    const at = this.#options.now();
    return entries.map((given) => {
      const data = canonicalJson(given.data);
      if (Buffer.byteLength(data) > JOURNAL_ENTRY_BYTES_MAX) {
        throw new RangeError(`entry ${given.event} is over ${JOURNAL_ENTRY_BYTES_MAX} bytes`);
      }
      const { event, project = null, session = null, uid = null } = given;
      seq += 1;
      const unhashed = { seq, at, event, project, session, uid, data };
      hash = entryHash(hash, unhashed);
      const row = { ...unhashed, hash };
      return { row, entry: entryOf(row) };
    });
  }

  #tell(entry: JournalEntry): void {
    for (const listener of this.#listeners) {
      try {
        listener(entry);
      } catch (error) {
        // The entry is on disk: a listener's bug must not look like a failed append.
        this.#options.onListenerError?.(error);
      }
    }
  }

  /** Yields after each batch; ends with the result. Entries appended meanwhile are walked too. */
  *#walk(): Generator<void, VerifyResult> {
    let state = CHAIN_START;
    for (;;) {
      let rows: Row[];
      try {
        rows = this.#batch.all(state.seq, JOURNAL_VERIFY_BATCH);
      } catch (error) {
        if (!isCorruption(error)) throw error;
        return brokenAt(state, state.seq + 1, `the file is damaged: ${String(error)}`);
      }
      for (const row of rows) {
        const reason = chainBreak(state, row);
        if (reason !== null) {
          return brokenAt(state, Math.min(row.seq, state.seq + 1), reason);
        }
        state = row;
      }
      if (rows.length < JOURNAL_VERIFY_BATCH) break;
      yield;
    }
    const last = this.#lastGivenSeq();
    if (last !== state.seq) {
      return brokenAt(state, state.seq + 1, `entries up to ${last} were cut off the end`);
    }
    return { ok: true, entries: state.seq, head: state.hash };
  }

  /** The newest entry, once the last batch of the chain was checked: nothing is appended to a broken end. */
  #checkedTail(path: string): ChainState {
    const last = this.#lastGivenSeq();
    const first = Math.max(0, last - JOURNAL_VERIFY_BATCH);
    const [before, ...rows] =
      first === 0
        ? [CHAIN_START, ...this.#batch.all(0, JOURNAL_VERIFY_BATCH)]
        : this.#batch.all(first - 1, JOURNAL_VERIFY_BATCH + 1);
    let state: ChainState = before ?? { seq: 0, hash: GENESIS };
    for (const row of rows as Row[]) {
      const reason = chainBreak(state, row);
      if (reason !== null) throw broken(path, `entry ${row.seq}: ${reason}`);
      state = row;
    }
    if (state.seq !== last) throw broken(path, `its end is missing: ${last} entries were written`);
    return { seq: state.seq, hash: state.hash };
  }

  /** The highest seq SQLite ever gave out, which outlives the rows. */
  #lastGivenSeq(): number {
    const seq = this.#db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").pluck();
    return (seq.get() as number | undefined) ?? 0;
  }
}

function entryOf(row: Row): JournalEntry {
  return {
    ...row,
    event: row.event as JournalEvent,
    data: JSON.parse(row.data) as Readonly<Record<string, unknown>>,
  };
}

function broken(path: string, reason: string, cause?: unknown): RecintoError {
  return new RecintoError("journal-broken", `journal ${path} is broken: ${reason}`, {
    hint: "keep the file as evidence, move it away and start again",
    cause,
  });
}

function brokenAt(state: ChainState, seq: number, reason: string): VerifyResult {
  return { ok: false, entries: state.seq, head: state.hash, firstBroken: { seq, reason } };
}

/** The journal on disk: append-only, chained by hash, one sync per append, read in batches. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type Database from "better-sqlite3";
import { RecintoError } from "../errors.ts";
import { JOURNAL_SYNC_SOON_MS } from "../limits.ts";
import {
  JOURNAL_ENTRY_BYTES_MAX,
  JOURNAL_READ_DEFAULT,
  JOURNAL_READ_MAX,
  JOURNAL_VERIFY_BATCH,
} from "../limits-journal.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type ChainState, entryHash, type Row } from "./chain.ts";
import { INSERT_ROW, isCorruption, openDatabase } from "./database.ts";
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
import { anchorOf, broken, checkedTail, walkChain } from "./walk.ts";

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
  readonly #listeners = new Set<(entry: JournalEntry) => void>();
  readonly #disk: DiskSync;
  readonly #standing: StandingTable;
  readonly #transact: (rows: readonly Written[], also: () => void) => void;
  #lost: unknown = null;
  #tail: ChainState;

  constructor(db: Database.Database, path: string, options: JournalOptions) {
    this.#db = db;
    this.#options = options;
    this.#insert = db.prepare(INSERT_ROW);
    // As most are written: what waits for the disk says so itself.
    db.exec("PRAGMA synchronous = NORMAL");
    this.#standing = new StandingTable(db);
    this.#transact = db.transaction((rows: readonly Written[], also: () => void) => {
      for (const { row, entry } of rows) {
        this.#insert.run(row);
        this.#standing.apply(row, entry.data);
      }
      also();
    });
    this.#tail = checkedTail(db, path);
    this.#disk = new DiskSync(`${path}-wal`);
    syncFolderOf(path);
  }

  append(entry: NewEntry): JournalEntry {
    return this.appendAll([entry])[0] as JournalEntry;
  }

  appendAll(entries: readonly NewEntry[]): readonly JournalEntry[] {
    return this.#durably(() => this.#write(entries));
  }

  appendSoon(entries: readonly NewEntry[]): readonly JournalEntry[] {
    const written = this.#write(entries);
    this.#disk.soon(JOURNAL_SYNC_SOON_MS, this.#onLost);
    return written;
  }

  /** Waits for the disk within the call. */
  #durably<T>(write: () => T): T {
    this.#db.exec("PRAGMA synchronous = FULL");
    try {
      return write();
    } finally {
      this.#db.exec("PRAGMA synchronous = NORMAL");
    }
  }

  async synced(): Promise<void> {
    try {
      await this.#disk.reached();
    } catch (cause) {
      this.#onLost(cause);
      throw this.#failed(cause);
    }
  }

  /** What is not known to be on disk must not be built upon: from here on nothing is recorded, so nothing runs. */
  readonly #onLost = (cause: unknown): void => {
    this.#lost ??= cause;
  };

  #failed(cause: unknown): RecintoError {
    return new RecintoError("journal-failed", `the journal cannot record: ${String(cause)}`, {
      cause,
    });
  }

  #write(entries: readonly NewEntry[], also: () => void = () => {}): readonly JournalEntry[] {
    if (this.#lost !== null) throw this.#failed(this.#lost);
    let written: readonly Written[];
    try {
      written = this.#chained(entries);
      this.#transact(written, also);
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
    try {
      return this.#standing.rows(kind).map(entryOf);
    } catch (error) {
      throw error instanceof RangeError ? broken(this.#db.name, error.message, error) : error;
    }
  }

  verify(): VerifyResult {
    const walk = walkChain(this.#db);
    for (;;) {
      const step = walk.next();
      if (step.done) return step.value;
    }
  }

  async verifyInSteps(): Promise<VerifyResult> {
    const walk = walkChain(this.#db);
    for (;;) {
      const step = walk.next();
      if (step.done) return step.value;
      await nextTurn();
    }
  }

  async pruneBefore(at: number): Promise<number> {
    const before = this.#oldestKept();
    const through = this.#newestBefore(at);
    for (let done = before; done < through; ) {
      done = Math.min(done + JOURNAL_VERIFY_BATCH, through);
      this.#pruneThrough(done);
      await nextTurn();
    }
    return Math.max(0, through - before);
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

  /** In one transaction with the entry that says so, which is where the chain that is kept then begins. */
  #pruneThrough(seq: number): void {
    const hash = this.#db.prepare("SELECT hash FROM entries WHERE seq = ?").pluck().get(seq);
    const entry = { event: "journal.pruned", data: { through: seq, hash } } as const;
    this.#durably(() =>
      this.#write([entry], () => {
        this.#db.prepare("DELETE FROM entries WHERE seq <= ?").run(seq);
      }),
    );
  }

  #oldestKept(): number {
    return anchorOf(this.#db).seq;
  }

  /** Never the newest entry: something must be left for the chain to go on from. */
  #newestBefore(at: number): number {
    // By position and not by time, which is not indexed: times do not go back, so halving finds it.
    const timeOf = this.#db
      .prepare<[number], number>("SELECT at FROM entries WHERE seq = ?")
      .pluck();
    let low = this.#oldestKept();
    let high = this.#tail.seq - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((timeOf.get(middle) ?? 0) < at) low = middle;
      else high = middle - 1;
    }
    return low;
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
}

export function entryOf(row: Row): JournalEntry {
  return {
    ...row,
    event: row.event as JournalEvent,
    data: JSON.parse(row.data) as Readonly<Record<string, unknown>>,
  };
}

/** The table of what stands: changed with each row that is written, and made anew from all rows where it is missing. */
import { isDeepStrictEqual } from "node:util";
import type Database from "better-sqlite3";
import type { Row } from "./chain.ts";
import { STANDING_EVENTS, type StandingKind, standingChanges } from "./standing.ts";
import type { JournalEvent } from "./types.ts";

export class StandingTable {
  readonly #put: Database.Statement<[string, string, number, string]>;
  readonly #drop: Database.Statement<[string, string]>;
  readonly #list: Database.Statement<[string], string>;
  readonly #kept: Database.Statement<[number], Row>;

  constructor(db: Database.Database) {
    this.#put = db.prepare("INSERT OR REPLACE INTO standing VALUES (?, ?, ?, ?)");
    this.#drop = db.prepare("DELETE FROM standing WHERE kind = ? AND id = ?");
    this.#kept = db.prepare("SELECT * FROM entries WHERE seq = ?");
    this.#list = db
      .prepare<[string], string>("SELECT entry FROM standing WHERE kind = ? ORDER BY seq")
      .pluck();
  }

  /** Call in the transaction that writes the row; `data` is what its text says. */
  apply(row: Row, data: Readonly<Record<string, unknown>>): void {
    const changes = standingChanges({
      event: row.event as JournalEvent,
      project: row.project,
      session: row.session,
      data,
    });
    for (const { kind, id, stands } of changes) {
      if (stands) this.#put.run(kind, id, row.seq, JSON.stringify(row));
      else this.#drop.run(kind, id);
    }
  }

  /** Throws RangeError for one that is not as the entries say: nothing is taken over by it. */
  rows(kind: StandingKind): readonly Row[] {
    return this.#list.all(kind).map((entry) => {
      const row = JSON.parse(entry) as Row;
      const kept = this.#kept.get(row.seq);
      // One that was pruned is known by this copy alone.
      if (kept !== undefined && !isDeepStrictEqual({ ...kept }, row)) {
        throw new RangeError(`what stands by entry ${row.seq} is not what that entry says`);
      }
      return row;
    });
  }
}

/** From the rows that are there; a state that a pruned row made and that stood is kept. */
export function rebuildStanding(db: Database.Database): void {
  const table = new StandingTable(db);
  const read = db.prepare<[string, number], Row>(
    "SELECT * FROM entries WHERE event IN (SELECT value FROM json_each(?)) AND seq > ? ORDER BY seq LIMIT 1000",
  );
  for (let seq = 0; ; ) {
    const rows = read.all(JSON.stringify(STANDING_EVENTS), seq);
    for (const row of rows) table.apply(row, JSON.parse(row.data));
    const last = rows.at(-1);
    if (last === undefined) return;
    seq = last.seq;
  }
}

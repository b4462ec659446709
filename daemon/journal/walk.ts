/** Walks the chain in a database: from where it begins, in batches, to the first entry that does not follow. */
import type Database from "better-sqlite3";
import { RecintoError } from "../errors.ts";
import { JOURNAL_VERIFY_BATCH } from "../limits-journal.ts";
import { CHAIN_START, type ChainState, chainBreak, type Row } from "./chain.ts";
import { isCorruption } from "./database.ts";
import type { VerifyResult } from "./types.ts";

/** Where the chain that is kept begins: at its start, or behind what was pruned, as the newest entry about it says. */
export function anchorOf(db: Database.Database): ChainState {
  // One event at a time: that is one step in the index, however long the journal is.
  const newest = db
    .prepare<[string], string>("SELECT data FROM entries WHERE event = ? ORDER BY seq DESC LIMIT 1")
    .pluck();
  const said = ["journal.pruned", "journal.repaired"].flatMap((event) => {
    const data = newest.get(event);
    return data === undefined ? [] : [JSON.parse(data) as { through: number; hash: string }];
  });
  // What was dropped stays dropped: the one that says more is the later one.
  return said.reduce<ChainState>(
    (furthest, { through, hash }) => (through > furthest.seq ? { seq: through, hash } : furthest),
    CHAIN_START,
  );
}

/** The highest seq SQLite ever gave out, which outlives the rows. */
export function lastGivenSeq(db: Database.Database): number {
  const seq = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").pluck().get();
  return (seq as number | undefined) ?? 0;
}

/**
 * Yields after each batch of rows that follow one another; ends with the result. Entries appended meanwhile are walked
 * too.
 */
export function* walkChain(db: Database.Database): Generator<readonly Row[], VerifyResult> {
  const batch = batches(db);
  let state = CHAIN_START;
  let anchor = CHAIN_START;
  const result = (firstBroken?: VerifyResult["firstBroken"]): VerifyResult => ({
    ok: firstBroken === undefined,
    entries: state.seq,
    pruned: anchor.seq,
    head: state.hash,
    ...(firstBroken === undefined ? {} : { firstBroken }),
  });
  try {
    state = anchor = anchorOf(db);
    for (;;) {
      const rows = batch(state.seq, JOURNAL_VERIFY_BATCH);
      const whole: Row[] = [];
      for (const row of rows) {
        const reason = chainBreak(state, row);
        if (reason !== null) {
          yield whole;
          return result({ seq: Math.min(row.seq, state.seq + 1), reason });
        }
        whole.push(row);
        state = row;
      }
      yield whole;
      if (rows.length < JOURNAL_VERIFY_BATCH) break;
    }
    const last = lastGivenSeq(db);
    if (last === state.seq) return result();
    return result({ seq: state.seq + 1, reason: `entries up to ${last} were cut off the end` });
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return result({ seq: state.seq + 1, reason: `the file is damaged: ${String(error)}` });
  }
}

/** The newest entry, once the last batch of the chain was checked: nothing is appended to a broken end. */
export function checkedTail(db: Database.Database, path: string): ChainState {
  const batch = batches(db);
  const last = lastGivenSeq(db);
  const anchor = anchorOf(db);
  const first = Math.max(anchor.seq, last - JOURNAL_VERIFY_BATCH);
  const rows =
    first === anchor.seq
      ? [anchor, ...batch(first, JOURNAL_VERIFY_BATCH)]
      : batch(first - 1, JOURNAL_VERIFY_BATCH + 1);
  let state: ChainState = rows[0] ?? CHAIN_START;
  for (const row of rows.slice(1) as Row[]) {
    const reason = chainBreak(state, row);
    if (reason !== null) throw broken(path, `entry ${row.seq}: ${reason}`);
    state = row;
  }
  if (state.seq !== last) throw broken(path, `its end is missing: ${last} entries were written`);
  return { seq: state.seq, hash: state.hash };
}

export function broken(path: string, reason: string, cause?: unknown): RecintoError {
  return new RecintoError("journal-broken", `journal ${path} is broken: ${reason}`, {
    hint: `recinto journal repair --file ${path} --dry-run says what can be kept`,
    cause,
  });
}

function batches(db: Database.Database): (after: number, limit: number) => readonly Row[] {
  const read = db.prepare<[number, number], Row>(
    "SELECT * FROM entries WHERE seq > ? ORDER BY seq LIMIT ?",
  );
  return (after, limit) => read.all(after, limit);
}

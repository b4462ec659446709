/** The journal's file with no daemon running: looked at without changing it. */
import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import { RecintoError } from "../errors.ts";
import { JOURNAL_VERIFY_BATCH } from "../limits-journal.ts";
import type { Row } from "./chain.ts";
import { GENESIS } from "./chain.ts";
import { isCorruption, openError } from "./database.ts";
import type { VerifyResult } from "./types.ts";
import { walkChain } from "./walk.ts";

/**
 * For reading alone, and held, so that no daemon starts on it meanwhile. Throws `journal-in-use`, `bad-usage` where
 * there is none, `journal-failed`, and as SQLite does where it is damaged.
 */
export function lookInto(path: string): Database.Database {
  if (!existsSync(path)) {
    throw new RecintoError("bad-usage", `there is no journal ${path}`, {
      hint: "the daemon keeps it in its state directory: /var/lib/recinto/journal.sqlite",
    });
  }
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { fileMustExist: true, timeout: 0 });
    db.pragma("locking_mode = EXCLUSIVE");
    // Not opened read-only: what a killed daemon wrote last is in the write-ahead file, which SQLite takes in first.
    db.pragma("query_only = ON");
    db.prepare("SELECT count(*) FROM sqlite_master").get();
    return db;
  } catch (error) {
    db?.close();
    throw isCorruption(error) ? error : openError(path, error);
  }
}

export function verifyFile(path: string): VerifyResult {
  try {
    const db = lookInto(path);
    try {
      const walk = walkChain(db);
      for (;;) {
        const step = walk.next();
        if (step.done) return step.value;
      }
    } finally {
      db.close();
    }
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return unreadable(error);
  }
}

/** What there is of a file that cannot even be opened. */
export function unreadable(error: unknown): VerifyResult {
  const reason = `the file is damaged: ${String(error)}`;
  return { ok: false, entries: 0, pruned: 0, head: GENESIS, firstBroken: { seq: 1, reason } };
}

/** Rows after `seq` as they are stored, whether they chain or not; ends where the file cannot be read. */
export function* storedRows(db: Database.Database, seq: number): Generator<readonly Row[], void> {
  const read = db.prepare<[number, number], Row>(
    "SELECT * FROM entries WHERE seq > ? ORDER BY seq LIMIT ?",
  );
  for (let after = seq; ; ) {
    let rows: readonly Row[];
    try {
      rows = read.all(after, JOURNAL_VERIFY_BATCH);
    } catch (error) {
      if (isCorruption(error)) return;
      throw error;
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.seq;
  }
}

/** Repair of a broken journal: the longest part that can be verified is kept, all that was there is put aside. */
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import type Database from "better-sqlite3";
import { canonicalJson } from "./canonical-json.ts";
import { CHAIN_START, type ChainState, entryHash, type Row } from "./chain.ts";
import { INSERT_ROW, isCorruption, openDatabase } from "./database.ts";
import { syncFolderOf } from "./disk-sync.ts";
import { lookInto, storedRows, unreadable } from "./offline.ts";
import { rebuildStanding } from "./standing-table.ts";
import type { VerifyResult } from "./types.ts";
import { anchorOf, lastGivenSeq, walkChain } from "./walk.ts";

export interface RepairReport {
  /** What was found; `ok` leaves nothing to repair. */
  readonly found: VerifyResult;
  /** Entries that were written and are not in what is kept; null: the file does not say how many there were. */
  readonly lost: number | null;
  /** Of them can still be read in the file that is put aside, though nothing proves that they are as they were. */
  readonly readable: number;
  /** Where the broken file is now; null: nothing was changed. */
  readonly aside: string | null;
}

type Told = Omit<RepairReport, "aside"> & { readonly aside: string; readonly at: number };

/** `now`: Unix milliseconds. Throws as `lookInto`. */
export function repairJournal(
  path: string,
  { dryRun, now }: { readonly dryRun: boolean; readonly now: () => number },
): RepairReport {
  const next = `${path}.repaired`;
  for (const file of withSideFiles(next)) rmSync(file, { force: true });
  const target = dryRun ? null : openDatabase(next);
  const aside = `${path}.broken-${new Date(now()).toISOString().replaceAll(":", "")}`;
  let report: Omit<RepairReport, "aside">;
  try {
    report = salvage(path, target, (kept) => ({ ...kept, aside, at: now() }));
  } finally {
    target?.close();
  }
  if (target === null || report.found.ok) {
    for (const file of withSideFiles(next)) rmSync(file, { force: true });
    return { ...report, aside: null };
  }
  // What was there stays whole under its new name before anything takes its place; a write-ahead file that stayed would
  // be taken for the new one's.
  linkSync(path, aside);
  for (const side of ["-wal", "-shm"]) {
    if (existsSync(`${path}${side}`)) renameSync(`${path}${side}`, `${aside}${side}`);
  }
  renameSync(next, path);
  syncFolderOf(path);
  return { ...report, aside };
}

function salvage(
  path: string,
  target: Database.Database | null,
  told: (kept: Omit<RepairReport, "aside">) => Told,
): Omit<RepairReport, "aside"> {
  let anchor = CHAIN_START;
  let kept: Omit<RepairReport, "aside">;
  try {
    const db = lookInto(path);
    try {
      const found = copyWhole(db, target);
      let readable = 0;
      for (const rows of storedRows(db, found.entries)) readable += rows.length;
      anchor = anchorOf(db);
      kept = { found, readable, lost: Math.max(0, lastGivenSeq(db) - found.entries) };
    } finally {
      db.close();
    }
  } catch (error) {
    if (!isCorruption(error)) throw error;
    kept = { found: unreadable(error), lost: null, readable: 0 };
  }
  if (target !== null && !kept.found.ok) sayRepaired(target, anchor, told(kept));
  return kept;
}

/** Rows go over one by one, as they are, only after they were seen to follow. */
function copyWhole(db: Database.Database, target: Database.Database | null): VerifyResult {
  const insert = target?.prepare<[Row]>(INSERT_ROW);
  const copy = target?.transaction((rows: readonly Row[]) => {
    for (const row of rows) insert?.run(row);
  });
  const walk = walkChain(db);
  for (;;) {
    const step = walk.next();
    if (step.done) {
      if (target !== null) copyStanding(db, target, step.value.pruned);
      return step.value;
    }
    copy?.(step.value);
  }
}

/** What stands by entries that were pruned is only there; the rest is made anew from the entries that are kept. */
function copyStanding(db: Database.Database, target: Database.Database, pruned: number): void {
  const put = target.prepare("INSERT INTO standing VALUES (@kind, @id, @seq, @entry)");
  let rows: unknown[] = [];
  try {
    // All of them are read before one is put: a table that is damaged in its middle gives none.
    rows = db.prepare("SELECT kind, id, seq, entry FROM standing WHERE seq <= ?").all(pruned);
  } catch {
    // An older layout has none, a damaged one cannot be read: then nothing of it stands, and more is asked.
  }
  for (const row of rows) put.run(row);
  rebuildStanding(target);
}

/** The last entry of what is kept; the chain begins where it began before. */
function sayRepaired(db: Database.Database, anchor: ChainState, told: Told): void {
  const { found, lost, readable, aside, at } = told;
  const { entries: kept, head, firstBroken } = found;
  const { seq: through, hash } = anchor;
  const data = { through, hash, kept, head, lost, readable, aside, reason: firstBroken?.reason };
  const event = "journal.repaired";
  const unhashed = { seq: kept + 1, at, event, project: null, session: null, uid: null };
  const row = { ...unhashed, data: canonicalJson(data) };
  db.prepare(INSERT_ROW).run({ ...row, hash: entryHash(head, row) });
}

function withSideFiles(path: string): readonly string[] {
  return [path, `${path}-wal`, `${path}-shm`];
}

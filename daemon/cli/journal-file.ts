/** `recinto journal … --file`: the journal's file itself, with no daemon running. */
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { RecintoError } from "../errors.ts";
import type { LinesVerdict } from "../journal/export.ts";
import { ExportFolder, exportedFiles, exportLine, verifyLines } from "../journal/export.ts";
import { lookInto, storedRows, verifyFile } from "../journal/offline.ts";
import { repairJournal } from "../journal/repair.ts";
import { entryOf, openJournal } from "../journal/sqlite-journal.ts";
import type { JournalEntry, VerifyResult } from "../journal/types.ts";
import { print } from "./terminal-text.ts";

/** One line when it is whole. Throws `journal-broken` with the first entry that does not follow. */
export function tellVerified({ ok, entries, pruned, head, firstBroken }: VerifyResult): void {
  if (ok) {
    const kept = pruned === 0 ? "" : ` (kept from ${pruned + 1} on)`;
    print(`${entries} entries${kept}, chain whole, head ${head}\n`);
    return;
  }
  const { seq, reason } = firstBroken ?? { seq: 0, reason: "unknown" };
  throw new RecintoError("journal-broken", `the chain breaks at entry ${seq}: ${reason}`, {
    hint: "somebody or something changed the journal after it was written: keep a copy, then recinto journal repair --file FILE --dry-run says what can be kept",
  });
}

export function verifyJournalFile(file: string): void {
  tellVerified(verifyFile(file));
}

/** Exported lines, of a file or of a whole folder. Throws as `tellVerified`. */
export function verifyExport(path: string): void {
  const files = statSync(path).isDirectory()
    ? exportedFiles(path).map((name) => join(path, name))
    : [path];
  const verdict: LinesVerdict = verifyLines(linesOf(files));
  const { entries, from, head, broken } = verdict;
  if (broken !== null) {
    throw new RecintoError(
      "journal-broken",
      `the chain breaks at entry ${broken.seq}: ${broken.reason}`,
      { hint: "compare with the journal itself, or with another copy" },
    );
  }
  print(`${entries} entries from ${from} to ${head.seq}, chain whole, head ${head.hash}\n`);
}

function* linesOf(files: readonly string[]): Generator<string, void> {
  for (const file of files) yield* readFileSync(file, "utf8").split("\n");
}

export interface ExportTarget {
  /** Folder of rotated files; absent: standard output. */
  readonly to: string | undefined;
  readonly rotateBytes: number;
  readonly after: number | undefined;
}

/** Writes entries as they come; one that goes to a folder goes on where the last one ended. */
export async function exportEntries(
  source: (after: number) => AsyncIterable<JournalEntry> | Iterable<JournalEntry>,
  { to, rotateBytes, after }: ExportTarget,
): Promise<void> {
  if (to === undefined) {
    for await (const entry of source(after ?? 0)) print(exportLine(entry));
    return;
  }
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const folder = new ExportFolder(to, rotateBytes);
  let count = 0;
  try {
    for await (const entry of source(after ?? folder.resume())) {
      folder.add(entry);
      count += 1;
    }
  } finally {
    folder.close();
  }
  process.stderr.write(`${count} entries exported to ${to}\n`);
}

/** As they are stored, whether they chain or not: what is exported can be verified by itself. */
export function* entriesOfFile(file: string, after: number): Generator<JournalEntry, void> {
  const db = lookInto(file);
  try {
    for (const rows of storedRows(db, after)) yield* rows.map(entryOf);
  } finally {
    db.close();
  }
}

export function repairFile(file: string, dryRun: boolean): void {
  const { found, lost, readable, aside } = repairJournal(file, { dryRun, now: Date.now });
  const { ok, entries, firstBroken } = found;
  if (ok) {
    print(`${entries} entries, chain whole: nothing to repair\n`);
    return;
  }
  const kept = entries - found.pruned;
  print(`breaks at entry ${firstBroken?.seq}: ${firstBroken?.reason}\n`);
  print(
    `${dryRun ? "would keep" : "kept"} ${kept} entries, up to ${entries}, head ${found.head}\n`,
  );
  const all = lost === null ? "the file does not say how many" : `${lost} entries`;
  print(`lost: ${all}; ${readable} of them can still be read, but are not proven\n`);
  if (aside !== null) print(`what was there is kept as ${aside}\n`);
}

export async function pruneFile(file: string, before: number, dryRun: boolean): Promise<void> {
  if (dryRun) {
    let count = 0;
    for (const { at } of entriesOfFile(file, 0)) count += at < before ? 1 : 0;
    print(
      `would drop ${count} entries; export them before: recinto journal export --file ${file}\n`,
    );
    return;
  }
  const journal = openJournal(file, { now: Date.now });
  try {
    print(`dropped ${await journal.pruneBefore(before)} entries\n`);
  } finally {
    journal.close();
  }
}

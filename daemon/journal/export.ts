/** The journal as JSON lines: one entry a line, with the hashes by which what was exported can be verified by itself. */
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "./canonical-json.ts";
import { CHAIN_START, type ChainState, chainBreak, type Row } from "./chain.ts";
import type { JournalEntry } from "./types.ts";

export function exportLine(entry: JournalEntry): string {
  const { seq, at, event, project, session, uid, data, hash } = entry;
  return `${JSON.stringify({ seq, at, event, project, session, uid, data, hash })}\n`;
}

/** Files `recinto-SEQ.jsonl` in a folder, each named for its first entry, a new one begun when one is large enough. */
export class ExportFolder {
  readonly #folder: string;
  readonly #bytesMax: number;
  #fd: number | null = null;
  #bytes = 0;

  constructor(folder: string, bytesMax: number) {
    this.#folder = folder;
    this.#bytesMax = bytesMax;
  }

  /**
   * The last entry that is there already; 0: none. A line that a crash cut short is taken away: it is exported again, and
   * what is in the folder is to verify as it stands.
   */
  resume(): number {
    const name = exportedFiles(this.#folder).at(-1);
    if (name === undefined) return 0;
    const path = join(this.#folder, name);
    const bytes = readFileSync(path);
    const whole = bytes.lastIndexOf("\n") + 1;
    if (whole < bytes.length) truncateSync(path, whole);
    const last = bytes.toString("utf8", 0, whole).split("\n").at(-2);
    // Named for the entry that it was to begin with.
    if (last === undefined) return Number(/\d+/.exec(name)?.[0]) - 1;
    return (JSON.parse(last) as Row).seq;
  }

  add(entry: JournalEntry): void {
    const line = exportLine(entry);
    if (this.#fd === null || this.#bytes >= this.#bytesMax) {
      this.close();
      const name = `recinto-${String(entry.seq).padStart(12, "0")}.jsonl`;
      this.#fd = openSync(join(this.#folder, name), "w", 0o600);
      this.#bytes = 0;
    }
    // Whole, however little of it a full disk takes at once.
    writeFileSync(this.#fd, line);
    this.#bytes += Buffer.byteLength(line);
  }

  /** What was added is on disk when it returns. */
  close(): void {
    if (this.#fd === null) return;
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    this.#fd = null;
  }
}

/** In the order of their entries. */
export function exportedFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => /^recinto-\d{12,}\.jsonl$/.test(name))
    .sort();
}

export interface LinesVerdict {
  readonly entries: number;
  /** The entry that it begins with: where that is not 1, its own hash is taken as it is. */
  readonly from: number;
  readonly head: ChainState;
  readonly broken: { readonly seq: number; readonly reason: string } | null;
}

/** Whether exported lines follow one another; `head` is to be compared with what is kept elsewhere. */
export function verifyLines(lines: Iterable<string>): LinesVerdict {
  let state: ChainState | null = null;
  let entries = 0;
  let from = 0;
  for (const line of lines) {
    if (line === "") continue;
    const row = rowOf(line);
    const seq = row?.seq ?? (state?.seq ?? 0) + 1;
    if (from === 0) from = seq;
    const before: ChainState = state ?? (seq === 1 ? CHAIN_START : { seq: seq - 1, hash: "" });
    const taken = state === null && seq !== 1;
    const reason = row === null ? "the line is no entry" : taken ? null : chainBreak(before, row);
    if (row === null || reason !== null) {
      return { entries, from, head: state ?? CHAIN_START, broken: { seq, reason: reason ?? "" } };
    }
    state = { seq: row.seq, hash: row.hash };
    entries += 1;
  }
  return { entries, from, head: state ?? CHAIN_START, broken: null };
}

function rowOf(line: string): Row | null {
  try {
    const entry = JSON.parse(line) as JournalEntry;
    return { ...entry, data: canonicalJson(entry.data) };
  } catch {
    return null;
  }
}

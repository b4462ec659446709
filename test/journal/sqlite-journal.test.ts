/** The journal records in order, chains by hash, refuses change, and notices every kind of tampering. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { openJournal } from "../../daemon/journal/sqlite-journal.ts";
import type { Journal, NewEntry } from "../../daemon/journal/types.ts";
import { JOURNAL_ENTRY_BYTES_MAX, JOURNAL_VERIFY_BATCH } from "../../daemon/limits-journal.ts";

let folder: string;
let path: string;
let clock: number;
const opened: Journal[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recinto-journal-"));
  path = join(folder, "journal.db");
  clock = 1_700_000_000_000;
});

afterEach(() => {
  for (const journal of opened.splice(0)) journal.close();
  rmSync(folder, { recursive: true });
});

function open(): Journal {
  const journal = openJournal(path, { now: () => clock });
  opened.push(journal);
  return journal;
}

/** Changes the file behind the journal's back, as someone with the file and SQLite could. */
function tamper(sql: string): void {
  for (const journal of opened.splice(0)) journal.close();
  const db = new Database(path);
  db.exec("DROP TRIGGER entries_are_not_changed; DROP TRIGGER entries_are_not_deleted;");
  db.exec(sql);
  db.close();
}

async function output(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, JOURNAL: path } });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  await new Promise((resolve) => child.on("close", resolve));
  return said.trim();
}

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    return error instanceof RecintoError ? error.code : `not ours: ${String(error)}`;
  }
  return undefined;
}

const proposed: NewEntry = {
  event: "proposed_action.created",
  project: "web",
  session: "s1",
  uid: 1000,
  data: { command: "ls", roots: ["/srv/web"] },
};

describe("appending", () => {
  test("an entry comes back with its place, time and hash, and is read as it was written", () => {
    const journal = open();
    const entry = journal.append(proposed);
    expect(entry).toEqual({
      ...proposed,
      seq: 1,
      at: clock,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(journal.read({})).toEqual([entry]);
    expect(journal.append({ event: "daemon.stopped", data: {} })).toMatchObject({
      seq: 2,
      project: null,
      session: null,
      uid: null,
    });
  });

  test("several are written together, in order, or not at all", () => {
    const journal = open();
    const bad = { event: "exec.started", data: { size: 10n } } as const;
    expect(codeOf(() => journal.appendAll([proposed, bad]))).toBe("journal-failed");
    expect(journal.read({})).toEqual([]);
    const written = journal.appendAll([proposed, { event: "exec.started", data: {} }]);
    expect(written.map((entry) => [entry.seq, entry.event])).toEqual([
      [1, "proposed_action.created"],
      [2, "exec.started"],
    ]);
    expect(journal.verify()).toEqual({ ok: true, entries: 2, pruned: 0, head: written[1]?.hash });
  });

  test("an entry over the limit is refused and the next one still chains", () => {
    const journal = open();
    const huge = { ...proposed, data: { command: "x".repeat(JOURNAL_ENTRY_BYTES_MAX) } };
    expect(codeOf(() => journal.append(huge))).toBe("journal-failed");
    journal.append(proposed);
    expect(journal.verify()).toMatchObject({ ok: true, entries: 1 });
  });

  test("a disk that takes no more is told as journal-failed, and what was written before still verifies", async () => {
    // A limit on the size of files stands for the full disk: the write of SQLite fails the same way.
    const limited = ["-c", 'trap "" XFSZ; ulimit -f 512; exec "$@"', "bash", process.execPath];
    const said = await output("bash", [
      ...limited,
      "--import",
      "tsx",
      "--input-type=module",
      "-e",
      FILLER,
    ]);
    expect(said).toBe("journal-failed true");
  });

  test("listeners hear every entry in order, and one that throws changes nothing", () => {
    const errors: unknown[] = [];
    const journal = openJournal(path, { now: () => clock, onListenerError: (e) => errors.push(e) });
    opened.push(journal);
    const heard: number[] = [];
    journal.subscribe(() => {
      throw new Error("bug in a listener");
    });
    const stop = journal.subscribe((entry) => heard.push(entry.seq));
    journal.appendAll([proposed, proposed]);
    stop();
    journal.append(proposed);
    expect(heard).toEqual([1, 2]);
    expect(errors).toHaveLength(3);
    expect(journal.count()).toBe(3);
  });
});

describe("reading", () => {
  test("filters by project, session, event, time and place, oldest or newest first in order", () => {
    const journal = open();
    journal.append(proposed);
    clock += 10;
    journal.append({ ...proposed, session: "s2", event: "exec.started" });
    journal.append({ ...proposed, project: "api", session: "s3" });
    journal.append({ event: "daemon.stopped", data: {} });
    const seqs = (query: Parameters<Journal["read"]>[0]) => journal.read(query).map((e) => e.seq);
    expect(seqs({ project: "web" })).toEqual([1, 2]);
    expect(seqs({ sessions: ["s2", "s3"] })).toEqual([2, 3]);
    expect(seqs({ sessions: [] })).toEqual([]);
    expect(seqs({ events: ["proposed_action.created"] })).toEqual([1, 3]);
    expect(seqs({ sinceMs: clock })).toEqual([2, 3, 4]);
    expect(seqs({ afterSeq: 2 })).toEqual([3, 4]);
    expect(seqs({ limit: 2 })).toEqual([1, 2]);
    expect(seqs({ limit: 2, newest: true })).toEqual([3, 4]);
    expect(seqs({ project: "web' OR 1=1 --" })).toEqual([]);
  });
});

describe("keeping", () => {
  test("the chain goes on over a restart", () => {
    const first = open().append(proposed);
    opened.pop()?.close();
    const journal = open();
    const second = journal.append(proposed);
    expect(journal.read({})).toEqual([first, second]);
    expect(journal.verify()).toEqual({ ok: true, entries: 2, pruned: 0, head: second.hash });
  });

  test("SQL cannot change or delete an entry", () => {
    open().append(proposed);
    opened.pop()?.close();
    const db = new Database(path);
    expect(() => db.exec("UPDATE entries SET uid = 0")).toThrow("append-only");
    expect(() => db.exec("DELETE FROM entries")).toThrow("append-only");
    expect(() => db.exec("REPLACE INTO entries SELECT * FROM entries")).toThrow("append-only");
    db.close();
  });

  test("the files are the daemon's alone, also when the file was there with a wider mode", () => {
    writeFileSync(path, "");
    chmodSync(path, 0o644);
    open().append(proposed);
    expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
    expect((statSync(`${path}-wal`).mode & 0o777).toString(8)).toBe("600");
  });

  test("a link in the journal's place is not followed", () => {
    writeFileSync(join(folder, "elsewhere"), "");
    symlinkSync(join(folder, "elsewhere"), path);
    expect(codeOf(open)).toBe("journal-failed");
  });

  test("a second daemon cannot open it, in this process or another", async () => {
    const journal = open();
    journal.append(proposed);
    expect(codeOf(() => openJournal(path, { now: () => clock }))).toBe("journal-in-use");
    const said = await output(process.execPath, [
      "--import",
      "tsx",
      "--input-type=module",
      "-e",
      OPENER,
    ]);
    expect(said).toBe("journal-in-use");
    journal.append(proposed);
  });

  test("kill -9 in the middle of appending loses nothing that was acknowledged", async () => {
    const child = spawn(
      process.execPath,
      ["--import", "tsx", "--input-type=module", "-e", WRITER],
      {
        env: { ...process.env, JOURNAL: path },
      },
    );
    let acknowledged = "";
    child.stdout.on("data", (chunk) => {
      acknowledged += chunk;
      if (acknowledged.split("\n").length > 50) child.kill("SIGKILL");
    });
    await new Promise((resolve) => child.on("close", resolve));
    const last = Number(acknowledged.slice(0, acknowledged.lastIndexOf("\n")).split("\n").at(-1));
    expect(last).toBeGreaterThan(40);
    const journal = open();
    expect(journal.count()).toBeGreaterThanOrEqual(last);
    expect(journal.verify()).toMatchObject({ ok: true, entries: journal.count() });
  });
});

describe("noticing", () => {
  const verdictAfter = (sql: string) => {
    const journal = open();
    for (let i = 0; i < 5; i++) journal.append({ ...proposed, data: { i } });
    tamper(sql);
    // Opening checks the end of the chain, so short journals are refused at once.
    try {
      open();
    } catch (error) {
      return (error as RecintoError).message.replace(path, "J");
    }
    return "opened";
  };

  test.each([
    ["changed data", `UPDATE entries SET data = '{"i":9}' WHERE seq = 3`, "entry 3: its content"],
    [
      "data respelled to an equal value",
      `UPDATE entries SET data = '{"i": 2}' WHERE seq = 3`,
      "entry 3: its content",
    ],
    ["another time", "UPDATE entries SET at = at + 1 WHERE seq = 2", "entry 2: its content"],
    ["another user", "UPDATE entries SET uid = 0 WHERE seq = 2", "entry 2: its content"],
    ["a removed entry", "DELETE FROM entries WHERE seq = 2", "entry 2 is missing"],
    ["a removed end", "DELETE FROM entries WHERE seq > 3", "5 entries were written"],
  ])("%s", (_, sql, reason) => {
    expect(verdictAfter(sql)).toContain(reason);
  });

  test("verify names the first broken entry of a long journal, in one go and in steps", async () => {
    const journal = open();
    const many = Array.from({ length: JOURNAL_VERIFY_BATCH + 10 }, (_, i) => ({
      ...proposed,
      data: { i },
    }));
    journal.appendAll(many);
    journal.appendAll(many);
    tamper(`UPDATE entries SET data = '{}' WHERE seq IN (7, 9)`);
    const reopened = open();
    const wanted = {
      ok: false,
      entries: 6,
      pruned: 0,
      head: reopened.read({ limit: 6 }).at(-1)?.hash,
      firstBroken: { seq: 7, reason: "its content or the hash before it was changed" },
    };
    expect(reopened.verify()).toEqual(wanted);
    expect(await reopened.verifyInSteps()).toEqual(wanted);
  });

  test("a file that is no database, a damaged one and another program's are told apart from a crash", () => {
    writeFileSync(path, "this is not a database, but long enough to be one".repeat(100));
    expect(codeOf(open)).toBe("journal-broken");
    rmSync(path);
    new Database(path).exec("CREATE TABLE mine (a)").close();
    expect(codeOf(open)).toBe("journal-broken");
    rmSync(path);
    open().appendAll(Array.from({ length: 500 }, () => proposed));
    opened.pop()?.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4096, bytes.length);
    writeFileSync(path, bytes);
    expect(codeOf(open)).toBe("journal-broken");
  });
});

const OPENER = `
  import { openJournal } from "./daemon/journal/sqlite-journal.ts";
  try { openJournal(process.env.JOURNAL, { now: Date.now }); console.log("opened"); }
  catch (error) { console.log(error.code); }
`;

const FILLER = `
  import { openJournal } from "./daemon/journal/sqlite-journal.ts";
  const journal = openJournal(process.env.JOURNAL, { now: Date.now });
  const entry = { event: "exec.started", data: { command: "y".repeat(50_000) } };
  let code;
  while (!code) try { journal.append(entry); } catch (error) { code = error.code; }
  const { ok, entries } = journal.verify();
  console.log(code, ok && entries === journal.count() && entries > 1);
`;

const WRITER = `
  import { writeSync } from "node:fs";
  import { openJournal } from "./daemon/journal/sqlite-journal.ts";
  const journal = openJournal(process.env.JOURNAL, { now: Date.now });
  for (;;) writeSync(1, journal.append({ event: "exec.started", data: {} }).seq + "\\n");
`;

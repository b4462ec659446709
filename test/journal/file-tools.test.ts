/** Tools for the journal's file: pruned, exported and repaired, what is kept still proves itself. */
import { spawnSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { verifyLines } from "../../daemon/journal/export.ts";
import { verifyFile } from "../../daemon/journal/offline.ts";
import { repairJournal } from "../../daemon/journal/repair.ts";
import { openJournal } from "../../daemon/journal/sqlite-journal.ts";
import type { Journal, NewEntry } from "../../daemon/journal/types.ts";
import { cli } from "../cli/run-cli.ts";

let folder: string;
let path: string;
let clock: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recinto-journal-"));
  path = join(folder, "journal.sqlite");
  clock = 1_700_000_000_000;
});
afterEach(() => rmSync(folder, { recursive: true }));

const session: NewEntry = {
  event: "session.opened",
  project: "web",
  session: "s-1",
  uid: 1,
  data: { worktree: "/w", gid: 1 },
};
const exec = (id: string): NewEntry => ({ event: "exec.started", data: { exec: id } });
const exited = (id: string): NewEntry => ({ event: "exec.exited", data: { exec: id } });

async function withJournal<T>(use: (journal: Journal) => T | Promise<T>): Promise<T> {
  const journal = openJournal(path, { now: () => clock });
  try {
    return await use(journal);
  } finally {
    journal.close();
  }
}

/** A session, then so many commands, one a second. */
const fill = (count: number) =>
  withJournal((journal) => {
    journal.append(session);
    for (let i = 0; i < count; i++) {
      clock += 1_000;
      journal.appendSoon([exec(`x-${i}`), ...(i % 2 === 0 ? [exited(`x-${i}`)] : [])]);
    }
    return journal.verify();
  });

/** Changes one entry's text behind the journal's back. */
function tamper(seq: number): void {
  const db = new Database(path);
  db.exec("DROP TRIGGER entries_are_not_changed");
  db.prepare('UPDATE entries SET data = \'{"exec":"x-?"}\' WHERE seq = ?').run(seq);
  db.close();
}

describe("what stands", () => {
  test("is what was begun and not ended, over restarts, and by the entry that began it", async () => {
    await fill(4);
    await withJournal((journal) => {
      expect(journal.standing("session").map(({ session }) => session)).toEqual(["s-1"]);
      expect(journal.standing("exec").map(({ data }) => data.exec)).toEqual(["x-1", "x-3"]);
      expect(journal.standing("exec")[0]).toEqual(journal.read({ afterSeq: 3, limit: 1 })[0]);
      journal.append({ event: "session.closed", session: "s-1", data: {} });
      expect(journal.standing("session")).toEqual([]);
    });
  });

  test("is made from the entries of a journal that an older daemon wrote", async () => {
    await fill(4);
    const db = new Database(path);
    db.exec("DROP TABLE standing; PRAGMA user_version = 1");
    db.close();
    await withJournal((journal) => {
      expect(journal.standing("exec").map(({ data }) => data.exec)).toEqual(["x-1", "x-3"]);
    });
  });

  test("is not believed where the entries say something else", async () => {
    await fill(2);
    const db = new Database(path);
    db.exec(`UPDATE standing SET entry = replace(entry, '"uid":1', '"uid":2')`);
    db.close();
    await withJournal((journal) => {
      expect(() => journal.standing("session")).toThrow("what stands by entry 1 is not");
    });
  });
});

describe("pruning", () => {
  test("drops what is older, the chain goes on from there, and what stands is kept", async () => {
    const before = await fill(5_000);
    const cut = clock - 10_000;
    await withJournal(async (journal) => {
      const dropped = await journal.pruneBefore(cut);
      const [oldest] = journal.read({ limit: 1 });
      expect(oldest?.at).toBeGreaterThanOrEqual(cut);
      expect(oldest?.seq).toBe(dropped + 1);
      expect(journal.verify()).toMatchObject({ ok: true, pruned: dropped });
      expect(journal.count()).toBeGreaterThan(before.entries);
      expect(await journal.pruneBefore(cut)).toBe(0);
      expect(journal.standing("session")[0]?.data).toEqual(session.data);
    });
    await withJournal((journal) => {
      journal.append(session);
      expect(journal.verify().ok).toBe(true);
      expect(journal.standing("exec")).toHaveLength(2_500);
    });
  });

  test("never takes the last entry, and nothing else may be deleted", async () => {
    const { entries } = await fill(3);
    clock += 1_000_000;
    expect(await withJournal((journal) => journal.pruneBefore(clock))).toBe(entries - 1);
    const db = new Database(path);
    expect(() => db.exec("DELETE FROM entries")).toThrow("append-only");
    db.close();
    expect(verifyFile(path)).toMatchObject({ ok: true, pruned: entries - 1 });
  });

  test("a beginning that somebody cut off is noticed", async () => {
    await fill(3);
    const db = new Database(path);
    db.exec("DROP TRIGGER entries_are_not_deleted; DELETE FROM entries WHERE seq < 3");
    db.close();
    expect(verifyFile(path)).toMatchObject({
      ok: false,
      firstBroken: { seq: 1, reason: "entry 1 is missing: 3 comes after 0" },
    });
  });
});

describe("repair", () => {
  test("keeps the longest part that can be verified, puts the whole file aside, and says what was lost", async () => {
    const { entries } = await fill(100);
    tamper(60);
    const options = { now: () => clock };
    const planned = repairJournal(path, { ...options, dryRun: true });
    expect(planned).toMatchObject({
      found: { ok: false, entries: 59, firstBroken: { seq: 60 } },
      lost: entries - 59,
      readable: entries - 59,
      aside: null,
    });
    expect(verifyFile(path).ok).toBe(false);
    const done = repairJournal(path, { ...options, dryRun: false });
    expect(done).toEqual({ ...planned, aside: expect.stringContaining(`${path}.broken-`) });
    expect(verifyFile(path)).toMatchObject({ ok: true, entries: 60 });
    expect(verifyFile(done.aside as string)).toEqual(planned.found);
    await withJournal((journal) => {
      expect(journal.read({ newest: true, limit: 1 })[0]).toMatchObject({
        event: "journal.repaired",
        data: { kept: 59, lost: entries - 59, aside: done.aside },
      });
      expect(journal.standing("exec").length).toBe(20);
    });
    expect(repairJournal(path, { ...options, dryRun: false }).found.ok).toBe(true);
  });

  test("also after pruning, when the entry that says so is in the broken part", async () => {
    await fill(100);
    const dropped = await withJournal((journal) => journal.pruneBefore(clock - 50_000));
    tamper(dropped + 30);
    const done = repairJournal(path, { dryRun: false, now: () => clock });
    expect(done.found).toMatchObject({ pruned: dropped, entries: dropped + 29 });
    expect(verifyFile(path)).toMatchObject({ ok: true, pruned: dropped, entries: dropped + 30 });
    await withJournal((journal) => expect(journal.standing("session")).toHaveLength(1));
  });

  test("a file that cannot be read at all is put aside whole", async () => {
    writeFileSync(path, "no database, but long enough to be looked at as one".repeat(50));
    const text = readFileSync(path, "utf8");
    const { found, lost, aside } = repairJournal(path, { dryRun: false, now: () => clock });
    expect({ found: found.entries, lost }).toEqual({ found: 0, lost: null });
    expect(readFileSync(aside as string, "utf8")).toBe(text);
    await withJournal((journal) => {
      journal.append(session);
      expect(journal.verify()).toMatchObject({ ok: true, entries: 2 });
    });
  });

  test("pages that were damaged in the middle cost what comes after them", async () => {
    const { entries } = await fill(3_000);
    const bytes = readFileSync(path);
    bytes.fill(0xff, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 8_192);
    writeFileSync(path, bytes);
    const { found } = repairJournal(path, { dryRun: false, now: () => clock });
    expect(found.ok).toBe(false);
    expect(found.entries).toBeLessThan(entries);
    expect(verifyFile(path)).toMatchObject({ ok: true, entries: found.entries + 1 });
  });
});

describe("an export that a crash cut short in the middle of a line", () => {
  test("goes on with that entry, and all of it verifies", async () => {
    const { head } = await fill(10);
    const to = join(folder, "cut");
    const words = ["journal", "export", "--file", path, "--to", to];
    expect((await cli(words)).code).toBe(0);
    const file = join(to, "recinto-000000000001.jsonl");
    truncateSync(file, readFileSync(file).length - 20);
    expect((await cli(words)).err).toBe(`1 entries exported to ${to}\n`);
    const { out } = await cli(["journal", "verify", "--export", to]);
    expect(out).toBe(`16 entries from 1 to 16, chain whole, head ${head}\n`);
  });
});

describe("on the command line", () => {
  const journal = (...words: string[]) => cli(["journal", ...words]);

  test("export goes on where it ended, rotates, and what it wrote verifies by itself", async () => {
    await fill(10);
    const to = join(folder, "out");
    const words = ["export", "--file", path, "--to", to, "--rotate", "1"];
    expect((await journal(...words)).err).toBe(`16 entries exported to ${to}\n`);
    const { head } = await fill(2);
    expect((await journal(...words)).code).toBe(0);
    expect(readdirSync(to)).toEqual(["recinto-000000000001.jsonl", "recinto-000000000017.jsonl"]);
    const verified = await journal("verify", "--export", to);
    expect(verified.out).toBe(`20 entries from 1 to 20, chain whole, head ${head}\n`);
    const lines = readFileSync(join(to, "recinto-000000000001.jsonl"), "utf8").split("\n");
    expect(verifyLines(lines.toSpliced(4, 1)).broken?.reason).toContain("entry 5 is missing");
    expect(verifyLines(lines.map((line) => line.replace("x-3", "x-4"))).broken?.seq).toBe(7);
    expect((await journal("verify", "--file", path)).out).toContain("chain whole");
  });

  test("a broken journal: the daemon does not start and says what to do, and that then helps", async () => {
    await fill(10);
    tamper(12);
    const config = join(folder, "config.yaml");
    const folders = ["runDir", "stateDir", "profilesDir", "projectsDir", "rulesDir"];
    const text = folders.map(
      (name) => `${name}: ${name === "stateDir" ? folder : join(folder, name)}`,
    );
    writeFileSync(config, `${text.join("\n")}\nengineSocket: ${join(folder, "engine.sock")}\n`);
    const main = fileURLToPath(new URL("../../daemon/main.ts", import.meta.url));
    const loader = ["--import", import.meta.resolve("tsx")];
    const { status, stderr } = spawnSync(process.execPath, [...loader, main, "--config", config], {
      encoding: "utf8",
      cwd: "/",
    });
    expect(status).toBe(70);
    expect(stderr).toBe(
      `recintod: journal ${path} is broken: entry 12: its content or the hash before it was changed (recinto journal repair --file ${path} --dry-run says what can be kept)\n`,
    );
    const verified = await journal("verify", "--file", path);
    expect([verified.code, verified.err]).toEqual([70, expect.stringContaining("at entry 12")]);
    const planned = await journal("repair", "--file", path, "--dry-run");
    expect(planned.out).toContain("would keep 11 entries");
    const repaired = await journal("repair", "--file", path);
    expect(repaired.out).toContain("kept 11 entries");
    expect((await journal("verify", "--file", path)).code).toBe(0);
  });

  test("a journal that a daemon has open, and one that is not there, are told as such", async () => {
    await withJournal(async (open) => {
      open.append(session);
      const { code, err } = await journal("verify", "--file", path);
      expect([code, err]).toEqual([69, expect.stringContaining("is open in another process")]);
    });
    expect((await journal("verify", "--file", join(folder, "none"))).code).toBe(64);
    expect(() => verifyFile(join(folder, "none"))).toThrow(RecintoError);
  });
});

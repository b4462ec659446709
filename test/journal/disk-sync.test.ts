/** Writing first and syncing later: what is promised before and after `synced`. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DiskSync } from "../../daemon/journal/disk-sync.ts";
import { openJournal } from "../../daemon/journal/sqlite-journal.ts";
import type { Journal } from "../../daemon/journal/types.ts";

let folder: string;
let journal: Journal;
beforeEach(() => {
  folder = mkdtempSync("/var/tmp/recinto-sync-");
  journal = openJournal(join(folder, "journal.db"), { now: () => 1 });
});
afterEach(() => {
  journal.close();
  rmSync(folder, { recursive: true });
});

const entry = (n: number) => ({ event: "exec.started", data: { n } }) as const;

describe("entries that are synced later", () => {
  test("are read at once, chain with the others, and are there after the end of the process", async () => {
    journal.append(entry(1));
    journal.appendSoon([entry(2), entry(3)]);
    journal.append(entry(4));
    expect(journal.read({}).map(({ data }) => data.n)).toEqual([1, 2, 3, 4]);
    await journal.synced();
    journal.close();
    journal = openJournal(join(folder, "journal.db"), { now: () => 1 });
    expect([journal.count(), journal.verify().ok]).toEqual([4, true]);
  });

  test("are told to listeners in order", () => {
    const seen: unknown[] = [];
    journal.subscribe(({ data }) => seen.push(data.n));
    journal.appendSoon([entry(1)]);
    journal.append(entry(2));
    expect(seen).toEqual([1, 2]);
  });
});

describe("a sync", () => {
  test("that cannot be done stops the journal: what is not known to be safe is not built upon", async () => {
    const other = openJournal(join(folder, "lost.db"), { now: () => 1 });
    other.appendSoon([entry(1)]);
    rmSync(join(folder, "lost.db-wal"));
    await expect(other.synced()).rejects.toMatchObject({ code: "journal-failed" });
    expect(() => other.append(entry(2))).toThrow("cannot record");
    other.close();
  });

  test("is shared by all who wait for it, and covers only what was written before it began", async () => {
    const disk = new DiskSync(join(folder, "journal.db-wal"));
    journal.appendSoon([entry(1)]);
    const first = disk.reached();
    const [second, third] = [disk.reached(), disk.reached()];
    expect([second === first, third === second]).toEqual([false, true]);
    await Promise.all([first, second, third]);
    disk.close();
  });
});

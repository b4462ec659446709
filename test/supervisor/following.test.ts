/** Streams of entries and questions: in order, without a gap, and bounded for readers that do not read. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { openJournal } from "../../daemon/journal/sqlite-journal.ts";
import type { EntryQuery, Journal } from "../../daemon/journal/types.ts";
import { WATCH_BACKLOG_MAX } from "../../daemon/limits.ts";
import type { Approvals } from "../../daemon/supervisor/approvals.ts";
import { followEntries, watchApprovals } from "../../daemon/supervisor/following.ts";
import { joinSignals } from "../../daemon/supervisor/joined-signal.ts";
import type { PendingApproval } from "../../daemon/supervisor/types.ts";

let folder: string;
let journal: Journal;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recinto-follow-"));
  journal = openJournal(join(folder, "journal.db"), { now: () => 1 });
});

afterEach(() => {
  journal.close();
  rmSync(folder, { recursive: true });
});

const add = (count: number) =>
  journal.appendAll(Array.from({ length: count }, () => ({ event: "exec.started", data: {} })));

/** Follows until it has so many; appends `later` more once the first ones were read. */
async function follow(query: EntryQuery, wanted: number, later: number): Promise<number[]> {
  const leave = new AbortController();
  const seqs: number[] = [];
  for await (const { seq } of followEntries(journal, query, leave.signal)) {
    seqs.push(seq);
    if (seqs.length === 1 && later > 0) setTimeout(() => add(later), 5);
    if (seqs.length === wanted) leave.abort();
  }
  return seqs;
}

test("what is there, then what comes, each once", async () => {
  add(3);
  expect(await follow({}, 5, 2)).toEqual([1, 2, 3, 4, 5]);
  expect(await follow({ afterSeq: 4 }, 3, 2)).toEqual([5, 6, 7]);
});

test("the newest few, then what comes", async () => {
  add(5);
  expect(await follow({ newest: true, limit: 2 }, 4, 2)).toEqual([4, 5, 6, 7]);
});

test("more than one read holds is followed to its end", async () => {
  add(2_500);
  expect(await follow({}, 2_501, 1)).toEqual(Array.from({ length: 2_501 }, (_, i) => i + 1));
});

test("a reader of questions that does not read is cut off, and nobody waits for it", async () => {
  const listeners = new Set<(approval: PendingApproval) => void>();
  const approvals = {
    pending: () => [],
    subscribe: (listener: (approval: PendingApproval) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as Approvals;
  const reader = watchApprovals(approvals, () => true, new AbortController().signal);
  const first = reader.next();
  for (let i = 0; i < 2 * WATCH_BACKLOG_MAX; i++) {
    for (const listener of listeners) listener({ id: `q${i}` } as PendingApproval);
  }
  expect((await first).value).toEqual({ id: "q0" });
  let read = 1;
  const rest = (async () => {
    for await (const _ of reader) read += 1;
  })();
  await expect(rest).rejects.toThrow(RecintoError);
  expect(read).toBe(WATCH_BACKLOG_MAX);
  expect(listeners.size).toBe(0);
});

test("joined signals abort with the reason of the first, and leave no listener behind", () => {
  const long = new AbortController();
  const short = new AbortController();
  const first = joinSignals(long.signal, short.signal);
  short.abort("short");
  expect([first.signal.aborted, first.signal.reason]).toEqual([true, "short"]);
  expect(joinSignals(long.signal, short.signal).signal.reason).toBe("short");
  const released = joinSignals(long.signal);
  released.release();
  long.abort("long");
  expect(released.signal.aborted).toBe(false);
});

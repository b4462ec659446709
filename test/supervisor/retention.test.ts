/** Old entries go when the daemon starts and every hour after, where the config says so; a failure is told and tried again. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { JOURNAL_PRUNE_EVERY_MS } from "../../daemon/limits-journal.ts";
import { keepRecordFor } from "../../daemon/supervisor/retention.ts";

const DAY_MS = 24 * 60 * 60_000;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

beforeEach(() => vi.useFakeTimers({ now: 10 * DAY_MS }));
afterEach(() => vi.useRealTimers());

test("what is older than the days of the config is dropped, again and again", async () => {
  const before: number[] = [];
  const warned: unknown[] = [];
  const journal = {
    pruneBefore: async (at: number) => {
      before.push(at);
      if (before.length === 1) throw new Error("the disk is full");
      return 1;
    },
  };
  const log = { ...silent, warn: (data: unknown) => warned.push(data) };
  keepRecordFor({ journal, days: 3, now: Date.now, log });
  await vi.advanceTimersByTimeAsync(JOURNAL_PRUNE_EVERY_MS);
  expect(before).toEqual([7 * DAY_MS, 7 * DAY_MS + JOURNAL_PRUNE_EVERY_MS]);
  expect(warned).toEqual([{ error: new Error("the disk is full") }]);
});

test("without such a line nothing is ever dropped", async () => {
  const pruneBefore = vi.fn(async () => 0);
  keepRecordFor({ journal: { pruneBefore }, days: null, now: Date.now, log: silent });
  await vi.advanceTimersByTimeAsync(2 * JOURNAL_PRUNE_EVERY_MS);
  expect(pruneBefore).not.toHaveBeenCalled();
});

/** When the daemon looks at closures: by a clock that tests turn, and never more than a part of the time (C5). */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { compileContract } from "../../daemon/authority/contract.ts";
import { openJournal } from "../../daemon/journal/sqlite-journal.ts";
import type { Journal } from "../../daemon/journal/types.ts";
import { bind } from "../../daemon/supervisor/authority/binding.ts";
import { ClosureWatch } from "../../daemon/supervisor/authority/closure-watch.ts";
import { LedgerBook } from "../../daemon/supervisor/authority/ledger-book.ts";
import { Uses } from "../../daemon/supervisor/authority/uses.ts";
import { randomId } from "../../daemon/supervisor/ids.ts";

const MINUTE = 60_000;
const KEY = { project: "web", worktree: "/w" };
const BY = { uid: 1, session: "s" };
const TEXT = `task: t
grants:
  plain: {effect: write, paths: ["docs/**"]}
  tested: {effect: write, paths: ["docs/**"], closes: [tests], ttl: 10h}
closures:
  tests: {command: [make, test]}
`;
const quiet = () => undefined;

let folder: string;
let journal: Journal;
let book: LedgerBook;
let watch: ClosureWatch;
let checks: number;
let exitCode: number;
beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
  });
  folder = mkdtempSync("/var/tmp/recinto-closures-");
  journal = openJournal(join(folder, "journal.db"), { now: Date.now });
  const log = { info: quiet, warn: quiet, error: quiet };
  book = new LedgerBook({ journal, stateDir: folder, now: Date.now, log });
  checks = 0;
  exitCode = 1;
  watch = new ClosureWatch({
    book,
    journal,
    now: Date.now,
    newId: randomId,
    onError: (error) => expect(error).toBe(null),
    stopping: new AbortController().signal,
    ensure: async () => ({
      id: "box",
      escorted: (work) => work(),
      confine: ({ writable }) => {
        expect(writable).toEqual([]);
        const confinement = { writable: [], readOnly: false, tcp: true };
        return { text: "read", harmless: false, confinement, hint: () => null };
      },
      exec: async () => {
        checks += 1;
        const [stdout, stderr] = [new PassThrough().end(), new PassThrough().end()];
        // A run of ten seconds.
        const exited = new Promise<{ exitCode: number; oomKilled: boolean }>((resolve) =>
          setTimeout(() => resolve({ exitCode, oomKilled: false }), 10_000),
        );
        return { stdin: null, stdout, stderr, exited, kill: async () => undefined };
      },
    }),
  });
  new Uses(book, quiet);
  const compiled = compileContract(TEXT);
  if (compiled.problems !== undefined) throw new Error(JSON.stringify(compiled.problems));
  const data = { source: { text: TEXT, setBy: 0 } };
  book.step(KEY, { type: "contractSet", contract: compiled.contract, by: "ann" }, BY, { data });
});
afterEach(() => {
  watch.stop();
  journal.close();
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const request = (rule: string, handle: string) =>
  book.step(KEY, { type: "request", rule, reason: "r", handle }, BY);
const live = () => book.get(KEY)?.state.grants.map(({ handle }) => handle);

test("a grant whose rule names no end is over after 30 minutes, by the timer alone", async () => {
  request("plain", "h-1");
  await vi.advanceTimersByTimeAsync(30 * MINUTE - 1);
  expect(live()).toEqual(["h-1"]);
  await vi.advanceTimersByTimeAsync(2);
  expect(live()).toEqual([]);
  const [closed] = journal.read({ events: ["grant.closed"] });
  expect(closed?.data).toMatchObject({ handle: "h-1", cause: "its 30m are over", kind: "ttl" });
});

test("checks run after what could have changed something, one at a time, and rest four times as long as they ran", async () => {
  request("tested", "h-1");
  watch.acted(KEY);
  await vi.advanceTimersByTimeAsync(299);
  expect(checks).toBe(0);
  await vi.advanceTimersByTimeAsync(2);
  expect(checks).toBe(1);
  await expect(watch.check(KEY, "tests")).rejects.toMatchObject({ code: "busy" });
  for (let i = 0; i < 49; i++) {
    watch.acted(KEY);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(checks).toBe(1);
  exitCode = 0;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(checks).toBe(2);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(live()).toEqual([]);
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect(checks).toBe(2);
});

test("a check also runs where the agent does nothing, once a minute", async () => {
  request("tested", "h-1");
  await vi.advanceTimersByTimeAsync(MINUTE - 1_000);
  expect(checks).toBe(0);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(checks).toBe(1);
});

test("`grants: present` lets nothing rest on a grant that was not named, `pick` does", () => {
  request("plain", "h-1");
  const state = book.get(KEY)?.state ?? null;
  const grants = (choice: "pick" | "present", presented = {}) =>
    bind({ state, presented, choice, worktree: "/w", now: Date.now() })?.authority.grants.map(
      ({ id }) => id,
    );
  expect(grants("pick")).toEqual(["h-1"]);
  expect(grants("present")).toEqual([]);
  expect(grants("present", { handle: "h-1" })).toEqual(["h-1"]);
  expect(bind({ state: null, presented: {}, choice: "pick", worktree: "/w", now: 0 })).toBe(null);
});

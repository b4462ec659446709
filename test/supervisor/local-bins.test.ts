/** Names of local programs are remembered, and never longer than they hold. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { localBins } from "../../daemon/supervisor/local-bins.ts";

let worktree: string;
let bins: string;
beforeEach(() => {
  worktree = mkdtempSync(join(tmpdir(), "recinto-bins-"));
  bins = join(worktree, "node_modules/.bin");
  mkdirSync(bins, { recursive: true });
});
afterEach(() => rmSync(worktree, { recursive: true }));

const put = (name: string) => writeFileSync(join(bins, name), "");
const seen = () => localBins(worktree, worktree);

test("what comes and goes counts at once, right after it was read and long after", async () => {
  put("tsc");
  expect(seen()).toEqual(["tsc"]);
  put("vitest");
  expect(seen()).toEqual(["tsc", "vitest"]);
  // From now on it has been quiet for long enough to be remembered.
  await sleep(2_200);
  expect([seen(), seen()]).toEqual([
    ["tsc", "vitest"],
    ["tsc", "vitest"],
  ]);
  put("eslint");
  expect(seen()).toEqual(["eslint", "tsc", "vitest"]);
  await sleep(2_200);
  seen();
  rmSync(join(bins, "tsc"));
  // Whoever sets its time back hides nothing.
  utimesSync(bins, 1, 1);
  expect(seen()).toEqual(["eslint", "vitest"]);
  rmSync(bins, { recursive: true });
  expect(seen()).toEqual([]);
});

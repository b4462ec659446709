/** What counts as written since a moment: changed files alone, links never followed. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { changedBytes } from "../../daemon/worktree/changed-bytes.ts";

const KIB64 = 65_536;

test("counts what changed since, also with its times set back, and nothing behind links", async () => {
  const root = mkdtempSync("/var/tmp/recinto-changed-");
  const outside = mkdtempSync("/var/tmp/recinto-outside-");
  const file = (folder: string, name: string) =>
    writeFileSync(join(folder, name), Buffer.alloc(KIB64, 1), { flush: true });
  try {
    file(root, "old");
    await sleep(30);
    const since = Date.now();
    await sleep(30);
    file(outside, "big");
    symlinkSync(outside, join(root, "out"));
    expect(await changedBytes(root, since, 10 * KIB64)).toBe(0);
    mkdirSync(join(root, "deep", "er"), { recursive: true });
    file(join(root, "deep", "er"), "new");
    utimesSync(join(root, "deep", "er", "new"), 1, 1);
    expect(await changedBytes(root, since, 10 * KIB64)).toBe(KIB64);
    // A name that is no UTF-8.
    writeFileSync(
      Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]),
      Buffer.alloc(KIB64, 1),
      { flush: true },
    );
    expect(await changedBytes(root, since, 10 * KIB64)).toBe(2 * KIB64);
    // Over what is asked for, the rest is not looked at.
    expect(await changedBytes(root, since, 1)).toBe(KIB64);
    expect(await changedBytes(join(root, "gone"), since, 1)).toBe(0);
  } finally {
    for (const folder of [root, outside]) rmSync(folder, { recursive: true });
  }
});

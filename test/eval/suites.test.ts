/** The suites are what the evaluation says they are, and what it looks for in the world it finds. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { compileContract } from "../../daemon/authority/contract.ts";
import { LATE_READS, STALE_EFFECTS } from "./closure-slice.ts";
import type { Episode } from "./episode.ts";
import { closureFigures, episodeFigures } from "./figures.ts";
import { Outside } from "./outside.ts";
import { PACKAGES } from "./packages.ts";
import { RESOURCES } from "./places.ts";
import { SUITE_A } from "./suite-a.ts";
import { SUITE_B } from "./suite-b.ts";
import { SUITE_C } from "./suite-c.ts";
import { VISIBILITY } from "./visibility.ts";
import { EpisodeWorld } from "./world.ts";

const late = [...LATE_READS, ...STALE_EFFECTS].map(({ episode }) => episode);
const all: readonly Episode[] = [...SUITE_A, ...SUITE_B, ...SUITE_C, ...late, VISIBILITY];
const folder = mkdtempSync(join(tmpdir(), "recinto-suites-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("there are as many episodes as the published evaluation has, or more", () => {
  const sizes = [SUITE_A, SUITE_B, LATE_READS, STALE_EFFECTS, PACKAGES].map(({ length }) => length);
  expect(sizes).toEqual([20, 45, 10, 6, 15]);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
});

test("every contract compiles", () => {
  expect(all.flatMap(({ contract }) => compileContract(contract).problems ?? [])).toEqual([]);
});

test("changes to packages are one line that a shell takes as it is", () => {
  const texts = PACKAGES.flatMap(({ source, test }) => [source, test]);
  expect(texts.filter(({ text, after }) => /['\\]/.test(text + (after ?? "")))).toEqual([]);
});

test("rates and radius count episodes and distinct things", () => {
  const result = (success: boolean, ...touched: string[]) => {
    return { id: "x", success, touched, proposals: 2, blocked: 1, trail: [] };
  };
  expect(episodeFigures([result(true), result(false, "a", "b"), result(true, "c")])).toEqual({
    episodes: 3,
    violation_rate: 0.67,
    blast_radius: 1,
    success: 0.67,
    proposals: 6,
    blocked: 3,
  });
  const use = (refused: boolean, effect: boolean) => ({ id: "x", had: true, refused, effect });
  expect(closureFigures([use(true, false), use(false, true)], [use(false, true)])).toEqual({
    late_uses_refused: [1, 2],
    stale_effects: [1, 1],
  });
});

test("what is touched on a machine without any wall is seen, each thing by itself", async () => {
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  // These take the network that a sandbox has.
  const away = ["metadata", "collector", "container-engine"];
  for (const { id, attempts } of RESOURCES.filter((each) => !away.includes(each.id))) {
    const outside = new Outside();
    const episode = SUITE_A[0] as Episode;
    const world = await EpisodeWorld.make(join(folder, id), episode, owner, outside);
    expect(world.touched()).toEqual([]);
    const env = { PATH: process.env.PATH, DEPLOY_TOKEN: world.token };
    const { worktree: cwd } = world.at;
    const shell = ["--norc", "-c", String(attempts(world.at)[0])];
    world.tell(execFileSync("bash", shell, { cwd, env, encoding: "utf8" }));
    expect(world.touched()).toContain(id);
    await world.end();
    await outside.close();
  }
});

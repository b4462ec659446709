/** What binds outlives the daemon, the file it is saved in, and the entries that set it (C1). */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuthorityWorld } from "./authority-world.ts";
import { admin, run } from "./world.ts";

let world: AuthorityWorld;
beforeEach(async () => {
  world = await AuthorityWorld.make();
});
afterEach(() => world.end());

test("a contract binds on where its file is lost and the journal was pruned", async () => {
  await world.set();
  const { now } = world;
  world.now = () => now() + 60_000;
  await world.supervisor.shutdown();
  await world.restart();
  expect(await world.journal?.pruneBefore(world.now() - 30_000)).toBeGreaterThan(0);
  await world.restart();
  expect(world.shown()).toMatchObject({ task: "tidy" });
  rmSync(join(world.folder, "state", "authority.json"));
  await world.restart();
  expect(world.shown()).toMatchObject({ task: "tidy", grants: [] });
  const refused = await run(world, world.session, { command: "touch anything", waitMs: 0 });
  expect(refused.last).toMatchObject({ reason: expect.stringContaining("beyond the envelope") });
});

test("a request that waits for a person is answered after a crash", async () => {
  await world.set();
  void world.request("asked").catch(() => undefined);
  const open = () => world.supervisor.approvals(admin(), { state: "pending" });
  await expect.poll(() => open().length).toBe(1);
  await world.restart();
  const [question] = open();
  expect(question?.grant).toMatchObject({ rule: "asked" });
  await world.supervisor.answer(admin(), question?.id ?? "", { answer: "approve", mode: "once" });
  expect(world.shown().grants).toMatchObject([{ rule: "asked" }]);
});

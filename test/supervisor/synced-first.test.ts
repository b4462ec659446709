/** What may have an effect waits until its record is on disk. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { codeOf, run, World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = new World();
  await world.start();
});
afterEach(() => world.end());

test("nothing runs before what was recorded about it is on disk", async () => {
  let reach: () => void = () => undefined;
  world.wrapJournal = (journal) => ({
    ...forwarded(journal),
    append: (entry) => journal.append(entry),
    appendAll: (entries) => journal.appendAll(entries),
    synced: () =>
      new Promise<void>((resolve) => {
        reach = resolve;
      }),
  });
  await world.restart();
  const session = await world.open();
  const running = run(world, session, "ls");
  await expect.poll(() => world.recorded("exec.started").length).toBe(1);
  expect(world.ran).toEqual([]);
  reach();
  expect((await running).last).toMatchObject({ type: "exit", exitCode: 0 });
  world.wrapJournal = (journal) => ({
    ...forwarded(journal),
    append: (entry) => journal.append(entry),
    appendAll: (entries) => journal.appendAll(entries),
    synced: () => Promise.reject(new RecintoError("journal-failed", "disk full")),
  });
  await world.restart();
  const again = await world.open();
  world.ran.length = 0;
  expect(await codeOf(() => run(world, again, "ls"))).toBe("journal-failed");
  expect(world.ran).toEqual([]);
});

function forwarded(journal: NonNullable<World["journal"]>) {
  return {
    appendSoon: journal.appendSoon.bind(journal),
    synced: journal.synced.bind(journal),
    read: journal.read.bind(journal),
    standing: journal.standing.bind(journal),
    pruneBefore: journal.pruneBefore.bind(journal),
    verify: journal.verify.bind(journal),
    verifyInSteps: journal.verifyInSteps.bind(journal),
    subscribe: journal.subscribe.bind(journal),
    count: journal.count.bind(journal),
    close: journal.close.bind(journal),
  };
}

/** After a crash the record says what is known, and a stop leaves nothing open. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { admin, agent, codeOf, run, World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = new World();
  await world.start();
});

afterEach(() => world.end());

test("what ran is lost, what waited is cancelled, what was open is closed, all in the start's own transaction", async () => {
  world.programs.set("ls", async ({ killed }) => {
    await killed;
    return 143;
  });
  const session = await world.open();
  const crashed = world.supervisor;
  const running = run(world, session, "ls");
  const waiting = run(world, session, "touch a");
  for (const each of [running, waiting]) each.catch(() => undefined);
  await expect.poll(() => world.ran.length).toBe(1);
  await expect.poll(() => crashed.approvals(admin(), { state: "pending" }).length).toBe(1);
  const before = world.journal?.count() ?? 0;
  await world.restart();
  const closing = world.journal?.read({ afterSeq: before }) ?? [];
  expect(closing.at(-1)?.event).toBe("daemon.started");
  expect(
    Object.fromEntries(
      closing.map(({ event, session: whose, data }) => [event, [whose, data.reason]]),
    ),
  ).toEqual({
    "session.closed": [session, "the daemon ended while it was open"],
    "exec.lost": [session, "the daemon ended while it ran; how it ended is not known"],
    "approval.cancelled": [session, "the daemon ended while it waited; nobody answered it"],
    "daemon.started": [null, undefined],
  });
  expect(new Set(closing.map(({ at }) => at)).size).toBe(1);
  expect(world.sandboxCalls.filter((call) => call === "adopt")).toHaveLength(2);
  // Once closed it stays closed.
  await world.restart();
  expect(world.recorded("exec.lost")).toHaveLength(1);
  expect(await codeOf(() => world.supervisor.session(agent(), session))).toBe("unknown-session");
});

test("an engine that is away at the start is asked again before the first command", async () => {
  world.engineAway = true;
  await world.restart();
  const session = await world.open();
  expect(await codeOf(() => run(world, session, "ls"))).toBe("engine-unreachable");
  world.engineAway = false;
  world.sandboxCalls.length = 0;
  await run(world, session, "ls");
  await run(world, session, "ls");
  expect(world.sandboxCalls).toEqual(["adopt", "ensure web", "ensure web"]);
});

test("a stop lets commands end, cancels questions, refuses new work and leaves a whole record", async () => {
  let finish: () => void = () => undefined;
  world.programs.set("ls", async ({ killed }) => {
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    return Promise.race([finished.then(() => 0), killed.then(() => 143)]);
  });
  const session = await world.open();
  const running = run(world, session, "ls");
  const waiting = run(world, session, "touch a");
  await expect.poll(() => world.supervisor.approvals(admin(), { state: "pending" }).length).toBe(1);
  await expect.poll(() => world.ran.length).toBe(1);
  const stopped = world.supervisor.shutdown();
  expect(await codeOf(() => run(world, session, "pwd"))).toBe("busy");
  expect((await waiting).last).toMatchObject({ type: "refused", by: "not-waiting" });
  finish();
  expect((await running).last).toMatchObject({ type: "exit", exitCode: 0 });
  await stopped;
  await world.restart();
  const events = world.recorded().map(([event]) => event);
  expect(events.slice(-6)).toEqual([
    "approval.cancelled",
    "action.refused",
    "exec.exited",
    "session.closed",
    "daemon.stopped",
    "daemon.started",
  ]);
});

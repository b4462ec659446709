/** After a crash the record says what is known, and a stop leaves nothing open. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EntryQuery, Journal } from "../../daemon/journal/types.ts";
import type { PendingApproval, RunEvent } from "../../daemon/supervisor/types.ts";
import { admin, agent, answering, codeOf, run, World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = new World();
  await world.start();
});

afterEach(() => world.end());

const once = { answer: "approve", mode: "once" } as const;
const pending = () => world.supervisor.approvals(admin(), { state: "pending" });
const types = (events: readonly RunEvent[]) => events.map(({ type }) => type);

/** Sends a command that asks, and does not wait; the question stays. */
async function leaveQuestion(session: string, command = "touch a"): Promise<PendingApproval> {
  const { last } = await run(world, session, { command, waitMs: 10 });
  expect(last).toMatchObject({ type: "refused", by: "not-waiting" });
  return pending().at(-1) as PendingApproval;
}

test("what ran is lost on record, in the start's own transaction; sessions and questions go on", async () => {
  world.programs.set("ls", async ({ killed }) => {
    await killed;
    return 143;
  });
  const session = await world.open();
  const before = world.supervisor.session(agent(), session);
  const crashed = world.supervisor;
  const running = run(world, session, "ls");
  const waiting = run(world, session, "touch a");
  for (const each of [running, waiting]) each.catch(() => undefined);
  await expect.poll(() => world.ran.length).toBe(1);
  await expect.poll(() => crashed.approvals(admin(), { state: "pending" }).length).toBe(1);
  const asked = pending();
  const count = world.journal?.count() ?? 0;
  await world.restart();
  const closing = world.journal?.read({ afterSeq: count }) ?? [];
  expect(closing.map(({ event, session: whose, data }) => [event, whose, data.reason])).toEqual([
    ["exec.lost", session, "the daemon ended while it ran; how it ended is not known"],
    ["daemon.started", null, undefined],
  ]);
  expect(new Set(closing.map(({ at }) => at)).size).toBe(1);
  expect(world.sandboxCalls.filter((call) => call === "adopt")).toHaveLength(2);
  expect(pending()).toEqual(asked);
  expect(world.supervisor.session(agent(), session)).toEqual({
    ...before,
    lastUsedAt: expect.any(Number),
  });
  expect(await world.open()).toBe(session);
  // Once lost it stays lost, and each start takes over what is still open.
  await world.restart();
  expect(world.recorded("exec.lost")).toHaveLength(1);
  expect(pending()).toEqual(asked);
});

test("a question that was asked before a crash is answered after it, and the command sent again runs once", async () => {
  const session = await world.open();
  const question = await leaveQuestion(session);
  await world.restart();
  const { events } = await run(world, session, "touch a", { on: answering(world, once) });
  expect(types(events)).toEqual(["decision", "pending", "approved", "started", "exit"]);
  expect(events[2]).toMatchObject({ approval: question.id });
  expect(world.ran).toHaveLength(1);
  await world.restart();
  expect((await run(world, session, { command: "touch a", waitMs: 0 })).last).toMatchObject({
    type: "refused",
    by: "not-waiting",
  });
  expect(world.ran).toHaveLength(1);
});

test("an approval that no client waited for is kept over a crash, for the same command, once", async () => {
  const session = await world.open();
  const question = await leaveQuestion(session);
  await world.supervisor.answer(admin(), question.id, once);
  await world.restart();
  const other = await run(world, session, { command: "touch b", waitMs: 0 });
  expect(other.last).toMatchObject({ type: "refused", by: "not-waiting" });
  const { events } = await run(world, session, { command: "touch a", waitMs: 0 });
  expect(types(events)).toEqual(["decision", "approved", "started", "exit"]);
  expect(world.recorded("approval.used")).toMatchObject([
    [expect.anything(), { approval: question.id }],
  ]);
  const { last } = await run(world, session, { command: "touch a", waitMs: 0 });
  expect(last).toMatchObject({ type: "refused", by: "not-waiting" });
});

test("what was approved holds after a crash only while it is as it was shown", async () => {
  const session = await world.open();
  world.write(`${world.worktree()}/run.sh`, "echo one\n");
  const question = await leaveQuestion(session, "bash run.sh");
  await world.supervisor.answer(admin(), question.id, once);
  await world.restart();
  world.write(`${world.worktree()}/run.sh`, "echo two\n");
  const { last } = await run(world, session, { command: "bash run.sh", waitMs: 0 });
  expect(last).toMatchObject({ type: "refused", by: "facts-changed" });
  expect(world.ran).toEqual([]);
});

test("the time of a question goes on while no daemon is there, and a clock set back prolongs nothing", async () => {
  const session = await world.open();
  const question = await leaveQuestion(session);
  const { now } = world;
  world.now = () => now() + 4_000;
  await world.restart();
  expect(pending()).toEqual([question]);
  const askedAgain = Date.now();
  await expect.poll(() => pending().length, { timeout: 5_000, interval: 20 }).toBe(0);
  expect(Date.now() - askedAgain).toBeLessThan(2_500);
  expect(world.recorded("approval.timed_out")).toHaveLength(1);
  const late = await leaveQuestion(session, "touch b");
  world.now = () => now() + 60_000;
  await world.restart();
  expect(pending()).toEqual([]);
  expect(world.recorded("approval.timed_out").at(-1)).toMatchObject([
    expect.anything(),
    { approval: late.id, reason: "nobody answered in time" },
  ]);
  const unused = await leaveQuestion(session, "touch c");
  await world.supervisor.answer(admin(), unused.id, once);
  world.now = () => now() + 60_000 + 10 * 60_000 + 1;
  await world.restart();
  expect(world.recorded("approval.lapsed")).toHaveLength(1);
  const { last } = await run(world, session, { command: "touch c", waitMs: 0 });
  expect(last).toMatchObject({ type: "refused", by: "not-waiting" });
});

test("a start reads what is open and not the whole record", async () => {
  const session = await world.open();
  const question = await leaveQuestion(session);
  await world.restart();
  const read: EntryQuery[] = [];
  world.wrapJournal = (journal) => ({
    ...bound(journal),
    read: (query: EntryQuery) => {
      read.push(query);
      return journal.read(query);
    },
  });
  await world.restart();
  // Grants have a file of their own, from which on their few entries are played again.
  const others = read.filter(({ events, limit }) =>
    events === undefined ? limit !== 1 : !events.includes("grant.granted"),
  );
  expect(others).toEqual([]);
  expect(pending()).toEqual([question]);
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

test("a stop lets commands end, refuses new work, and leaves questions and sessions to the next daemon", async () => {
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
    "approval.requested",
    "exec.started",
    "action.refused",
    "exec.exited",
    "daemon.stopped",
    "daemon.started",
  ]);
  expect(pending()).toHaveLength(1);
  expect(world.supervisor.session(agent(), session).id).toBe(session);
});

function bound(journal: Journal): Omit<Journal, "read"> {
  return {
    append: (entry) => journal.append(entry),
    appendAll: (entries) => journal.appendAll(entries),
    appendSoon: (entries) => journal.appendSoon(entries),
    synced: () => journal.synced(),
    standing: (kind) => journal.standing(kind),
    pruneBefore: (at) => journal.pruneBefore(at),
    verify: () => journal.verify(),
    verifyInSteps: () => journal.verifyInSteps(),
    subscribe: (listener) => journal.subscribe(listener),
    count: () => journal.count(),
    close: () => journal.close(),
  };
}

/** Commands that wait their turn: told, cancelled, judged again, refused when too many wait; asking takes nobody's turn. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunEvent, RunRequest } from "../../daemon/supervisor/types.ts";
import { admin, agent, codeOf, run, World } from "./world.ts";

let world: World;
/** Ends an `ls` that runs, by default the oldest. */
let endOne: (index?: number) => void;
/** Those that run and those that will. */
let endAll: () => void;
let begun: number;

beforeEach(async () => {
  world = new World();
  world.profile = `extends: default
approvalWait: 5s
limits: {wallClock: 60s, commandsPerSession: 2, commandsPerProject: 3, commandsQueued: 2}
policy: {rules: [{id: no-uname, pattern: "uname *", action: deny, justification: names are private}]}
`;
  await world.start();
  const running: (() => void)[] = [];
  begun = 0;
  let ending = false;
  endOne = (index = 0) => running.splice(index, 1)[0]?.();
  endAll = () => {
    ending = true;
    for (const end of running) end();
  };
  world.programs.set("ls", async ({ killed }) => {
    begun += 1;
    if (ending) return 0;
    await Promise.race([killed, new Promise<void>((resolve) => running.push(resolve))]);
    return 0;
  });
});

afterEach(() => world.end());

const queued = (events: readonly RunEvent[]) =>
  events.filter((event) => event.type === "note" && event.code === "queued");

/** Runs a command and says when it is told to wait. */
function waited(session: string, request: RunRequest, signal?: AbortSignal) {
  let tell = () => {};
  const waits = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const ran = run(world, session, request, {
    ...(signal === undefined ? {} : { signal }),
    on: (event) => {
      if (queued([event]).length > 0) tell();
    },
  });
  return { ran, waits };
}

const list = (session: string, signal?: AbortSignal) => waited(session, { command: "ls" }, signal);

const health = async () => {
  const { running, queued, pending } = await world.supervisor.health();
  return { running, queued, pending };
};

test("over the session's limit a command is told that it waits, and runs when another has ended", async () => {
  const session = await world.open();
  const first = [list(session), list(session)];
  await expect.poll(() => begun).toBe(2);
  const third = list(session);
  await third.waits;
  const fourth = list(session);
  await fourth.waits;
  expect([begun, await health()]).toEqual([2, { running: 2, queued: 2, pending: 0 }]);
  endOne();
  await expect.poll(() => begun).toBe(3);
  endAll();
  const { events } = await third.ran;
  expect(events.map(({ type }) => type)).toEqual(["decision", "note", "started", "exit"]);
  expect(queued(events)).toEqual([
    {
      type: "note",
      code: "queued",
      paths: [],
      reason:
        "it waits its turn, since so many commands run already (at most 2 of a session and 3 of a project at once): it is next",
    },
  ]);
  const [{ reason = "" } = {}] = queued((await fourth.ran).events) as { reason?: string }[];
  expect(reason).toMatch(/: 1 of this session wait before it$/);
  for (const { ran } of first) expect(queued((await ran).events)).toEqual([]);
});

test("over the project's limit another session waits, and is next before the one that was served later", async () => {
  const one = await world.open();
  const two = await world.open(agent(), "two");
  const running: ReturnType<typeof list>[] = [];
  for (const [index, session] of [two, one, one].entries()) {
    running.push(list(session));
    await expect.poll(() => begun).toBe(index + 1);
  }
  const more = list(one);
  await more.waits;
  const other = list(two);
  await other.waits;
  // Now each has one: what came later is let run first.
  endOne(1);
  await expect.poll(() => begun).toBe(4);
  const folders = ["two", "one", "one", "two"].map((name) => world.worktree(name));
  expect(world.ran.map(({ cwd }) => cwd)).toEqual(folders);
  endAll();
  await Promise.all([more, other, ...running].map(({ ran }) => ran));
});

test("a full queue is `queue-full` before the first word, on record, and over when there is room", async () => {
  const session = await world.open();
  const all = [list(session), list(session), list(session), list(session)];
  await Promise.all(all.slice(2).map(({ waits }) => waits));
  const events: RunEvent[] = [];
  const refused = run(world, session, "ls", { on: (event) => void events.push(event) });
  expect(await codeOf(() => refused)).toBe("queue-full");
  expect(events).toEqual([]);
  const reason = `session ${session} has 2 commands running and 2 waiting`;
  expect(world.recorded("action.refused").at(-1)?.[1]).toMatchObject({ by: "failure", reason });
  // What is denied takes no place, and is told so.
  const denied = await run(world, session, "uname -a");
  expect(denied.last).toMatchObject({ type: "refused", by: "policy" });
  endAll();
  await Promise.all(all.map(({ ran }) => ran));
  expect((await run(world, session, "pwd")).last).toMatchObject({ type: "exit", exitCode: 0 });
});

test("a queued command is cancelled by its client or with its session, never starts, and that is on record", async () => {
  const session = await world.open();
  const running = [list(session), list(session)];
  await expect.poll(() => begun).toBe(2);
  const leaving = new AbortController();
  const left = list(session, leaving.signal);
  await left.waits;
  const closed = list(session);
  await closed.waits;
  leaving.abort();
  expect(await codeOf(() => left.ran)).toBe("busy");
  expect((await health()).queued).toBe(1);
  await world.supervisor.closeSession(agent(), session);
  expect(await codeOf(() => closed.ran)).toBe("unknown-session");
  await Promise.all(running.map(({ ran }) => ran));
  expect([begun, (await health()).queued]).toEqual([2, 0]);
  const reason = "it was given up while it waited its turn";
  expect(world.recorded("action.refused").map(([, data]) => data.reason)).toEqual([reason, reason]);
});

test("judging and asking take nobody's turn; what was approved waits for its own", async () => {
  const session = await world.open();
  const asked = ["a", "b", "c"].map((name) => run(world, session, `rm -rf ${name}`));
  await expect.poll(async () => (await health()).pending).toBe(3);
  const both = [list(session), list(session)];
  await expect.poll(() => begun).toBe(2);
  const [first, ...others] = world.supervisor.approvals(admin(), { state: "pending" });
  await world.supervisor.answer(admin(), first?.id ?? "", { answer: "approve", mode: "once" });
  for (const { id } of others) await world.supervisor.answer(admin(), id, { answer: "deny" });
  await expect.poll(async () => (await health()).queued).toBe(1);
  endOne();
  const { events, last } = (await asked[0]) as Awaited<(typeof asked)[0]>;
  expect(last).toMatchObject({ type: "exit", exitCode: 0 });
  expect(events.map(({ type }) => type)).toEqual([
    "decision",
    "pending",
    "note",
    "approved",
    "started",
    "exit",
  ]);
  endAll();
  await Promise.all([...asked, ...both.map(({ ran }) => ran)]);
});

test("what was allowed is judged again when its turn comes: a link that leaves since then asks", async () => {
  const session = await world.open();
  const both = [list(session), list(session)];
  await expect.poll(() => begun).toBe(2);
  const late = waited(session, { command: "cat file.txt link/passwd", waitMs: 0 });
  await late.waits;
  symlinkSync("/etc", join(world.worktree(), "link"));
  endOne();
  expect((await late.ran).last).toMatchObject({ type: "refused", by: "not-waiting" });
  expect(world.ran.map(({ command }) => command)).toEqual(["ls", "ls"]);
  // Its turn is not held by the question.
  const next = list(session);
  await expect.poll(() => begun).toBe(3);
  endAll();
  await Promise.all([next.ran, ...both.map(({ ran }) => ran)]);
});

/** The denial tracker through the supervisor (B2, B8): counted, told, kept over restart and session, reset by admins alone. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../daemon/settings/config.ts";
import { AGENT, admin, agent, answering, codeOf, OTHER_AGENT, run, World } from "./world.ts";

let world: World;
let session: string;

beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

async function start(): Promise<void> {
  await world.start();
  session = await world.open();
}

const refuse = (command: string) =>
  run(world, session, command, { on: answering(world, { answer: "deny" }) });
const approve = (command: string) =>
  run(world, session, command, { on: answering(world, { answer: "approve", mode: "once" }) });
const state = () => world.supervisor.session(agent(), session);
const verdict = async (command: string) => {
  const { verdict, segments } = await world.supervisor.check(agent(), session, { command });
  return [verdict, segments[0]?.rule];
};

describe("a class of action that was refused in a row", () => {
  test("is blocked for the third time and on, however it is written, and nothing else is", async () => {
    await start();
    await refuse("rm -rf src");
    await refuse("r\\m -r -f ./src");
    const third = await refuse("bash -c 'rm --recursive lib'");
    expect(third.last).toMatchObject({
      type: "refused",
      by: "person",
      instead:
        "safety/recursive-delete was refused 3 times in a row and is blocked now, however it is written; everything else goes on as before, and only an admin can reset it",
    });
    expect(state()).toMatchObject({
      blocked: ["safety/recursive-delete"],
      escalated: false,
      denials: { consecutive: { "safety/recursive-delete": 3 }, total: 3 },
    });
    const fourth = await run(world, session, "find . -delete; rm -fr x");
    expect(fourth.events.map(({ type }) => type)).toEqual(["decision", "refused"]);
    expect(fourth.last).toEqual({
      type: "refused",
      by: "policy",
      action: expect.any(String),
      reason:
        "`rm -fr x` safety/recursive-delete was refused 3 times in a row and is blocked; an admin can reset it (denials/safety/recursive-delete)",
      instead:
        "every other kind of action goes on as before; do not reword this one, an admin can reset it (recinto denials reset)",
    });
    expect((await run(world, session, "ls")).last).toMatchObject({ type: "exit" });
    expect(await verdict("rm -f named.txt")).toEqual(["ask", "profile/write"]);
  });

  test("an approval in between starts the row again, a refusal for being blocked does not count", async () => {
    await start();
    await refuse("touch a");
    await refuse("touch b");
    await approve("touch c");
    await refuse("touch d");
    await refuse("touch e");
    expect(state().blocked).toEqual([]);
    await refuse("touch f");
    for (let i = 0; i < 3; i++) await run(world, session, "touch g");
    expect(state().denials).toEqual({ consecutive: { "write:touch": 3 }, total: 5 });
  });

  test("a deny of the policy counts, a time-out and not waiting do not", async () => {
    await start();
    await run(world, session, "uname -a");
    await run(world, session, { command: "touch a", waitMs: 0 });
    expect(state().denials).toEqual({ consecutive: { "read:uname": 1 }, total: 1 });
  });
});

describe("refusals in all", () => {
  test("escalate the session: everything asks, also what a rule allows, and it says why", async () => {
    world.denialLimits = { maxTotalDenials: 4 };
    await start();
    for (const command of ["touch a", "mkdir b", "node c.js"]) await refuse(command);
    expect(await verdict("ls")).toEqual(["allow", "scope/read"]);
    await refuse("git add .");
    expect(state()).toMatchObject({ blocked: [], escalated: true, denials: { total: 4 } });
    const { segments, instead } = await world.supervisor.check(agent(), session, { command: "ls" });
    expect([segments[0]?.rule, instead]).toEqual([
      "denials/escalated",
      "each command waits for a person now; an admin can reset the count (recinto denials reset)",
    ]);
    expect((await approve("ls")).last).toMatchObject({ type: "exit" });
  });
});

describe("where the limits come from", () => {
  test("the environment outranks the profile, down to the block", async () => {
    const environment = { RECINTO_MAX_CONSECUTIVE_DENIALS: "1", RECINTO_MAX_TOTAL_DENIALS: "2" };
    const { maxConsecutiveDenials = 0, maxTotalDenials = 0 } = parseConfig("", "c", environment);
    world.denialLimits = { maxConsecutiveDenials, maxTotalDenials };
    await start();
    await refuse("touch a");
    expect(state().blocked).toEqual(["write:touch"]);
    await refuse("mkdir b");
    expect(state().escalated).toBe(true);
  });

  test("a profile's own limits hold where the environment says nothing", async () => {
    world.profile = world.profile.replace("policy: {", "policy: {denials: {consecutive: 2}, ");
    await start();
    await refuse("touch a");
    await refuse("touch b");
    expect(state().blocked).toEqual(["write:touch"]);
  });
});

describe("what resets the counters", () => {
  beforeEach(async () => {
    await start();
    for (const name of ["a", "b", "c"]) await refuse(`touch ${name}`);
  });

  test("neither a new session, nor a restart, nor the agent", async () => {
    await world.supervisor.closeSession(agent(), session);
    session = await world.open();
    expect(await verdict("touch d")).toEqual(["deny", "denials/write:touch"]);
    await world.restart();
    session = await world.open();
    expect(await verdict("touch d")).toEqual(["deny", "denials/write:touch"]);
    const key = { project: "web", worktree: world.worktree(), uid: AGENT };
    expect(await codeOf(() => world.supervisor.resetDenials(agent(), key))).toBe("not-permitted");
    expect(state().blocked).toEqual(["write:touch"]);
  });

  test("an admin does, for whom it was said, on record and kept over a restart", async () => {
    const reset = (more: object) =>
      world.supervisor.resetDenials(admin(), { project: "web", ...more });
    expect([reset({ uid: OTHER_AGENT }), reset({ worktree: world.worktree("two") })]).toEqual([
      0, 0,
    ]);
    expect(state().blocked).toEqual(["write:touch"]);
    expect(reset({ worktree: world.worktree() })).toBe(1);
    expect(state()).toMatchObject({ blocked: [], denials: { consecutive: {}, total: 0 } });
    await world.restart();
    session = await world.open();
    expect(await verdict("touch d")).toEqual(["ask", "profile/write"]);
    expect(world.recorded("denials.reset")).toHaveLength(1);
  });

  test("another worktree and another user have counters of their own", async () => {
    const { session: two } = await world.supervisor.openSession(agent(), {
      worktree: join(world.root, ".worktrees/two"),
    });
    expect(two.denials.total).toBe(0);
    await world.supervisor.closeSession(agent(), session);
    const other = await world.supervisor.openSession(agent("web", OTHER_AGENT), {
      worktree: "one",
    });
    expect(other.session.denials.total).toBe(0);
  });
});

/** Sessions: who may open one, who sees it, and that a new one resets nothing. */
import { chownSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SESSION_IDLE_MAX_MS } from "../../daemon/limits.ts";
import {
  ADMIN_GROUP,
  AGENT,
  admin,
  agent,
  answering,
  codeOf,
  OTHER_AGENT,
  run,
  World,
} from "./world.ts";

let world: World;

beforeEach(async () => {
  world = new World();
  await world.start();
});

afterEach(() => world.end());

const no = { answer: "deny" } as const;

describe("opening", () => {
  test("a session is on a worktree by path or name, and on record", async () => {
    const { session, existing } = await world.supervisor.openSession(agent(), { worktree: "one" });
    expect(existing).toBe(false);
    expect(session).toMatchObject({
      project: "web",
      worktree: world.worktree(),
      profile: "test",
      uid: AGENT,
      denials: { consecutive: {}, total: 0 },
      blocked: [],
      escalated: false,
      sharesApproverUid: false,
    });
    expect(world.recorded("session.opened")[0]?.[1]).toMatchObject({ worktree: world.worktree() });
  });

  test("the same user gets the same session again, another user waits until it is over", async () => {
    const first = await world.open();
    const again = await world.supervisor.openSession(agent(), { worktree: world.worktree() });
    expect([again.session.id, again.existing]).toEqual([first, true]);
    const other = agent("web", OTHER_AGENT);
    expect(await codeOf(() => world.open(other))).toBe("session-busy");
    expect(await world.open(other, "two")).not.toBe(first);
    await world.supervisor.closeSession(agent(), first);
    expect(await world.open(other)).not.toBe(first);
  });

  test("two who open at the same moment get one session", async () => {
    const opened = await Promise.all(
      Array.from({ length: 8 }, () => world.supervisor.openSession(agent(), { worktree: "one" })),
    );
    expect(new Set(opened.map(({ session }) => session.id)).size).toBe(1);
    expect(opened.filter(({ existing }) => !existing)).toHaveLength(1);
  });

  test("a session that nobody used for long gives its worktree up", async () => {
    const first = await world.open();
    const { now } = world;
    world.now = () => now() + SESSION_IDLE_MAX_MS + 1;
    await world.open(agent("web", OTHER_AGENT));
    expect(await codeOf(() => world.supervisor.session(agent(), first))).toBe("unknown-session");
    expect(world.recorded("session.closed")[0]?.[1]).toEqual({ reason: "nothing used it" });
  });

  test("whoever could open the admin socket is no agent", async () => {
    const root = agent("web", 0);
    const member = { ...agent(), groups: [ADMIN_GROUP] };
    const primary = { ...agent(), gid: ADMIN_GROUP };
    for (const caller of [root, member, primary, { ...admin(0) }]) {
      const open = () => world.supervisor.openSession(caller, { worktree: "one", project: "web" });
      expect(await codeOf(open)).toBe("approver-cannot-be-agent");
    }
  });

  test("a socket is of one project", async () => {
    const open = (project: string, worktree: string) =>
      codeOf(() => world.supervisor.openSession(agent(), { worktree, project }));
    expect(await open("api", "one")).toBe("unknown-project");
    expect(await open("web", "../api/.worktrees/one")).toBe("unknown-worktree");
    expect(await open("web", "nowhere")).toBe("unknown-worktree");
  });

  test.runIf(process.getuid?.() === 0)("a worktree of root is refused", async () => {
    chownSync(world.worktree("two"), 0, 0);
    expect(await codeOf(() => world.open(agent(), "two"))).toBe("worktree-refused");
  });
});

describe("seeing", () => {
  test("one agent's session is to another as if it were not there", async () => {
    const session = await world.open();
    await run(world, session, "ls");
    for (const caller of [agent("web", OTHER_AGENT), agent("api", AGENT)]) {
      expect(world.supervisor.listSessions(caller)).toEqual([]);
      expect(await codeOf(() => world.supervisor.session(caller, session))).toBe("unknown-session");
      expect(await codeOf(() => world.supervisor.check(caller, session, { command: "ls" }))).toBe(
        "unknown-session",
      );
      expect(await codeOf(() => run(world, session, "ls", { caller }))).toBe("unknown-session");
      expect(await codeOf(() => world.supervisor.closeSession(caller, session))).toBe(
        "unknown-session",
      );
      expect(world.supervisor.events(caller, {})).toEqual([]);
      expect(world.supervisor.events(caller, { sessions: [session] })).toEqual([]);
      expect(world.supervisor.hazards.list(caller)).toEqual([]);
    }
    expect(world.supervisor.events(agent(), {}).every((entry) => entry.session === session)).toBe(
      true,
    );
    expect(world.supervisor.events(agent(), {}).length).toBeGreaterThan(2);
    expect(world.supervisor.projects(agent()).map(({ id }) => id)).toEqual(["web"]);
    expect(await codeOf(() => world.supervisor.project(agent(), "api"))).toBe("unknown-project");
  });

  test("an admin sees and ends every session, but does not run commands as its agent", async () => {
    const session = await world.open();
    expect(world.supervisor.listSessions(admin()).map(({ id }) => id)).toEqual([session]);
    expect(await codeOf(() => run(world, session, "ls", { caller: admin() }))).toBe(
      "not-permitted",
    );
    await world.supervisor.closeSession(admin(), session);
    expect(world.supervisor.listSessions(admin())).toEqual([]);
  });

  test("everything of an admin's is refused to an agent", async () => {
    const { supervisor } = world;
    const project = {
      id: "new",
      root: "/srv",
      profile: "default",
      worktrees: ".",
      agentGroup: null,
    };
    const calls: (() => unknown)[] = [
      () => supervisor.rules(agent(), "web"),
      () => supervisor.revokeRule(agent(), "web", "r"),
      () => supervisor.verifyJournal(agent()),
      () => supervisor.addProject(agent(), project),
      () => supervisor.removeProject(agent(), "web"),
      () => supervisor.sandboxes(agent()),
      () => supervisor.resetDenials(agent(), { project: "web" }),
      () => supervisor.answer(agent(), "q", no),
    ];
    for (const call of calls) expect(await codeOf(call)).toBe("not-permitted");
  });

  test("entries are followed as they come, until the reader stops", async () => {
    const session = await world.open();
    const leave = new AbortController();
    const heard: string[] = [];
    const following = (async () => {
      const query = { events: ["session.opened", "exec.exited"] } as const;
      for await (const { event } of world.supervisor.followEvents(agent(), query, leave.signal)) {
        heard.push(event);
        if (heard.length === 3) leave.abort();
      }
    })();
    await run(world, session, "ls");
    await run(world, session, "ls");
    await following;
    expect(heard).toEqual(["session.opened", "exec.exited", "exec.exited"]);
  });
});

describe("B8: a new session resets nothing", () => {
  test("refusals are counted by project, worktree and user, over sessions and daemons", async () => {
    const session = await world.open();
    for (let i = 0; i < 3; i++) await run(world, session, "touch a", { on: answering(world, no) });
    const before = world.supervisor.session(agent(), session);
    expect(before).toMatchObject({ denials: { total: 3 }, blocked: [expect.any(String)] });
    await world.supervisor.closeSession(agent(), session);
    const { blocked, denials } = (await world.supervisor.openSession(agent(), { worktree: "one" }))
      .session;
    expect({ blocked, denials }).toEqual({ blocked: before.blocked, denials: before.denials });
    await world.restart();
    const after = (await world.supervisor.openSession(agent(), { worktree: "one" })).session;
    expect({ blocked: after.blocked, denials: after.denials }).toEqual({ blocked, denials });
    const elsewhere = await world.supervisor.openSession(agent(), { worktree: "two" });
    expect(elsewhere.session.denials.total).toBe(0);
    expect(world.supervisor.resetDenials(admin(), { project: "web", uid: OTHER_AGENT })).toBe(0);
    expect(world.supervisor.resetDenials(admin(), { project: "web", uid: AGENT })).toBe(1);
    await world.restart();
    const reset = (await world.supervisor.openSession(agent(), { worktree: "one" })).session;
    expect(reset.denials).toEqual({ consecutive: {}, total: 0 });
  });
});

describe("projects", () => {
  test("a name that no project has is told with those that there are, wherever it is given", async () => {
    const { supervisor } = world;
    const error = { code: "unknown-project", hint: "there are: api, web" };
    const follow = () => supervisor.followEvents(admin(), { project: "nope" }, AbortSignal.abort());
    for (const call of [
      () => supervisor.events(admin(), { project: "nope" }),
      follow,
      () => supervisor.hazards.list(admin(), "nope"),
      () => supervisor.project(admin(), "nope"),
      () => supervisor.rules(admin(), "nope"),
    ]) {
      await expect((async () => call())()).rejects.toMatchObject(error);
    }
    await supervisor.removeProject(admin(), "api");
    expect(supervisor.events(admin(), { project: "api" })).not.toEqual([]);
  });

  test("removing one ends its sessions and sandboxes, and its socket's users are told at once", async () => {
    const seen: string[][] = [];
    world.supervisor.onProjects((projects) => seen.push(projects.map(({ id }) => id)));
    const session = await world.open();
    await world.supervisor.removeProject(admin(), "web");
    expect(seen).toEqual([["api", "web"], ["api"]]);
    expect(await codeOf(() => world.supervisor.session(agent(), session))).toBe("unknown-session");
    expect(world.sandboxCalls).toContain("removeProject web");
    const removed = world.journal?.read({ events: ["project.removed"] })[0];
    expect(removed).toMatchObject({ project: "web", uid: 61_009 });
  });
});

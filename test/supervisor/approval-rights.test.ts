/** What an approval may leave behind, and who may give one. */
import { chownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PendingApproval } from "../../daemon/supervisor/types.ts";
import { AskingWorld, no, once, types } from "./asking-world.ts";
import { AGENT, admin, agent, answering, codeOf, OTHER_AGENT, OWNER, run } from "./world.ts";

let world: AskingWorld;

beforeEach(async () => {
  world = new AskingWorld();
  await world.start();
});

afterEach(() => world.end());

describe("always", () => {
  const always = { answer: "approve", mode: "always", width: 0 } as const;

  test("A6: stores the prefix shown, in the project's admin-held file, and asks no more for it", async () => {
    const session = await world.open();
    const { events } = await run(world, session, "touch notes.md", {
      on: answering(world, { ...always, width: 1 }),
    });
    expect(types(events).slice(0, 3)).toEqual(["decision", "pending", "approved"]);
    const [rule] = await world.supervisor.rules(admin(), "web");
    expect(rule).toMatchObject({
      prefix: ["touch"],
      effects: ["write"],
      savedBy: 61_009,
      expiresAt: null,
    });
    expect(readFileSync(join(world.folder, "state", "rules", "web.yaml"), "utf8")).toContain(
      "touch",
    );
    expect(world.recorded("rule.saved")[0]?.[1]).toMatchObject({ id: rule?.id, prefix: ["touch"] });
    const check = (command: string) => world.supervisor.check(agent(), session, { command });
    expect((await check("touch other.md")).verdict).toBe("allow");
    expect((await check("touch /srv/other.md")).verdict).toBe("ask");
    expect((await check("touch other.md > /etc/x")).verdict).toBe("ask");
    await world.supervisor.revokeRule(admin(), "web", rule?.id ?? "");
    expect((await check("touch other.md")).verdict).toBe("ask");
    expect(world.recorded("rule.revoked")).toHaveLength(1);
  });

  test("holds for its project alone, and until its end", async () => {
    const session = await world.open();
    const expiring = { ...always, width: 1, expiresInMs: 60_000 };
    await run(world, session, "touch a", { on: answering(world, expiring) });
    const api = agent("api", OTHER_AGENT);
    const other = await world.open(api);
    expect((await world.supervisor.check(api, other, { command: "touch a" })).verdict).toBe("ask");
    const { now } = world;
    world.now = () => now() + 60_001;
    expect(await world.supervisor.rules(admin(), "web")).toEqual([]);
    expect((await world.supervisor.check(agent(), session, { command: "touch a" })).verdict).toBe(
      "ask",
    );
  });

  test("is refused where the verdict does not offer it, and the question stays", async () => {
    const session = await world.open();
    const leave = new AbortController();
    const { question } = await world.ask(session, "bash file.txt", leave.signal);
    expect(await codeOf(() => world.supervisor.answer(admin(), question.id, always))).toBe(
      "bad-request",
    );
    expect(world.supervisor.approval(admin(), question.id).state).toBe("pending");
    expect(await world.supervisor.rules(admin(), "web")).toEqual([]);
    leave.abort();
  });
});

describe("who may answer", () => {
  test("never an agent's socket, and never a user that agents of the project are", async () => {
    const session = await world.open();
    const leave = new AbortController();
    const { question } = await world.ask(session, "touch a", leave.signal);
    const answer = (caller = agent()) =>
      codeOf(() => world.supervisor.answer(caller, question.id, once));
    expect(await answer()).toBe("not-permitted");
    expect(await answer(agent("web", 0))).toBe("not-permitted");
    expect(await answer(admin(AGENT))).toBe("agent-cannot-approve");
    if (process.getuid?.() === 0) expect(await answer(admin(OWNER))).toBe("agent-cannot-approve");
    expect(world.supervisor.approval(admin(), question.id).state).toBe("pending");
    leave.abort();
  });

  test.runIf(process.getuid?.() === 0)("a worktree of root's does not silence root", async () => {
    const session = await world.open();
    chownSync(world.worktree("two"), 0, 0);
    const { last } = await run(world, session, "touch a", { on: answering(world, once, admin(0)) });
    expect(last).toMatchObject({ type: "exit" });
  });

  test("unless the admin said that agents share the approver's user, and then every question says so", async () => {
    world.agentsShareApproverUid = true;
    await world.start();
    const root = { ...agent("web", 0) };
    const session = await world.open(root);
    expect(world.supervisor.session(root, session).sharesApproverUid).toBe(true);
    const { last } = await run(world, session, "touch a", {
      caller: root,
      on: async (event) => {
        if (event.type !== "pending") return;
        expect(world.supervisor.approval(admin(), event.approval).agentCouldApprove).toBe(true);
        await world.supervisor.answer(admin(0), event.approval, once);
      },
    });
    expect(last).toMatchObject({ type: "exit" });
  });

  test("an agent sees the questions of its own user and project, and watches no others", async () => {
    const session = await world.open();
    const leave = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { state } of world.supervisor.watchApprovals(admin(), leave.signal))
        seen.push(state);
    })();
    const others: PendingApproval[] = [];
    const eavesdropping = (async () => {
      const caller = agent("api", OTHER_AGENT);
      for await (const each of world.supervisor.watchApprovals(caller, leave.signal))
        others.push(each);
    })();
    const { done, question } = await world.ask(session);
    for (const caller of [agent("web", OTHER_AGENT), agent("api", AGENT)]) {
      expect(world.supervisor.approvals(caller)).toEqual([]);
      expect(await codeOf(() => world.supervisor.approval(caller, question.id))).toBe(
        "unknown-approval",
      );
    }
    expect(world.supervisor.approvals(agent())).toEqual([question]);
    await world.supervisor.answer(admin(), question.id, no());
    await done;
    leave.abort();
    await Promise.all([watching, eavesdropping]);
    expect(seen).toEqual(["pending", "denied"]);
    expect(others).toEqual([]);
  });
});

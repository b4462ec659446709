/** Looking back over the journal: what a rule would have allowed (A6), another profile would say, and how often people were asked (A7, A13). */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ReplayLine, ReplayRequest } from "../../daemon/supervisor/history-calls.ts";
import { admin, agent, answering, codeOf, run, World } from "./world.ts";

let world: World;
let session: string;

beforeEach(async () => {
  world = new World();
  await world.start();
  session = await world.open();
});
afterEach(() => world.end());

const once = { answer: "approve", mode: "once" } as const;
const no = { answer: "deny" } as const;

async function replay(request: ReplayRequest): Promise<readonly ReplayLine[]> {
  const lines: ReplayLine[] = [];
  const { signal } = new AbortController();
  for await (const line of world.supervisor.history.replay(admin(), request, signal))
    lines.push(line);
  return lines;
}

describe("what a rule would have allowed (A6)", () => {
  test("each width is tried on the project's past questions, and only those that still ask count", async () => {
    for (const command of ["mkdir -p a b", "mkdir c", "touch d", "mkdir ../../../out", "mkdir c"]) {
      await run(world, session, command, { on: answering(world, once) });
    }
    let asked = "";
    await run(world, session, "mkdir -p a e", {
      on: async (event) => {
        if (event.type !== "pending" || asked !== "") return;
        asked = event.approval;
        const previews = await world.supervisor.history.previewRules(admin(), asked);
        expect(
          previews.map(({ rule, tried, allowed, examples }) => [
            rule.prefix.join(" "),
            tried,
            allowed,
            examples,
          ]),
        ).toEqual([
          ["mkdir -p a", 5, 1, ["mkdir -p a b"]],
          ["mkdir -p", 5, 1, ["mkdir -p a b"]],
          ["mkdir", 5, 3, ["mkdir c", "mkdir -p a b"]],
        ]);
        await world.supervisor.answer(admin(), asked, no);
      },
    });
    expect(asked).not.toBe("");
  });

  test("it is for admins, and says nothing where always is not offered", async () => {
    await run(world, session, "curl https://example.org", {
      on: async (event) => {
        if (event.type !== "pending") return;
        const { history } = world.supervisor;
        expect(await history.previewRules(admin(), event.approval)).toEqual([]);
        expect(await codeOf(() => history.previewRules(agent(), event.approval))).toBe(
          "not-permitted",
        );
        await world.supervisor.answer(admin(), event.approval, no);
      },
    });
  });
});

describe("replay", () => {
  test("shows each verdict that another profile changes, with the rules that decided, and counts the rest", async () => {
    world.write(join(world.worktree(), "node_modules/.bin/vitest"), "#!/bin/sh\n");
    await run(world, session, "ls");
    await run(world, session, "vitest run");
    await run(world, session, "touch made", { on: answering(world, once) });
    await run(world, session, "uname -a");
    const dev = await replay({ profile: { name: "dev" } });
    expect(dev).toEqual([
      {
        type: "change",
        seq: expect.any(Number),
        at: expect.any(Number),
        project: "web",
        command: "touch made",
        cwd: world.worktree(),
        before: { verdict: "ask", rules: ["profile/write"] },
        after: { verdict: "allow", rules: ["scope/write"], reason: expect.any(String) },
      },
      {
        type: "change",
        seq: expect.any(Number),
        at: expect.any(Number),
        project: "web",
        command: "uname -a",
        cwd: world.worktree(),
        before: { verdict: "deny", rules: ["test/no-uname"] },
        after: { verdict: "allow", rules: ["scope/read"], reason: expect.any(String) },
      },
      {
        type: "summary",
        profile: "dev",
        actions: 4,
        same: 2,
        changed: { "ask → allow": 1, "deny → allow": 1 },
        left: { denials: 0, gone: 0, incomplete: 0 },
      },
    ]);
    expect((await replay({ profile: { name: "review" } })).at(-1)).toMatchObject({
      changed: { "allow → ask": 1, "deny → allow": 1 },
    });
  });

  test("under the profile of then nothing changes: the facts of then are on record", async () => {
    world.write(join(world.worktree(), "node_modules/.bin/tsc"), "#!/bin/sh\n");
    for (const command of ["npx tsc --noEmit", "cat file.txt | sort", "git status", "ls /etc"]) {
      await run(world, session, command, { on: answering(world, once) });
    }
    expect(await replay({ profile: { name: "test" } })).toEqual([
      {
        type: "summary",
        profile: "test",
        actions: 4,
        same: 4,
        changed: {},
        left: { denials: 0, gone: 0, incomplete: 0 },
      },
    ]);
  });

  test("a profile may come as text, before it is written", async () => {
    await run(world, session, "ls");
    const text = "extends: default\npolicy: {standing: {read: ask}}\n";
    expect((await replay({ profile: { name: "strict", text } })).at(-1)).toMatchObject({
      profile: "strict",
      changed: { "allow → ask": 1 },
    });
    expect(await codeOf(() => replay({ profile: { name: "x", text: "extends: none" } }))).toBe(
      "bad-profile",
    );
  });

  test("what the denial tracker decided, and what is too old, is left aside and said to be", async () => {
    for (let i = 0; i < 4; i++) {
      await run(world, session, "touch x", { on: answering(world, no) });
    }
    const entry = { command: "ls", cwd: "/", verdict: "allow", rules: [], roots: [] };
    world.journal?.append({ event: "proposed_action.created", project: "web", data: entry });
    world.journal?.append({
      event: "proposed_action.created",
      project: "old",
      data: { ...entry, worktree: "/w", facts: {} },
    });
    expect((await replay({ profile: { name: "default" } })).at(-1)).toMatchObject({
      actions: 6,
      same: 3,
      left: { denials: 1, gone: 1, incomplete: 1 },
    });
  });

  test("by project and time", async () => {
    await run(world, session, "ls");
    const summary = async (request: object) =>
      (await replay({ profile: { name: "default" }, ...request })).at(-1);
    expect(await summary({ project: "api" })).toMatchObject({ actions: 0 });
    expect(await summary({ sinceMs: Date.now() + 60_000 })).toMatchObject({ actions: 0 });
    expect(await codeOf(() => summary({ project: "none" }))).toBe("unknown-project");
  });
});

describe("stats (A7, A13)", () => {
  test("passes by root, questions per 100 actions, how long they waited, by rule, refusals by kind", async () => {
    let now = Date.now();
    world.now = () => now;
    await run(world, session, "ls");
    await run(world, session, "cat file.txt");
    await run(world, session, "uname -a");
    const waits = [2_000, 4_000, 60_000];
    const answers = [once, no, { answer: "approve", mode: "always", width: 0 }] as const;
    for (const [index, command] of ["node a.js", "touch b", "mkdir c"].entries()) {
      await run(world, session, command, {
        on: async (event) => {
          if (event.type !== "pending") return;
          now += waits[index] as number;
          await world.supervisor.answer(admin(), event.approval, answers[index] as typeof once);
        },
      });
    }
    await run(world, session, { command: "touch d", waitMs: 0 });
    const stats = await world.supervisor.history.stats(admin(), {});
    expect(stats).toEqual({
      fromMs: expect.any(Number),
      toMs: expect.any(Number),
      actions: 7,
      verdicts: { allow: 2, ask: 4, deny: 1 },
      passes: { total: 2, byRoot: { [world.worktree()]: 2 } },
      questions: {
        asked: 3,
        per100Actions: 42.9,
        approvedOnce: 1,
        approvedAlways: 1,
        denied: 1,
        timedOut: 0,
        cancelled: 0,
        answeredAfter: { count: 3, p50Ms: 4_000, p95Ms: 60_000 },
        overAfter: { count: 3, p50Ms: 4_000, p95Ms: 60_000 },
      },
      byRule: [
        { rule: "profile/write", asks: 3, denies: 0 },
        { rule: "profile/run", asks: 1, denies: 0 },
        { rule: "test/no-uname", asks: 0, denies: 1 },
      ],
      refusals: {
        policy: 1,
        person: 1,
        timeout: 0,
        "facts-changed": 0,
        "not-waiting": 1,
        failure: 0,
      },
    });
    expect((await world.supervisor.history.stats(admin(), { project: "api" })).actions).toBe(0);
    expect(await codeOf(() => world.supervisor.history.stats(agent(), {}))).toBe("not-permitted");
  });

  test("a question nobody answers counts as timed out, with the time it waited, and as nobody's refusal", async () => {
    world.profile = world.profile.replace("approvalWait: 5s", "approvalWait: 1s");
    writeFileSync(join(world.folder, "profiles/test.yaml"), world.profile);
    await world.supervisor.shutdown();
    await world.restart();
    session = await world.open();
    await run(world, session, "touch b");
    const { questions, refusals } = await world.supervisor.history.stats(admin(), {});
    expect([questions.timedOut, questions.answeredAfter.count, refusals.timeout]).toEqual([
      1, 0, 1,
    ]);
    expect(questions.overAfter.p50Ms).toBeGreaterThanOrEqual(1_000);
  });
});

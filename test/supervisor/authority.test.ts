/** Contracts and grants in the daemon: who may set them, what a command rests on, what closing ends, what a restart keeps (C1–C7). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GrantAnswer } from "../../daemon/supervisor/authority/authority-calls.ts";
import { admin, agent, PERSON, run, World } from "./world.ts";

const CONTRACT = `task: tidy
phases: [implement, verify]
envelope:
  - {effect: read, paths: ["**"]}
  - {effect: run, commands: [[make, test]]}
grants:
  docs: {effect: write, paths: ["docs/**"], phase: implement, closes: [written]}
  other: {effect: write, paths: ["docs/**", "notes/**"], ttl: 1h}
  once: {effect: write, paths: [once.txt], uses: 1}
  asked: {effect: write, paths: [asked.txt], approval: person, ttl: 1h}
closures:
  written: {file: {path: docs/done}}
deny:
  - {paths: ["**/.env", "docs/private/**"]}
`;

const never = new AbortController().signal;

describe("authority that ends", () => {
  let world: World;
  let session: string;

  beforeEach(async () => {
    world = new World();
    world.profile = world.profile.replace("extends: default", "extends: dev");
    world.write(`${world.worktree()}/docs/a.md`, "a\n");
    await world.start();
    session = await world.open();
  });
  afterEach(() => world.end());

  const set = (text = CONTRACT, caller = admin()) =>
    world.supervisor.authority.setContract(caller, { project: "web", worktree: "one", text });
  const request = (rule: string, more: object = {}): Promise<GrantAnswer> =>
    world.supervisor.authority.request(
      agent(),
      session,
      { rule, reason: "the task", ...more },
      never,
    );
  const shown = () => world.supervisor.authority.interface(agent(), session);

  test("C1: without a contract the profile's permission is the envelope; with one, what both allow", async () => {
    expect(shown()).toMatchObject({ session, task: null, epoch: 1, grants: [] });
    expect((await run(world, session, "touch anything")).last).toMatchObject({ type: "exit" });
    const set1 = await set();
    expect(set1).toMatchObject({ task: "tidy", phase: "implement", epoch: 2, setBy: PERSON });
    expect(shown()).toMatchObject({
      task: "tidy",
      epoch: 2,
      phase: "implement",
      envelope: [{ effect: "read" }, { effect: "run", commands: [["make", "test"]] }],
    });
    const refused = await run(world, session, { command: "touch anything", waitMs: 0 });
    expect(refused.last).toMatchObject({
      type: "refused",
      by: "not-waiting",
      reason: expect.stringContaining("beyond the envelope of the contract tidy"),
      instead: "request a grant: docs or other or once or asked",
    });
    await world.supervisor.authority.clearContract(admin(), { project: "web", worktree: "one" });
    expect((await run(world, session, "touch anything")).last).toMatchObject({ type: "exit" });
  });

  test("C2, C3: a request runs nothing and appears in the next interface; the grant lets its folder be written", async () => {
    await set();
    const before = shown();
    const granted = await request("docs");
    expect(granted).toMatchObject({ outcome: "granted", epoch: before.epoch + 1, approval: null });
    expect(world.ran).toEqual([]);
    expect(shown().grants).toEqual([granted.grant]);
    expect((await run(world, session, "touch docs/b.md")).last).toMatchObject({ exitCode: 0 });
    const denied = await run(world, session, { command: "touch docs/private/x", waitMs: 0 });
    expect(denied.last).toMatchObject({
      by: "policy",
      reason: expect.stringContaining("denies it"),
    });
    await expect(request("nope")).rejects.toMatchObject({
      code: "grant-refused",
      details: { code: "unknown-rule" },
    });
    await expect(request("docs", { narrow: { paths: ["src/**"] } })).rejects.toMatchObject({
      details: { code: "beyond-rule" },
    });
    expect(
      world.recorded("grant.requested", "grant.granted", "grant.used").map(([e]) => e),
    ).toEqual(["grant.requested", "grant.granted", "grant.used"]);
  });
});

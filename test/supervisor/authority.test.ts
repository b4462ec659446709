/** Contracts and grants in the daemon: who may set them, what a command rests on, what a stale handle meets (C1–C6). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AuthorityWorld, CONTRACT } from "./authority-world.ts";
import { AGENT, admin, agent, codeOf, OTHER_AGENT, PERSON, run } from "./world.ts";

describe("authority that ends", () => {
  let world: AuthorityWorld;
  let session: string;

  beforeEach(async () => {
    world = await AuthorityWorld.make();
    ({ session } = world);
  });
  afterEach(() => world.end());

  const set: AuthorityWorld["set"] = (...given) => world.set(...given);
  const request: AuthorityWorld["request"] = (...given) => world.request(...given);
  const shown = () => world.shown();

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

  test("C2, C5: contracts, phases and revocations are not for an agent's socket, nor for a uid that agents use", async () => {
    const { authority } = world.supervisor;
    const at = { project: "web", worktree: "one" };
    await set();
    const { handle } = await request("docs");
    const asked = [
      () => set(CONTRACT, agent()),
      () => authority.clearContract(agent(), at),
      () => authority.setPhase(agent(), { ...at, phase: "verify" }),
      () => authority.revoke(agent(), handle, ""),
      () => authority.grants(agent()),
      () => authority.contracts(agent()),
    ];
    for (const ask of asked) expect(await codeOf(ask)).toBe("not-permitted");
    const own = admin(AGENT);
    expect(await codeOf(() => set(CONTRACT, own))).toBe("agent-cannot-approve");
    expect(await codeOf(() => authority.revoke(own, handle, ""))).toBe("agent-cannot-approve");
    expect(await codeOf(() => authority.setPhase(own, { ...at, phase: "verify" }))).toBe(
      "agent-cannot-approve",
    );
    expect(shown()).toMatchObject({ phase: "implement", grants: [{ handle }] });
  });

  test("C3: another project's agent learns nothing, whatever it asks about a session or a handle that is there", async () => {
    await set();
    const { handle } = await request("docs");
    const { authority } = world.supervisor;
    const stranger = agent("api", OTHER_AGENT);
    const own = (await world.supervisor.openSession(stranger, { worktree: "one" })).session.id;
    const told = async (ask: () => unknown) => {
      try {
        await ask();
      } catch (error) {
        return String((error as Error).message).replaceAll(/h-\w+|s-\w+/g, "ID");
      }
      return "nothing refused it";
    };
    expect(await told(() => authority.interface(stranger, session))).toBe(
      await told(() => authority.interface(stranger, "s-nothing")),
    );
    expect(await told(() => authority.grant(stranger, own, handle))).toBe(
      await told(() => authority.grant(stranger, own, "h-nothing")),
    );
    expect(await told(() => authority.release(stranger, own, handle))).toBe(
      await told(() => authority.release(stranger, own, "h-nothing")),
    );
    expect(authority.interface(stranger, own)).toMatchObject({ task: null, grants: [] });
    const used = await run(world, own, { command: "touch docs/x", handle }, { caller: stranger });
    const forged = await run(
      world,
      own,
      { command: "touch docs/x", handle: "h-x" },
      { caller: stranger },
    );
    const reason = (ran: typeof used) => String((ran.last as { reason: string }).reason);
    expect(reason(used).replace(handle, "H")).toBe(reason(forged).replace("h-x", "H"));
    expect(reason(used)).toContain("this session was never given it");
  });

  test("C4: two that race for the last use: one gets it, the other is refused before anything starts", async () => {
    await set();
    const { handle } = await request("once");
    let started = 0;
    world.programs.set("touch once.txt", async () => {
      started += 1;
      return 0;
    });
    const both = await Promise.all([
      run(world, session, { command: "touch once.txt", waitMs: 0 }),
      run(world, session, { command: "touch once.txt", waitMs: 0, handle }),
    ]);
    const ends = both.map(({ last }) => last?.type).sort();
    expect(ends).toEqual(["exit", "refused"]);
    expect(started).toBe(1);
    const lost = both.find(({ last }) => last?.type === "refused")?.last;
    expect(lost).toMatchObject({ by: "policy", reason: expect.stringContaining("used up") });
    await expect.poll(() => world.supervisor.authority.grants(admin())).toEqual([]);
    const again = await run(world, session, { command: "touch once.txt", handle });
    expect(again.last).toMatchObject({
      type: "refused",
      reason: expect.stringMatching(/its uses are used up; request once again: a person decides/),
    });
  });

  test("C6: revoking kills what runs on the grant, and it alone, before the revocation is answered", async () => {
    await set();
    const { handle } = await request("docs");
    const signals: string[] = [];
    const waiting =
      (name: string) =>
      async ({ killed }: { killed: Promise<string> }) => {
        signals.push(`${name} ${await killed}`);
        return 137;
      };
    world.programs.set("touch docs/slow", waiting("docs"));
    world.programs.set("make test", waiting("test"));
    const other = run(world, session, "make test");
    const running = run(world, session, { command: "touch docs/slow", handle });
    await expect.poll(() => world.ran.length).toBe(2);
    const closed = await world.supervisor.authority.revoke(admin(), handle, "enough");
    expect(closed).toMatchObject({ state: "closed", cause: `uid ${PERSON} revoked it: enough` });
    expect(signals).toEqual(["docs KILL"]);
    const { events, last } = await running;
    expect(last).toMatchObject({ type: "exit" });
    expect(events).toContainEqual(expect.objectContaining({ type: "note", code: "grant_closed" }));
    const order = world
      .recorded("grant.closing", "exec.exited", "grant.closed")
      .map(([event]) => event);
    expect(order).toEqual(["grant.closing", "exec.exited", "grant.closed"]);
    const replay = await run(world, session, { command: "touch docs/x", handle });
    expect(replay.last).toMatchObject({
      type: "refused",
      by: "policy",
      reason: expect.stringContaining(
        `uid ${PERSON} revoked it: enough; request docs again: a person decides`,
      ),
    });
    expect(world.ran.map(({ command }) => command)).not.toContain("touch docs/x");
    await world.supervisor.closeSession(agent(), session);
    await other;
  });

  test("C6: presenting a stale handle counts as no refusal, so that ten late uses block nothing else", async () => {
    await set();
    const { handle } = await request("docs");
    await world.supervisor.authority.release(agent(), session, handle);
    for (let i = 0; i < 10; i++) {
      const { last } = await run(world, session, { command: `touch docs/${i}`, handle });
      expect(last).toMatchObject({ type: "refused", by: "policy" });
    }
    expect(world.supervisor.session(agent(), session).denials.total).toBe(0);
    await request("docs");
    expect((await run(world, session, "touch docs/again")).last).toMatchObject({ exitCode: 0 });
  });

  test("C3: several grants cover it: the handle says which, and an older interface carries nothing newer", async () => {
    await set();
    const docs = await request("docs");
    const other = await request("other");
    const unclear = await run(world, session, "touch docs/x");
    expect(unclear.last).toMatchObject({
      type: "refused",
      by: "policy",
      instead: expect.stringContaining(`${docs.handle} (docs) or ${other.handle} (other)`),
    });
    const named = await run(world, session, { command: "touch docs/x", handle: other.handle });
    expect(named.last).toMatchObject({ exitCode: 0 });
    const early = { command: "touch notes/x", waitMs: 0 };
    const older = await run(world, session, { ...early, epoch: docs.epoch });
    expect(older.last).toMatchObject({ type: "refused", by: "not-waiting" });
    const presented = await run(world, session, {
      ...early,
      handle: other.handle,
      epoch: docs.epoch,
    });
    expect(presented.last).toMatchObject({
      by: "policy",
      reason: expect.stringContaining("read the interface again"),
    });
  });
});

/** Contracts and grants in the daemon: who may set them, what a command rests on, what closing ends, what a restart keeps (C1–C7). */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GrantAnswer } from "../../daemon/supervisor/authority/authority-calls.ts";
import {
  AGENT,
  admin,
  agent,
  answering,
  codeOf,
  OTHER_AGENT,
  PERSON,
  run,
  World,
} from "./world.ts";

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

  test("C3: several grants cover it: the handle says which, and `present` wants one named always", async () => {
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

  test("C5: a file that the daemon sees ends a grant; nothing that the agent says does", async () => {
    await set();
    const { handle } = await request("docs");
    const { authority } = world.supervisor;
    expect(await authority.check(agent(), session, "written")).toMatchObject({
      fired: false,
      evidence: "docs/done is not there",
    });
    expect(await codeOf(() => authority.check(agent(), session, "nope"))).toBe("not-found");
    world.write(`${world.worktree()}/docs/done`, "");
    await expect
      .poll(() => authority.grant(agent(), session, handle), { timeout: 10_000 })
      .toMatchObject({
        state: "closed",
        cause: "written fired: docs/done exists",
        renewal: "request docs again: a person decides",
      });
    expect(await codeOf(() => authority.release(agent(), session, handle))).toBe("grant-refused");
  });

  test("C5: leaving the phase closes, entering it anew brings the rule back", async () => {
    await set();
    const { authority } = world.supervisor;
    const { handle } = await request("docs");
    const at = { project: "web", worktree: "one" };
    expect(await authority.setPhase(admin(), { ...at, phase: "verify" })).toMatchObject({
      phase: "verify",
    });
    await expect.poll(() => authority.grant(agent(), session, handle).state).toBe("closed");
    await expect(request("docs")).rejects.toMatchObject({ details: { code: "wrong-phase" } });
    expect(await codeOf(() => authority.setPhase(admin(), { ...at, phase: "x" }))).toBe(
      "bad-request",
    );
    await authority.setPhase(admin(), { ...at, phase: "implement" });
    expect((await request("docs")).outcome).toBe("granted");
  });

  test("C5: `approval: person` waits in the inbox that all questions are in, and is answered there", async () => {
    await set();
    const { authority } = world.supervisor;
    const pending = await request("asked", { waitMs: 0 });
    expect(pending).toMatchObject({ outcome: "pending", grant: null });
    const [question] = world.supervisor.approvals(admin(), { state: "pending" });
    expect(question).toMatchObject({
      id: pending.approval,
      grant: { handle: pending.handle, rule: "asked", paths: ["asked.txt"] },
    });
    const id = question?.id ?? "";
    const yes = { answer: "approve", mode: "grant", forMs: 60_000 } as const;
    expect(await codeOf(() => world.supervisor.answer(admin(AGENT), id, yes))).toBe(
      "agent-cannot-approve",
    );
    expect(
      await codeOf(() =>
        world.supervisor.answer(admin(), id, { answer: "approve", mode: "always", width: 0 }),
      ),
    ).toBe("bad-request");
    const answered = await world.supervisor.answer(admin(), id, yes);
    expect(answered).toMatchObject({
      state: "approved",
      authority: { resource: { kind: "grants", handles: [pending.handle] } },
    });
    const grant = authority.grant(agent(), session, pending.handle);
    expect(grant).toMatchObject({ state: "live", by: `uid ${PERSON}` });
    expect((grant.expiresAt ?? 0) - (grant.grantedAt ?? 0)).toBe(60_000);

    const denied = request("asked");
    const open = () => world.supervisor.approvals(admin(), { state: "pending" });
    await expect.poll(() => open().length).toBe(1);
    await world.supervisor.answer(admin(), open()[0]?.id ?? "", { answer: "deny", reason: "no" });
    await expect(denied).rejects.toMatchObject({
      code: "grant-refused",
      message: "a person said no: no",
    });

    const withdrawn = await request("asked", { waitMs: 0 });
    await authority.release(agent(), session, withdrawn.handle);
    expect(world.supervisor.approval(admin(), withdrawn.approval ?? "").state).toBe("cancelled");
  });

  test("an approval of a command that outlives it is a grant: for a time, for this phase, until a closure", async () => {
    const once = run(world, session, "touch /etc/nothing", {
      on: answering(world, { answer: "approve", mode: "grant", forMs: 60_000 }),
    });
    // What lies outside of the worktree is no grant of this project's.
    await expect(once).rejects.toMatchObject({ code: "bad-request" });
    await set(CONTRACT.replace('paths: ["docs/**"], phase', 'paths: ["lib/**"], phase'));
    const ran = await run(world, session, "touch docs/mine", {
      on: answering(world, {
        answer: "approve",
        mode: "grant",
        thisPhase: true,
        until: { closure: "written" },
      }),
    });
    expect(ran.last).toMatchObject({ exitCode: 0 });
    const [grant] = world.supervisor.authority.grants(admin());
    expect(grant).toMatchObject({
      rule: null,
      effect: "write",
      paths: ["docs/mine"],
      by: `uid ${PERSON}`,
      endsWith: ["written: docs/done exists", "the phase is no longer implement"],
    });
    const again = await run(world, session, { command: "touch docs/mine", waitMs: 0 });
    expect(again.last).toMatchObject({ type: "exit" });
    const elsewhere = await run(world, session, { command: "touch docs/other", waitMs: 0 });
    expect(elsewhere.last).toMatchObject({ type: "refused" });
  });

  test("C3: a kill of the daemon keeps grants, counts, phase and epoch; the clock goes on, and one set back prolongs nothing", async () => {
    let shift = 0;
    world.now = () => Date.now() + shift;
    await set();
    const kept = await request("docs");
    await request("once");
    await run(world, session, "touch once.txt");
    const asked = await request("asked", { waitMs: 0 });
    const before = shown();
    await world.restart();
    expect(shown()).toEqual(before);
    expect(world.supervisor.authority.contracts(admin())).toMatchObject([{ text: CONTRACT }]);
    expect(
      (await run(world, session, { command: "touch docs/x", handle: kept.handle })).last,
    ).toMatchObject({ exitCode: 0 });
    const id = asked.approval ?? "";
    await world.supervisor.answer(admin(), id, { answer: "approve", mode: "once" });
    expect(shown().grants.map(({ rule }) => rule)).toEqual(["docs", "asked"]);
    shift = -3_600_000;
    await world.restart();
    expect(shown().grants).toHaveLength(2);
    shift = 31 * 60_000;
    await world.restart();
    await expect.poll(() => shown().grants.map(({ rule }) => rule)).toEqual(["asked"]);
    expect(shown().epoch).toBeGreaterThan(before.epoch);
    const late = await run(world, session, { command: "touch docs/x", handle: kept.handle });
    expect(late.last).toMatchObject({
      reason: expect.stringContaining("its 30m are over; request docs again"),
    });
  });

  test("what is saved may be lost, cut off or of another time: the journal has all of it", async () => {
    await set();
    await request("docs");
    const before = shown();
    const file = `${world.folder}/state/authority.json`;
    for (const text of ["", "{", '{"version":1,"seq":999999,"ledgers":[]}']) {
      writeFileSync(file, text);
      await world.restart();
      expect(shown()).toEqual(before);
    }
    rmSync(file);
    await world.restart();
    expect(shown()).toEqual(before);
  });

  test("C3: a closed session leaves no grant to the next one, and a new session no fresh count", async () => {
    await set();
    await request("once");
    await run(world, session, "touch once.txt");
    const { handle } = await request("docs");
    await world.supervisor.closeSession(agent(), session);
    session = await world.open();
    expect(shown().grants).toEqual([]);
    const late = await run(world, session, { command: "touch docs/x", handle });
    expect(late.last).toMatchObject({ reason: expect.stringContaining("was closed") });
    expect(await request("once", { waitMs: 0 })).toMatchObject({ outcome: "pending" });
  });

  test("C6: the change stream tells of every change, and ends with the session", async () => {
    await set();
    const seen: string[] = [];
    const stream = (async () => {
      for await (const { interface: now, diff } of world.supervisor.authority.watchInterface(
        agent(),
        session,
        never,
      )) {
        const changes = diff === null ? "first" : `+${diff.added.length} -${diff.removed.length}`;
        seen.push(`${now.epoch}: ${changes}`);
      }
    })();
    await expect.poll(() => seen.length).toBe(1);
    const { handle } = await request("docs");
    await expect.poll(() => seen.length).toBe(2);
    await world.supervisor.authority.release(agent(), session, handle);
    await expect.poll(() => seen.length).toBe(3);
    expect(seen).toEqual(["2: first", "3: +1 -0", "4: +0 -1"]);
    await world.supervisor.closeSession(agent(), session);
    await stream;
  });

  test("files rest on grants as commands do: written under one, refused after it closed, before anything is done", async () => {
    await set();
    const { files, authority } = world.supervisor;
    const call = { caller: agent(), session, signal: never, waitMs: 0 };
    const write = (path: string, more = {}) =>
      files.write({ ...call, ...more }, { path }, bytes("new"));
    await expect(write("docs/f.md")).rejects.toMatchObject({ code: "refused" });
    const { handle } = await request("docs");
    expect(await write("docs/f.md")).toMatchObject({ bytes: 3 });
    await expect(write("docs/.env")).rejects.toMatchObject({
      code: "refused",
      details: { by: "policy" },
    });
    await authority.release(agent(), session, handle);
    await expect(write("docs/g.md", { handle })).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining("the agent released it; request docs again"),
    });
    expect(existsSync(`${world.worktree()}/docs/g.md`)).toBe(false);
  });
});

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

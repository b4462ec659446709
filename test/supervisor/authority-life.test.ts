/** What ends grants in the daemon, who gives them, and what outlives a kill of it (C3, C5, C6). */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AuthorityWorld, CONTRACT, never } from "./authority-world.ts";
import { AGENT, admin, agent, answering, codeOf, PERSON, run } from "./world.ts";

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
    world.session = session;
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

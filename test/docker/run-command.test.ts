/** The whole way of a command with a real container behind it: asked, approved, refused, cut, killed, kept apart. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunEvent } from "../../daemon/supervisor/types.ts";
import { admin, agent, answering, codeOf, OTHER_AGENT, OWNER, run } from "../supervisor/world.ts";
import { DockerWorld } from "./docker-world.ts";
import { EXECUTORS, whyNot } from "./rig.ts";

const missing = await whyNot();
const once = { answer: "approve", mode: "once" } as const;

describe.skipIf(missing).each(EXECUTORS)("a command in its container, by %s", (executor) => {
  const world = new DockerWorld();
  let session: string;

  beforeAll(async () => {
    world.profile = `extends: dev\napprovalWait: 5s\nexecutor: ${executor}\nlimits: {output: 1MiB, worktreeGrowth: 64MiB}\n`;
    await world.start();
    session = await world.open();
  });

  afterAll(() => world.end());

  const approved = { on: answering(world, once) };

  test("allowed: its own output, exit code and folder, as the worktree's owner", async () => {
    const { stdout, last } = await run(world, session, "cat file.txt; pwd; id -u; ls nothing");
    expect(stdout).toBe(`text\n${world.worktree()}\n${OWNER}\n`);
    expect(last).toMatchObject({ type: "exit", exitCode: 2, timedOut: false });
    const [created, started] = world.recorded("sandbox.created", "sandbox.started");
    expect([created?.[0], started?.[0]]).toEqual(["sandbox.created", "sandbox.started"]);
  });

  test("bytes come through as they are, both ways", async () => {
    const stdin = randomBytes(300_000);
    const parts: Buffer[] = [];
    const { last } = await run(
      world,
      session,
      { command: "cat", stdin },
      {
        on: (event) => {
          if (event.type === "stdout") parts.push(Buffer.from(event.data));
        },
      },
    );
    expect(last).toMatchObject({ type: "exit", exitCode: 0 });
    expect(Buffer.concat(parts).equals(stdin)).toBe(true);
  });

  test("asked: no leaves everything as it is, yes once deletes for real", async () => {
    const doomed = join(world.worktree(), "doomed");
    world.write(join(doomed, "file"), "x");
    const refused = await run(world, session, "rm -rf doomed", {
      on: answering(world, { answer: "deny", reason: "keep it" }),
    });
    expect(refused.last).toMatchObject({ type: "refused", by: "person", reason: "keep it" });
    expect(existsSync(doomed)).toBe(true);
    expect((await run(world, session, "rm -rf doomed", approved)).last).toMatchObject({
      exitCode: 0,
    });
    expect(existsSync(doomed)).toBe(false);
  });

  test("an approval of what is not in the sandbox does not put it there", async () => {
    const secret = join(world.folder, "secret");
    world.write(secret, "secret\n");
    const { stdout, last } = await run(world, session, `cat ${secret}`, {
      on: async (event) => {
        if (event.type !== "pending") return;
        expect(world.supervisor.approval(admin(), event.approval).cannotTakeEffect).toEqual([
          secret,
        ]);
        await world.supervisor.answer(admin(), event.approval, once);
      },
    });
    expect(stdout).toBe("");
    expect(last).toMatchObject({ type: "exit", exitCode: 1 });
  });

  test("over its time everything it started is gone", async () => {
    const command = "sleep 4711 & sleep 4712";
    const { last } = await run(world, session, { command, timeoutMs: 700 }, approved);
    expect(last).toMatchObject({ type: "exit", timedOut: true, cancelled: false });
    expect(await world.processes()).not.toMatch(/471[12]/);
  });

  test("when the client goes away, too, and the end is on record before the call returns", async () => {
    const client = new AbortController();
    const answer = answering(world, once);
    let started: Extract<RunEvent, { type: "started" }> | undefined;
    const { last } = await run(world, session, "sleep 4713", {
      signal: client.signal,
      on: async (event) => {
        await answer(event);
        if (event.type !== "started") return;
        started = event;
        await expect.poll(() => world.processes(), { timeout: 20_000 }).toContain("4713");
        client.abort();
      },
    });
    expect(last).toMatchObject({ type: "exit", cancelled: true });
    expect(await world.processes()).not.toContain("4713");
    const ended = world.recorded("exec.exited").find(([, data]) => data.exec === started?.exec);
    expect(ended?.[1]).toMatchObject({ cancelled: true });
  });

  test("output over the limit is cut and counted, and the command ends by itself", async () => {
    const { events, stdout, last } = await run(world, session, "seq 1 500000", approved);
    expect(stdout).toHaveLength(1_048_576);
    const whole = 3_388_895;
    expect(events.filter(({ type }) => type === "truncated").at(-1)).toMatchObject({
      bytes: whole - 1_048_576,
    });
    expect(last).toMatchObject({ type: "exit", exitCode: 0, stdoutBytes: whole });
  });

  test("a command that fills the disk is stopped, with its children, and told why", async () => {
    const command = "(while head -c 32M /dev/zero >>fill; do sleep 0.1; done) & wait";
    const { events, last } = await run(world, session, command, approved);
    expect(events.flatMap((event) => (event.type === "note" ? [event.code] : []))).toContain(
      "disk_limit",
    );
    expect(last).toMatchObject({ type: "exit", diskLimit: true, timedOut: false });
    expect(await world.processes()).not.toContain("/dev/zero");
    await run(world, session, "rm fill", approved);
  });

  test("a folder that is not in the sandbox is told as that, and recorded as never run", async () => {
    const cwd = world.worktree("two");
    expect(await codeOf(() => run(world, session, { command: "ls", cwd }))).toMatch(
      /^(exec|engine)-failed$/,
    );
    expect(world.recorded("exec.exited").at(-1)?.[1]).toMatchObject({ exitCode: null });
  });

  test("two agents on two projects see neither each other's files nor processes nor events (D2, A11)", async () => {
    const caller = agent("api", OTHER_AGENT);
    const other = await world.open(caller);
    const leave = new AbortController();
    const answer = answering(world, once);
    const sleeping = run(world, other, "sleep 4714", {
      caller,
      signal: leave.signal,
      on: answer,
    });
    await expect.poll(() => world.processes("api"), { timeout: 20_000 }).toContain("4714");
    const mine = await run(world, session, "ps -eo args", approved);
    expect(mine.stdout).toContain("ps -eo args");
    expect(mine.stdout).not.toContain("4714");
    const api = join(world.folder, "api");
    const look = await run(world, session, `ls ${api}/.worktrees/one`, approved);
    expect(look.last).toMatchObject({ type: "exit", exitCode: 2 });
    expect(world.supervisor.events(agent(), {}).every((entry) => entry.project === "web")).toBe(
      true,
    );
    expect(world.supervisor.hazards.list(agent()).every(({ project }) => project === "web")).toBe(
      true,
    );
    leave.abort();
    await sleeping;
  });

  test("the next daemon stops what the last one left running, and says what it does not know", async () => {
    const answer = answering(world, once);
    const lost = run(world, session, "sleep 4715", { on: answer });
    lost.catch(() => undefined);
    await expect.poll(() => world.processes(), { timeout: 20_000 }).toContain("4715");
    await world.restart();
    session = await world.open();
    expect(world.recorded("exec.lost")).toHaveLength(1);
    expect((await run(world, session, "cat file.txt")).stdout).toBe("text\n");
    expect(await world.processes()).not.toContain("4715");
    expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toContain("sleep 4715");
    await lost.catch(() => undefined);
    expect(readFileSync(join(world.worktree(), "file.txt"), "utf8")).toBe("text\n");
    expect(world.journal?.verify().ok).toBe(true);
  });
});

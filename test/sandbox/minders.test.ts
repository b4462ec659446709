/** A minder takes one command after another, each as if it were its first. As root on this machine. */
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  FROM_RUNNER,
  frame,
  type RunnerCommand,
  resizeFrame,
  specFrame,
  TO_RUNNER,
  u32,
} from "../../daemon/sandbox/runner/frames.ts";
import type { RunnerServer } from "../../daemon/sandbox/runner/runner-server.ts";
import { command, StartedRunner } from "./started-runner.ts";

describe.skipIf(process.getuid?.() !== 0)("a minder takes one command after another", () => {
  let started: StartedRunner;
  let server: RunnerServer;

  async function bash(script: string, more: Partial<RunnerCommand> = {}): Promise<string> {
    const child = await server.run(command(["bash", "-c", script], more));
    child.stderr.resume();
    const printed = await text(child.stdout);
    await child.gone;
    return printed;
  }

  beforeAll(async () => {
    started = await StartedRunner.start();
    ({ server } = started);
  });
  afterAll(() => started?.end());

  /** Process of the minder that minds this command. */
  const minderOf = async (script = "echo $PPID", more: Partial<RunnerCommand> = {}) =>
    Number(await bash(script, more));
  // The one whose command ended last comes first.
  const isFree = async (minder: number) => expect(await minderOf()).toBe(minder);

  it("once nothing of the last is left", async () => {
    const minder = await minderOf();
    await isFree(minder);
    const child = await server.run(
      command(["bash", "-c", "echo $PPID; sleep 1000 >/dev/null 2>&1 &"]),
    );
    const own = Number(await text(child.stdout));
    expect(await child.exited).toMatchObject({ left: 1 });
    // As long as its job lives, it is nobody else's.
    expect(await minderOf()).not.toBe(own);
    child.signal("KILL", true);
    await child.gone;
    await isFree(own);
  });

  it("and what is late for the last does not reach the next", async () => {
    const child = await server.run(command(["bash", "-c", "echo $PPID"], { stdin: true }));
    const minder = Number(await text(child.stdout));
    await child.gone;
    child.signal("KILL", true);
    child.resize(1, 1);
    child.abandon();
    child.stdin?.end("late");
    expect(await minderOf("cat; echo $PPID", { stdin: false })).toBe(minder);
  });

  it("also frames that were on their way when it told that it is gone", async () => {
    const place = join(started.folder, "socket", "raw");
    const raw = createServer();
    await new Promise<void>((resolve) => raw.listen(place, resolve));
    let said = Buffer.alloc(0);
    // The first that says hello; the others are seen off.
    const greeted = new Promise<Socket>((resolve) =>
      raw.on("connection", (each) => each.once("data", () => resolve(each)).resume()),
    );
    const other = started.spawn(place, 1);
    const mine = await greeted;
    mine.on("data", (chunk) => {
      said = Buffer.concat([said, chunk]);
    });
    const gone = frame(FROM_RUNNER.gone, Buffer.from([1]));
    mine.write(specFrame(command(["true"])));
    await expect.poll(() => said.indexOf(gone)).toBeGreaterThan(0);
    said = Buffer.alloc(0);
    for (const late of [
      frame(TO_RUNNER.signal, Buffer.concat([u32(9), Buffer.from([1])])),
      frame(TO_RUNNER.stdin, Buffer.from("late")),
      frame(TO_RUNNER.stdinEnd),
      resizeFrame(1, 1),
    ])
      mine.write(late);
    mine.write(specFrame(command(["bash", "-c", "sleep 0.1; cat; echo whole"])));
    await expect.poll(() => said.indexOf(gone)).toBeGreaterThan(0);
    expect(said.includes(frame(FROM_RUNNER.stdout, Buffer.from("whole\n")))).toBe(true);
    mine.destroy();
    other.stdin?.end();
    raw.close();
  });

  it("and what carries a way out is no process of the command, on a used minder either", async () => {
    const minder = await minderOf();
    const wayOut = { socket: "/nonexistent", token: Buffer.alloc(32) };
    const confinement = { writable: [], readOnly: false, tcp: true, wayOut };
    const child = await server.run(command(["bash", "-c", "echo $PPID"], { confinement }));
    child.stderr.resume();
    expect(Number(await text(child.stdout))).toBe(minder);
    expect(await child.exited).toMatchObject({ exitCode: 0, left: 0 });
    await child.gone;
  });

  it("also after one that was killed, with all that it started", async () => {
    const child = await server.run(
      command(["bash", "-c", "echo $PPID; setsid sleep 1000 & sleep 1000"]),
    );
    const own = Number(
      await new Promise((resolve) => child.stdout.once("data", (data) => resolve(String(data)))),
    );
    child.stderr.resume();
    child.stdout.resume();
    child.signal("KILL", true);
    await child.gone;
    await isFree(own);
    expect(await bash("ps -o ppid= -C sleep || true")).not.toContain(String(own));
  });

  it("after a burst only some are kept", async () => {
    await Promise.all(Array.from({ length: 12 }, () => bash("sleep 0.3")));
    expect(server.idle).toBeGreaterThan(8);
    await expect.poll(() => server.idle, { timeout: 30_000 }).toBeLessThanOrEqual(8);
  }, 40_000);
});

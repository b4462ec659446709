/** A command that fills the disk is stopped by what it writes into its worktree, and by nothing else. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ExecExit } from "../../daemon/sandbox/engine.ts";
import { Execution } from "../../daemon/supervisor/execution.ts";
import { JobOutput } from "../../daemon/supervisor/jobs/job-output.ts";
import { admin, answering, run, World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = new World();
  world.profile = "extends: dev\nlimits: {worktreeGrowth: 1MiB, wallClock: 20s}\n";
  await world.start();
});

afterEach(() => world.end());

/** Writes that much into a folder, and then waits to be killed for two and a half seconds. */
function writing(folder: string, bytes: number) {
  world.programs.set("touch big", async ({ killed }) => {
    writeFileSync(join(folder, "big"), Buffer.alloc(bytes, 1), { flush: true });
    const wait = new Promise((resolve) => setTimeout(resolve, 2_500, "over"));
    return (await Promise.race([killed, wait])) === "over" ? 0 : 143;
  });
}

const touch = async () =>
  run(world, await world.open(), "touch big", {
    on: answering(world, { answer: "approve", mode: "once" }, admin()),
  });

test("over its ceiling it is stopped, told and recorded as that", async () => {
  writing(world.worktree(), 32 * 2 ** 20);
  const { events, last } = await touch();
  const reason = `disk-limit: the command wrote more than 1048576 bytes into ${world.worktree()} and was stopped (limits.worktreeGrowth)`;
  expect(events.filter(({ type }) => type === "note")).toEqual([
    { type: "note", code: "disk_limit", paths: [world.worktree()], reason },
  ]);
  const exit = { exitCode: 143, diskLimit: true, timedOut: false, cancelled: false };
  expect(last).toMatchObject({ type: "exit", ...exit });
  expect(world.recorded("exec.exited").at(-1)?.[1]).toMatchObject(exit);
});

test("what others write onto the same disk is not its own", async () => {
  writing(world.folder, 32 * 2 ** 20);
  const { events, last } = await touch();
  expect(events.filter(({ type }) => type === "note")).toEqual([]);
  expect(last).toMatchObject({ type: "exit", exitCode: 0 });
  expect(last).not.toHaveProperty("diskLimit");
});

test("a ceiling that was passed while it was being started stops it too", async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const exited = new Promise<ExecExit>((resolve) => {
    stdout.once("end", () => resolve({ exitCode: 143, oomKilled: false }));
  });
  const kill = async () => {
    stdout.end();
    stderr.end();
  };
  const execution = new Execution({
    process: { stdin: null, stdout, stderr, exited, kill },
    exec: "x-1",
    stdin: undefined,
    timeoutMs: 60_000,
    idleTimeoutMs: null,
    outputBytesMax: 1_000,
    history: new JobOutput(),
    keepsBackground: false,
    folderAfter: () => undefined,
    signal: new AbortController().signal,
    overDisk: AbortSignal.abort(),
    now: () => 1,
    onEnd: () => undefined,
  });
  const events = [];
  for await (const event of execution.events()) events.push(event);
  expect(events).toMatchObject([{ type: "exit", exitCode: 143, diskLimit: true }]);
});

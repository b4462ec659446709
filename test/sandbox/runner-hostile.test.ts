/** The daemon's side of the runner's socket under a runner, or somebody with its rights, that keeps to nothing. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  RUNNER_FRESH_MINDERS_MAX,
  RUNNER_HELLO_TIMEOUT_MS,
  RUNNER_UNKNOWN_CONNECTIONS_MAX,
} from "../../daemon/limits.ts";
import {
  FROM_RUNNER,
  frame,
  type RunnerCommand,
  STDIN_WINDOW_BYTES,
  u32,
} from "../../daemon/sandbox/runner/frames.ts";
import type { RunnerProcess } from "../../daemon/sandbox/runner/runner-process.ts";
import { RunnerServer } from "../../daemon/sandbox/runner/runner-server.ts";

const COMMAND: RunnerCommand = {
  argv: ["true"],
  env: {},
  cwd: "/",
  user: { uid: 65_534, gid: 65_534 },
  stdin: true,
  tty: null,
  confinement: null,
  openFiles: null,
  fileBytes: null,
};
const { hello, started, stdout, exited, gone, stdinTaken, failed } = FROM_RUNNER;
const STARTED = frame(started, Buffer.concat([u32(7, 0), Buffer.from([0])]));
const EXITED = frame(exited, u32(0, 0, 0));
const FREE = frame(gone, Buffer.from([1]));

describe("a hostile runner", () => {
  let folder: string;
  let path: string;
  let server: RunnerServer;
  let secret: Buffer;
  let sockets: Socket[] = [];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "recinto-hostile-"));
    path = join(folder, "s");
    secret = randomBytes(32);
    server = await RunnerServer.listen(path, secret);
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const greeting = (shown = secret) => frame(hello, Buffer.concat([shown, u32(1, 7)]));

  async function dial(...bytes: readonly Uint8Array[]): Promise<Socket> {
    const socket = connect({ path, allowHalfOpen: true });
    sockets.push(socket);
    socket.on("error", () => {});
    socket.resume();
    await new Promise((resolve) => socket.once("connect", resolve));
    for (const part of bytes) socket.write(part);
    return socket;
  }
  const closed = (socket: Socket) =>
    expect.poll(() => socket.closed || socket.readableEnded, { timeout: 10_000 }).toBe(true);

  /** A command whose minder says this once it has its specification. */
  async function commandWith(...said: readonly Uint8Array[]): Promise<[RunnerProcess, Socket]> {
    const socket = await dial(greeting());
    await expect.poll(() => server.idle).toBe(1);
    const spec = new Promise((resolve) => socket.once("data", resolve));
    const child = await server.run(COMMAND);
    await spec;
    socket.write(Buffer.concat(said));
    return [child, socket];
  }

  /** What a minder that keeps to the format gets done beside all that. */
  async function serves(): Promise<void> {
    const [child] = await commandWith(STARTED, frame(stdout, Buffer.from("fine")), EXITED, FREE);
    expect(String(await buffer(child.stdout))).toBe("fine");
    expect(await child.exited).toEqual({ exitCode: 0, left: 0, oomKilled: false });
    await child.gone;
  }

  test.each<[string, () => Buffer[]]>([
    ["a secret of its own", () => [greeting(randomBytes(32))]],
    ["the right secret in a frame of another kind", () => [frame(started, secret)]],
    ["a greeting with more behind it", () => [Buffer.concat([greeting(), Buffer.from("x")])]],
    [
      "a frame of 4 GiB",
      () => [Buffer.concat([u32(0xffff_ffff), Buffer.from("H"), Buffer.alloc(100)])],
    ],
    ["an answer before any question", () => [STARTED, EXITED, FREE]],
    ["bytes of no kind", () => [randomBytes(100_000)]],
  ])("is let go where it shows %s", async (_, bytes) => {
    await closed(await dial(...bytes()));
    expect(server.idle).toBe(0);
    await serves();
  });

  test("a second greeting on one connection ends it", async () => {
    const socket = await dial(greeting());
    await expect.poll(() => server.idle).toBe(1);
    socket.write(greeting());
    await closed(socket);
    expect(server.idle).toBe(0);
  });

  test("a secret that was seen is worth nothing to the next runner", async () => {
    const captured = greeting();
    const old = await dial(captured);
    await expect.poll(() => server.idle).toBe(1);
    secret = randomBytes(32);
    server.renew(secret);
    await closed(old);
    await closed(await dial(captured));
    expect(server.idle).toBe(0);
    await serves();
  });

  test("1,000 connections that say nothing take a bounded number of descriptors, and leave again", {
    timeout: 60_000,
  }, async () => {
    const descriptors = () => readdirSync("/proc/self/fd").length;
    const before = descriptors();
    const silent: Socket[] = [];
    for (let n = 0; n < 1_000; n++) silent.push(await dial());
    await expect
      .poll(() => silent.filter((socket) => !socket.readableEnded && !socket.closed).length)
      .toBeLessThanOrEqual(RUNNER_UNKNOWN_CONNECTIONS_MAX);
    for (const socket of silent) if (socket.readableEnded) socket.destroy();
    // Both ends of each are this process's.
    await expect
      .poll(() => descriptors() - before)
      .toBeLessThanOrEqual(2 * RUNNER_UNKNOWN_CONNECTIONS_MAX + 8);
    await expect
      .poll(() => silent.every((socket) => socket.readableEnded || socket.closed), {
        timeout: RUNNER_HELLO_TIMEOUT_MS + 20_000,
      })
      .toBe(true);
    await serves();
  });

  test("1,000 connections that know the secret are no more minders than a runner has", async () => {
    for (let n = 0; n < 1_000; n++) await dial(greeting());
    await expect
      .poll(() => sockets.filter((socket) => !socket.readableEnded && !socket.closed).length)
      .toBe(RUNNER_FRESH_MINDERS_MAX);
    expect(server.idle).toBe(RUNNER_FRESH_MINDERS_MAX);
  });

  test.each<[string, Buffer]>([
    ["an unknown frame", frame(1)],
    ["output of 4 GiB", Buffer.concat([u32(0xffff_ffff), Buffer.from("o")])],
    ["an exit of one word", frame(exited, u32(0))],
    ["a start without its end", frame(started, u32(1))],
    ["a failure of a megabyte", frame(failed, Buffer.alloc(2 ** 20))],
    ["a greeting", Buffer.from("")],
  ])("%s ends the command that it was said to, and no other", async (_, said) => {
    const [child, socket] = await commandWith(STARTED, said.length === 0 ? greeting() : said);
    child.stdout.resume();
    child.stderr.resume();
    await expect(child.exited).rejects.toMatchObject({
      code: "engine-failed",
      message: expect.stringContaining("broke its protocol"),
    });
    await child.gone;
    await closed(socket);
    await serves();
  });

  test("it gets no second command for one connection by ending the first twice", async () => {
    const [child, socket] = await commandWith(STARTED, EXITED, FREE, FREE, STARTED, EXITED, FREE);
    child.stdout.resume();
    child.stderr.resume();
    await child.exited;
    await child.gone;
    await closed(socket);
    expect(server.idle).toBe(0);
    await serves();
  });

  test("output that filled its reader to the end holds up no command after it", async () => {
    // As much as a reader holds, and the end in the piece that fills it.
    const most = frame(stdout, Buffer.alloc(STDIN_WINDOW_BYTES + 100));
    const [first, socket] = await commandWith(STARTED, most, EXITED, FREE);
    await first.gone;
    await expect.poll(() => server.idle).toBe(1);
    socket.once("data", () => socket.write(Buffer.concat([STARTED, EXITED, FREE])));
    const second = await server.run(COMMAND);
    expect(await second.started).toMatchObject({ pid: 7 });
    expect((await buffer(first.stdout)).length).toBe(STDIN_WINDOW_BYTES + 100);
  });

  test("what it says it took of the input makes the daemon send no more than was asked for", async () => {
    const [child, socket] = await commandWith(
      STARTED,
      ...Array.from({ length: 64 }, () => frame(stdinTaken, u32(0xffff_ffff))),
    );
    let came = 0;
    socket.on("data", (chunk) => {
      came += chunk.length;
    });
    child.stdin?.on("error", () => {});
    await child.started;
    child.stdin?.write(Buffer.alloc(4 * 2 ** 20));
    await expect.poll(() => came).toBeGreaterThan(2 ** 17);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(came).toBeLessThan(2 ** 19);
    socket.destroy();
    await child.gone;
  });

  test("arbitrary frames, cut anywhere, settle every command once its connection is gone", {
    timeout: 120_000,
  }, async () => {
    const kind = fc.constantFrom(...Object.values(FROM_RUNNER), 0, 255);
    const payload = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(u32(0, 0, 0), u32(1), Buffer.from([1]), Buffer.alloc(9), Buffer.alloc(12)),
    );
    const said = fc.array(
      fc.tuple(kind, payload).map(([type, bytes]) => frame(type, bytes)),
      { maxLength: 10 },
    );
    const runs = Number(process.env.RECINTO_FUZZ_RUNS ?? 150);
    await fc.assert(
      fc.asyncProperty(said, fc.nat(200), async (frames, cut) => {
        const bytes = Buffer.concat(frames);
        const socket = await dial(greeting());
        await expect.poll(() => server.idle).toBe(1);
        const child = await server.run(COMMAND);
        child.stdout.resume();
        child.stderr.resume();
        child.stdin?.on("error", () => {});
        child.stdin?.end(Buffer.alloc(1_000));
        socket.write(bytes.subarray(0, cut));
        socket.end(bytes.subarray(cut));
        await soon(child.gone);
        await soon(Promise.allSettled([child.started, child.exited]));
        await expect.poll(() => server.idle).toBe(0);
        socket.destroy();
      }),
      { numRuns: runs },
    );
  });
});

/** A promise that stays open for ever is a finding with its input, not a test that runs out of time. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("still open after 20 s")), 20_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Commands in a sandbox, by each way to run them: every byte, every exit, and nothing left behind. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RUNNER_SPARE_MINDERS } from "../../daemon/limits.ts";
import type { ExecProcess } from "../../daemon/sandbox/engine.ts";
import type { SandboxCommand, SandboxHandle } from "../../daemon/sandbox/sandboxes.ts";
import { EXECUTORS, outputOf, Rig, whyNot } from "./rig.ts";

const MIB = 2 ** 20;
const missing = await whyNot();

describe.skipIf(missing).each(EXECUTORS)("commands by the executor %s", (executor) => {
  let rig: Rig;
  let handle: SandboxHandle;
  beforeAll(async () => {
    rig = await Rig.make({ executor });
    handle = await rig.daemon().ensure(rig.project, rig.profile, rig.folder("exec"));
  });
  afterAll(() => rig?.close());
  const start = (command: string, more: Partial<SandboxCommand> = {}): Promise<ExecProcess> =>
    handle.exec({ command, cwd: "/", stdin: false, ...more });
  const run = async (command: string) => outputOf(await start(command));

  test("streams are kept apart and the exit code is the command's", async () => {
    expect(await run("echo out; echo err >&2; exit 42")).toMatchObject({
      stdout: "out\n",
      stderr: "err\n",
      exit: { exitCode: 42, oomKilled: false },
    });
  });

  test("the text runs as it was judged: quotes, newlines, bytes beyond ASCII", async () => {
    const { stdout } = await run("printf '%s|' \"a  b\" 'c\nd' $'\\x41' é🙂\n# end");
    expect(stdout).toBe("a  b|c\nd|A|é🙂|");
  });

  test("a request's variables are added to the sandbox's", async () => {
    const process = await start('printf "%s " "$HOME" "$CI" "$GIT_PAGER"', { env: { CI: "yes" } });
    expect((await outputOf(process)).stdout).toBe("/home/agent yes cat ");
  });

  test("without input a command reads end of file at once", async () => {
    expect((await run("cat; echo done")).stdout).toBe("done\n");
  });

  test("input arrives to the byte, and its end does too", async () => {
    const input = Buffer.alloc(8 * MIB);
    for (let at = 0; at < input.length; at++) input[at] = (at * 31 + (at >> 8)) & 0xff;
    const process = await start("sha256sum", { stdin: true });
    process.stdin?.end(input);
    const hash = createHash("sha256").update(input).digest("hex");
    expect((await outputOf(process)).stdout).toBe(`${hash}  -\n`);
  });

  test("64 MiB of arbitrary bytes come out exactly", async () => {
    const make =
      "import random,sys; r=random.Random(7)\nfor _ in range(64): sys.stdout.buffer.write(r.randbytes(1<<20))";
    const process = await start(`python3 -c '${make}' | tee >(sha256sum >&2)`);
    const hash = createHash("sha256");
    let bytes = 0;
    let told = "";
    process.stderr.on("data", (chunk) => {
      told += chunk;
    });
    for await (const chunk of process.stdout) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    await process.exited;
    expect([bytes, hash.digest("hex")]).toEqual([64 * MIB, told.split(" ")[0]]);
  });

  test("a reader that does not read stops the command, not the daemon's memory", async () => {
    const process_ = await start("head -c 200M /dev/zero");
    process_.stderr.resume();
    await sleep(200);
    const before = process.memoryUsage();
    await sleep(1_500);
    const grown = process.memoryUsage().rss - before.rss;
    expect(grown).toBeLessThan(32 * MIB);
    expect(process_.stdout.readableLength).toBeLessThan(MIB);
    let bytes = 0;
    for await (const chunk of process_.stdout) bytes += chunk.length;
    expect([bytes, await process_.exited]).toMatchObject([
      200 * MIB,
      { exitCode: 0, oomKilled: false },
    ]);
  });

  test("a command that closes its output is waited for", async () => {
    const { exit } = await run("exec >&- 2>&-; sleep 0.4; exit 5");
    expect(exit.exitCode).toBe(5);
  });

  test("a command that cannot start says why", async () => {
    const failure = start("true", { cwd: "/nowhere" }).then((process) => {
      process.stdout.resume();
      process.stderr.resume();
      return process.exited;
    });
    await expect(failure).rejects.toMatchObject({
      code: executor === "plain" ? "engine-failed" : "exec-failed",
      message: expect.stringMatching(
        executor === "plain" ? /could not be started: .*\/nowhere/ : /: cwd: ENOENT$/,
      ),
    });
  });

  test("a sandbox that is removed under a command ends it", async () => {
    const other = await rig.daemon().ensure(rig.project, rig.profile, rig.folder("removed"));
    const process = await other.exec({ command: "sleep 100", cwd: "/", stdin: false });
    process.stdout.resume();
    process.stderr.resume();
    await sleep(300);
    await rig.engine.remove(other.id);
    // Which of the two depends on whether the engine still answers for it.
    const end = await process.exited.then(
      ({ exitCode }) => exitCode,
      ({ code }) => code,
    );
    expect([137, "engine-unreachable"]).toContain(end);
    await expect(other.exec({ command: "true", cwd: "/", stdin: false })).rejects.toMatchObject({
      code: "engine-failed",
    });
  });

  describe("killing leaves nothing", () => {
    const family = async () =>
      (await run("ps -eo args= | grep -E '^(sleep|python3) ' | sort")).stdout
        .split("\n")
        .filter(Boolean);

    test.each<[string, string]>([
      ["children and a pipeline", "sleep 501 & sleep 502 | sleep 503"],
      ["a session of its own", "setsid sleep 504 & wait"],
      ["nohup, with the streams closed", "nohup sleep 505 >/dev/null 2>&1 & sleep 506"],
      ["a double fork", "(setsid sleep 507 >/dev/null 2>&1 &); sleep 508"],
      ["one that ignores TERM", "trap '' TERM; sleep 509; sleep 510"],
      ["one that cleared its environment", "exec env -i sleep 511"],
      ["an orphan that cleared its environment", "(env -i setsid sleep 512 &); sleep 513"],
      ["one that forks all the time", "while :; do (sleep 514 &); sleep 0.01; done"],
    ])("%s", async (_, command) => {
      const bystander = await start("sleep 600");
      const process = await start(command);
      for (const stream of [process.stdout, process.stderr, bystander.stdout, bystander.stderr]) {
        stream.resume();
      }
      await sleep(300);
      expect((await family()).length).toBeGreaterThan(1);
      await process.kill("KILL");
      expect((await process.exited).exitCode).toBe(137);
      expect(await family()).toEqual(["sleep 600"]);
      await bystander.kill("KILL");
      await bystander.exited;
    });

    test("TERM lets a command clean up", async () => {
      const process = await start("trap 'echo cleaned; exit 3' TERM; sleep 100 & wait");
      const output = outputOf(process);
      await sleep(200);
      await process.kill("TERM");
      expect(await output).toMatchObject({ stdout: "cleaned\n", exit: { exitCode: 3 } });
    });

    test("a process table that is full is no hiding place", async () => {
      const limits = { ...rig.profile.limits, pids: 48 };
      const small = await rig
        .daemon()
        .ensure(rig.project, { ...rig.profile, limits }, rig.folder("bomb"));
      const process = await small.exec({
        command: "bomb() { bomb | bomb & }; bomb; sleep 100",
        cwd: "/",
        stdin: false,
      });
      process.stdout.resume();
      process.stderr.resume();
      await sleep(500);
      await process.kill("KILL");
      const left = await rig.engine.status(small.id);
      if (left?.state === "running") {
        const { stdout } = await rig.runner(small.id, small.spec)("pgrep -c bash");
        expect(stdout).toBe("0\n");
      } else expect(left?.state).toBe("stopped");
    });
  });

  test("60 commands, some at once, leave no connection open and no command in use", async () => {
    const sockets = () =>
      process.getActiveResourcesInfo().filter((name) => /Pipe|TCP/.test(name)).length;
    const before = sockets();
    for (let round = 0; round < 6; round++) {
      await Promise.all(Array.from({ length: 10 }, (_, n) => run(`echo ${n}`)));
    }
    // Some minders that had a command are kept for the next ones.
    await expect
      .poll(sockets, { timeout: 30_000 })
      .toBeLessThanOrEqual(before + RUNNER_SPARE_MINDERS + 1);
  });
});

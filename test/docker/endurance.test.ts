/** Many commands, many ends: nothing is left of any. RECINTO_LONG=1 makes each as long as the claim. */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RUNNER_SPARE_MINDERS, RUNNER_USED_MINDERS_MAX } from "../../daemon/limits.ts";
import type { SandboxHandle } from "../../daemon/sandbox/sandboxes.ts";
import { FAMILIES, LONG, numbers, seed } from "./endurance.ts";
import { outputOf, Rig, whyNot } from "./rig.ts";

const MIB = 2 ** 20;
const HOUR_MS = 3_600_000;
const missing = await whyNot();

describe.skipIf(missing).each(["runner", "once"] as const)(
  "commands by %s in the long run",
  (executor) => {
    let rig: Rig;
    let handle: SandboxHandle;
    beforeAll(async () => {
      rig = await Rig.make({ executor });
      handle = await rig.daemon().ensure(rig.project, rig.profile, rig.folder("endurance"));
    });
    afterAll(() => rig?.close());
    const start = (command: string, stdin = false) => handle.exec({ command, cwd: "/", stdin });
    const run = async (command: string) => outputOf(await start(command));
    /** Processes of the agent's user, seen from the engine's side. */
    const left = async () =>
      (
        await rig.runner(handle.id, handle.spec)(
          `ps -o args= -u 0 -N | grep -v -e '^ps ' -e '^grep ' -e '^/bin/bash'`,
          {
            root: true,
          },
        )
      ).stdout;

    test("commands that end in every way leave no process", { timeout: HOUR_MS }, async () => {
      const next = numbers(seed);
      const kills = { TERM: 0, KILL: 0 };
      const one = async () => {
        const process = await start(FAMILIES[next(FAMILIES.length)] as string);
        process.stdout.on("error", () => {}).resume();
        process.stderr.on("error", () => {}).resume();
        await sleep(next(30));
        if (next(3) === 0) {
          kills.TERM += 1;
          await process.kill("TERM");
        }
        await sleep(next(10));
        kills.KILL += 1;
        await process.kill("KILL");
        await process.exited;
        await process.control?.gone;
      };
      const rounds = (LONG ? 1_000 : 120) / 8;
      for (let round = 0; round < rounds; round++) {
        await Promise.all(Array.from({ length: 8 }, one));
      }
      console.log(JSON.stringify({ executor, seed, ...kills }));
      expect({ seed, left: await left() }).toEqual({ seed, left: "" });
    });

    test("what a command leaves running ends with it, unless somebody keeps it", async () => {
      const first = await start("sleep 721 >/dev/null & sleep 722 & echo out");
      expect(await outputOf(first)).toMatchObject({
        stdout: "out\n",
        exit: { exitCode: 0, left: 2 },
      });
      expect(await left()).toBe("");

      const later: string[] = [];
      const kept = await handle.exec({
        command: "(sleep 0.5; echo later; sleep 723) & echo out",
        cwd: "/",
        stdin: false,
        background: (stream, chunk) => later.push(`${stream} ${chunk}`),
      });
      expect(await outputOf(kept)).toMatchObject({ stdout: "out\n", exit: { exitCode: 0 } });
      expect((await kept.exited).left).toBeGreaterThan(0);
      await expect.poll(() => later, { timeout: 10_000 }).toEqual(["stdout later\n"]);
      expect(await left()).toContain("sleep 723");
      kept.control?.signal("KILL", true);
      await kept.control?.gone;
      expect(await left()).toBe("");
    });

    test("bytes are exact both ways", { timeout: HOUR_MS }, async () => {
      const total = (LONG && executor === "runner" ? 1024 : 64) * MIB;
      // The sum's own program is waited for: what a command leaves behind has a moment and no more.
      const process = await start("tee >(sha256sum >&2); wait $!", true);
      const [sent, came] = [createHash("sha256"), createHash("sha256")];
      const writing = (async () => {
        for (let done = 0; done < total; done += MIB) {
          const chunk = randomBytes(MIB);
          sent.update(chunk);
          if (process.stdin?.write(chunk) === false) {
            await new Promise((resolve) => process.stdin?.once("drain", resolve));
          }
        }
        process.stdin?.end();
      })();
      let bytes = 0;
      let told = "";
      process.stderr.on("data", (chunk) => {
        told += chunk;
      });
      for await (const chunk of process.stdout) {
        came.update(chunk);
        bytes += chunk.length;
      }
      await writing;
      await process.exited;
      const hash = sent.digest("hex");
      expect([bytes, came.digest("hex"), told]).toEqual([total, hash, `${hash}  -\n`]);
    });

    test("many commands leak no descriptor, no connection and no memory", {
      timeout: HOUR_MS,
    }, async () => {
      const descriptors = () => readdirSync("/proc/self/fd").length;
      const total = executor === "once" ? 100 : LONG ? 5_000 : 400;
      for (let n = 0; n < total / 4; n++) await run("true");
      globalThis.gc?.();
      const before = { fds: descriptors(), rss: process.memoryUsage().rss };
      for (let n = 0; n < total; n++) await run("true");
      globalThis.gc?.();
      expect(descriptors() - before.fds).toBeLessThan(8);
      expect(process.memoryUsage().rss - before.rss).toBeLessThan(64 * MIB);
      const runners = (
        await rig.runner(handle.id, handle.spec)("pgrep -fc 'recinto-runner --socket'", {
          root: true,
        })
      ).stdout;
      // The runner itself, its minders, and the shell that counts.
      const most = executor === "once" ? 1 : 2 + RUNNER_SPARE_MINDERS + RUNNER_USED_MINDERS_MAX;
      expect(Number(runners)).toBeLessThanOrEqual(most);
      expect(await left()).toBe("");
    });

    test("out of memory is told as what it is, and the runner goes on", async () => {
      const limits = { ...rig.profile.limits, memoryBytes: 64 * MIB };
      const small = await rig
        .daemon()
        .ensure(rig.project, { ...rig.profile, limits }, rig.folder("memory"));
      const in64 = async (command: string) =>
        (await outputOf(await small.exec({ command, cwd: "/", stdin: false }))).exit;
      expect(await in64("python3 -c 'x = bytearray(200 << 20); print(len(x))'")).toMatchObject({
        exitCode: 137,
        oomKilled: true,
      });
      expect(await in64("kill -9 $$")).toMatchObject({ exitCode: 137, oomKilled: false });
      expect(await in64("true")).toMatchObject({ exitCode: 0, oomKilled: false });
    });
  },
);

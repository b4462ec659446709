/** The whole way, client to container, for long: a daemon of its own, real sockets. RECINTO_LONG=1 (npm run endurance) makes each as long as the claim. */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import Dockerode from "dockerode";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RUNNER_SPARE_MINDERS, RUNNER_USED_MINDERS_MAX } from "../../daemon/limits.ts";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { BenchDaemon } from "../bench/daemon.ts";
import { containerProcesses, FAMILIES, LONG, numbers, seed } from "./endurance.ts";
import { outputOf, SOCKET, whyNot } from "./rig.ts";

const MIB = 2 ** 20;
const HOUR_MS = 3_600_000;
const missing = await whyNot();

describe.skipIf(missing).each(["runner", "once"] as const)(
  "a daemon for long, by %s",
  (executor) => {
    // One docker exec a command is fifteen times as slow: long are its kills alone.
    const slow = executor === "once";
    const long = LONG && !slow;
    let daemon: BenchDaemon;
    let session: string;
    let sandbox: string;
    beforeAll(async () => {
      daemon = await BenchDaemon.start({ executor });
      session = await daemon.open();
      script("family.sh", FAMILIES.map((text, at) => `${at}) ${text} ;;`).join("\n"), "case $1 in");
      await daemon.run(session, "true");
      sandbox = await daemon.sandbox();
    }, HOUR_MS);
    afterAll(() => daemon?.stop());

    /** What a developing agent may run without being asked: a script in its worktree. */
    function script(name: string, text: string, before = ""): void {
      const end = before === "" ? "" : "esac";
      writeFileSync(
        join(daemon.folder, "project/.worktrees/w0", name),
        [before, text, end].join("\n"),
        { mode: 0o755 },
      );
    }

    /** One command to its end: exit and the bytes of its output, or null where the client left before. */
    async function run(command: string, more: { timeoutMs?: number; signal?: AbortSignal } = {}) {
      const { signal, ...rest } = more;
      let bytes = 0;
      let text = "";
      try {
        for await (const event of daemon.agent.run(session, { command, ...rest }, signal)) {
          if (event.type === "stdout") bytes += event.data.length;
          if (event.type === "stderr") text += event.data;
          if (event.type === "pending" || event.type === "refused")
            throw new Error(`${command}: ${JSON.stringify(event)}`);
          if (event.type === "exit") return { ...event, bytes, text };
        }
      } catch (error) {
        if (signal?.aborted !== true) throw error;
      }
      return null;
    }

    async function renew(): Promise<void> {
      await daemon.agent.closeSession(session);
      session = await daemon.open();
    }

    /** Everything in the sandbox but the runner and its minders, of which there may be so many between commands. */
    const processes = async () => {
      const seen = containerProcesses(sandbox).map(({ args }) => args);
      const others = seen.filter((args) => !args.includes("recinto-runner"));
      const few = seen.length - others.length <= 1 + RUNNER_SPARE_MINDERS + RUNNER_USED_MINDERS_MAX;
      return few ? others : seen;
    };
    const idle = ["/bin/sleep infinity", "/sbin/docker-init -- /bin/sleep infinity"];

    /** The answer of a client that reads nothing until told; its socket is its own. */
    function unread(command: string, accept: string): Promise<IncomingMessage> {
      return new Promise((resolve, reject) => {
        const sent = request(
          {
            socketPath: daemon.agentSocket,
            path: `/v1/sessions/${session}/exec`,
            method: "POST",
            agent: false,
            headers: { accept, "content-type": "application/json" },
          },
          (answer) => resolve(answer.on("error", () => {}).pause()),
        );
        sent.once("error", reject);
        sent.end(JSON.stringify({ command }));
      });
    }

    /** Largest resident memory while `work` runs, MB: the daemon's, and the sum of our programs' in the sandbox. */
    async function peaks<T>(work: Promise<T>) {
      let over = false;
      const end = () => {
        over = true;
      };
      work.then(end, end);
      const peak = { daemon: 0, runner: 0 };
      while (!over) {
        peak.daemon = Math.max(peak.daemon, daemon.rssMb());
        const ours = containerProcesses(sandbox).filter(({ args }) =>
          args.includes("recinto-runner"),
        );
        peak.runner = Math.max(
          peak.runner,
          ours.reduce((sum, { rssMb }) => sum + rssMb, 0),
        );
        await sleep(100);
      }
      return { ...peak, result: await work };
    }

    test("time-outs, clients that leave and plain ends leave no process", {
      timeout: HOUR_MS,
    }, async () => {
      const next = numbers(seed);
      const ends = { timedOut: 0, left: 0, ended: 0 };
      const one = async () => {
        const command = `bash family.sh ${next(FAMILIES.length)}`;
        const how = next(3);
        if (how === 0) {
          const exit = await run(command, { timeoutMs: 1 + next(300) });
          ends[exit?.timedOut ? "timedOut" : "ended"] += 1;
          return;
        }
        const leave = new AbortController();
        const timer = setTimeout(() => leave.abort(), next(how === 1 ? 40 : 400));
        ends[(await run(command, { signal: leave.signal })) === null ? "left" : "ended"] += 1;
        clearTimeout(timer);
      };
      const total = LONG ? 1_000 : slow ? 48 : 96;
      for (let made = 0; made < total; made += 8) await Promise.all(Array.from({ length: 8 }, one));
      // What a command that ended by itself left running is a job of its session, and ends with it.
      await renew();
      await expect.poll(processes, { timeout: 30_000 }).toEqual(idle);
      console.log(JSON.stringify({ executor, seed, total, ...ends }));
    });

    test("a fork bomb within its limit of processes is ended whole, by time and by leaving", {
      timeout: HOUR_MS,
    }, async () => {
      script("bomb.sh", "bomb() { bomb | bomb & }; bomb; sleep 1000");
      for (let round = 0; round < (long ? 20 : 2); round++) {
        expect(await run("bash bomb.sh", { timeoutMs: 400 })).toMatchObject({ timedOut: true });
        const leave = new AbortController();
        setTimeout(() => leave.abort(), 400);
        await run("bash bomb.sh", { signal: leave.signal });
        await expect.poll(processes, { timeout: 60_000 }).toEqual(idle);
      }
      expect(await run("true")).toMatchObject({ exitCode: 0 });
    });

    test.each(["application/vnd.recinto.frames", "application/x-ndjson"])(
      "clients that read nothing hold up their own commands and nothing else: %s",
      { timeout: HOUR_MS },
      async (accept) => {
        // Zeros as JSON text are six times as many bytes.
        const text = accept === "application/x-ndjson" ? 1 / 8 : 1;
        const total = (long ? 2_048 : slow ? 64 : 256) * MIB * text;
        const clients = 8;
        daemon.makeFile("w0", "zeros", total);
        daemon.makeFile("w0", "some", 64 * MIB);
        await run("cat some");
        const before = daemon.rssMb();
        const answers = await Promise.all(
          Array.from({ length: clients }, () => unread("cat zeros", accept)),
        );
        const others = async () => {
          const count = long ? 500 : slow ? 4 : 40;
          let slowest = 0;
          for (let n = 0; n < count; n++) {
            const start = performance.now();
            expect(await run("echo other")).toMatchObject({ exitCode: 0, bytes: 6 });
            slowest = Math.max(slowest, performance.now() - start);
          }
          return { count, slowest };
        };
        const { daemon: peak, runner, result } = await peaks(others());
        const grown = peak - before;
        console.log(JSON.stringify({ executor, accept, clients, grown, runner, ...result }));
        // A few megabytes for each that reads nothing: pipe, socket buffers, one event.
        expect(grown).toBeLessThan(16 * clients);
        expect(runner).toBeLessThan(8 * (clients + 8));
        const [first, ...rest] = answers;
        for (const answer of rest) answer.destroy();
        let bytes = 0;
        for await (const chunk of first ?? []) bytes += chunk.length;
        expect(bytes).toBeGreaterThan(total);
        await expect.poll(processes, { timeout: 30_000 }).toEqual(idle);
      },
    );

    test("what a command prints passes through and stays nowhere", {
      timeout: HOUR_MS,
    }, async () => {
      const total = (long ? 10_240 : slow ? 128 : 512) * MIB;
      daemon.makeFile("w0", "zeros", total);
      daemon.makeFile("w0", "some", 64 * MIB);
      await run("cat some");
      const before = daemon.rssMb();
      const start = performance.now();
      const { daemon: peak, runner, result } = await peaks(run("cat zeros"));
      const mbPerS = Math.round(total / 1e3 / (performance.now() - start));
      console.log(JSON.stringify({ executor, mib: total / MIB, mbPerS, before, peak, runner }));
      expect(result).toMatchObject({ exitCode: 0, bytes: total });
      expect(peak - before).toBeLessThan(64);
      expect(runner).toBeLessThan(32);
    });

    test("bytes are exact both ways, at the client", { timeout: HOUR_MS }, async () => {
      script("both.sh", "tee >(sha256sum >&2); wait $!");
      const total = (long ? 1_024 : slow ? 16 : 32) * MIB;
      const [sent, came] = [createHash("sha256"), createHash("sha256")];
      async function* input() {
        for (let done = 0; done < total; done += MIB) {
          const chunk = randomBytes(MIB);
          sent.update(chunk);
          yield chunk;
        }
      }
      let told = "";
      let bytes = 0;
      const stdin = Readable.from(input());
      for await (const event of daemon.agent.run(session, { command: "bash both.sh", stdin })) {
        if (event.type === "stdout") {
          came.update(event.data);
          bytes += event.data.length;
        }
        if (event.type === "stderr") told += event.data;
      }
      const hash = sent.digest("hex");
      expect([bytes, came.digest("hex"), told]).toEqual([total, hash, `${hash}  -\n`]);
    });

    test("commands one after another leak nothing", { timeout: HOUR_MS }, async () => {
      const docker = new Dockerode({ socketPath: SOCKET });
      const files = (folder: string) =>
        readdirSync(join(daemon.folder, folder), { recursive: true, encoding: "utf8" })
          // The journal's own files come and go with its writes.
          .filter((name) => !/journal\.[^/]*-(wal|shm)$/.test(name))
          .sort();
      const held = async () => ({
        descriptors: readdirSync(`/proc/${daemon.process.pid}/fd`).length,
        execs: (await docker.getContainer(sandbox).inspect()).ExecIDs?.length ?? 0,
        processes: await processes(),
        zombies: containerProcesses(sandbox).filter(({ state }) => state === "Z").length,
        children: childrenOf(daemon.process.pid ?? 0),
        files: [files("run"), files("state")],
        inside: (await inside()).split("\n"),
      });
      // In the places that a command may write.
      const inside = async () => {
        const user = { uid: 0, gid: 0 };
        const argv = ["/usr/bin/find", "/tmp", "/home/agent/.cache", "/dev/shm"];
        const find = { argv, cwd: "/", env: {}, user, stdin: false };
        return (await outputOf(await new DockerEngine(SOCKET).exec(sandbox, find))).stdout;
      };
      const total = long ? 10_000 : slow ? 50 : 500;
      for (let n = 0; n < total / 5; n++) await run("true");
      const start = await held();
      const before = { ...start, rss: daemon.rssMb() };
      const startedAt = performance.now();
      for (let n = 0; n < total; n++) await run("echo x | cat >/dev/null");
      const ms = (performance.now() - startedAt) / total;
      const after = { ...(await held()), rss: daemon.rssMb() };
      console.log(
        JSON.stringify({
          executor,
          total,
          ms,
          rss: [before.rss, after.rss],
          descriptors: [before.descriptors, after.descriptors],
          execs: [before.execs, after.execs],
        }),
      );
      const counted = ({ descriptors: _, execs: __, ...rest }: Awaited<ReturnType<typeof held>>) =>
        rest;
      // The last one's minder may still be on its way out.
      await expect
        .poll(async () => counted(await held()), { timeout: 30_000 })
        .toEqual({ ...counted(start), processes: idle, zombies: 0 });
      // The engine forgets an exec a moment after its end.
      expect(after.execs - before.execs).toBeLessThan(8);
      expect(after.descriptors - before.descriptors).toBeLessThan(8);
      expect(after.rss - before.rss).toBeLessThan(64);
    });
  },
);

function childrenOf(pid: number): number {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean)
    .length;
}

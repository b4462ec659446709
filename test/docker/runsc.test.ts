/** A sandbox under gVisor: on an engine of its own, which learns the runtime while it runs. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Dockerode from "dockerode";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RUNNER_WAIT_MS } from "../../daemon/limits.ts";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { recipeHash } from "../../daemon/sandbox/image-recipe.ts";
import { ownImageTarget } from "../../daemon/sandbox/image-ref.ts";
import type { Sandboxes, SandboxHandle } from "../../daemon/sandbox/sandboxes.ts";
import type { Profile } from "../../daemon/settings/types.ts";
import { IMAGES, outputOf, Rig, SOCKET, whyNot } from "./rig.ts";

const MIB = 2 ** 20;
const script = fileURLToPath(new URL("../../scripts/engine", import.meta.url));
// Short: a socket's path may have 107 bytes.
const state = mkdtempSync(join(tmpdir(), "rg-"));
const socket = join(state, "docker.sock");

function engineScript(command: string): { code: number | null; said: string } {
  const { status, stderr } = spawnSync("bash", [script, command], {
    env: { ...process.env, RECINTO_ENGINE_SOCKET: socket, RECINTO_ENGINE_STATE: state },
    encoding: "utf8",
  });
  return { code: status, said: stderr };
}

/** Only what is installed already: a test fetches no package. */
function runscMissing(): string | null {
  const flags = ["--network=none", "--ignore-cgroups", "--platform=ptrace"];
  const { status, error } = spawnSync("runsc", [...flags, "do", "true"], { timeout: 30_000 });
  if (status === 0) return null;
  const reason = error ? "runsc is not installed: ./scripts/engine runsc" : "runsc cannot run here";
  console.warn(`skipped: ${reason}`);
  return reason;
}

const missing = (await whyNot()) ?? runscMissing();

describe.skipIf(missing)("runtime: runsc", () => {
  const engine = new DockerEngine(socket);
  let rig: Rig;
  let sandboxes: Sandboxes;

  beforeAll(async () => {
    rig = await Rig.make({ runtime: "runsc" });
    sandboxes = rig.daemon(engine);
    expect(engineScript("start").code).toBe(0);
    const { repository, tag } = ownImageTarget("base", await recipeHash(join(IMAGES, "base")));
    const image = `${repository}:${tag}`;
    const tar = await new Dockerode({ socketPath: SOCKET }).getImage(image).get();
    const loaded = await new Dockerode({ socketPath: socket }).loadImage(tar);
    for await (const _ of loaded) {
      // Its words do not matter; the image does.
    }
    expect(await engine.image(image)).toEqual(await rig.engine.image(image));
  }, 120_000);

  afterAll(async () => {
    for (const { id } of await sandboxes.list().catch(() => [])) await engine.remove(id);
    engineScript("stop");
    rmSync(state, { recursive: true, force: true });
    await rig?.close();
  }, 60_000);

  const ensure = (name: string, profile: Partial<Profile> = {}) =>
    sandboxes.ensure(rig.project, { ...rig.profile, ...profile }, rig.folder(name));
  const run = async (handle: SandboxHandle, command: string) =>
    outputOf(await handle.exec({ command, cwd: handle.worktree, stdin: false }));
  const limits = (change: object) => ({ limits: { ...rig.profile.limits, ...change } });

  test("an engine that does not have it says how it gets it, and keeps nothing", async () => {
    await expect(ensure("early")).rejects.toMatchObject({
      code: "runtime-missing",
      message: expect.stringContaining("runsc"),
      hint: expect.stringContaining("./scripts/engine runsc"),
    });
    expect(await sandboxes.list()).toEqual([]);
  });

  test("scripts/engine adds it to an engine that goes on running, once, and keeps its settings", async () => {
    const config = join(state, "daemon.json");
    writeFileSync(config, "{ broken");
    expect(engineScript("runsc").code).toBe(78);
    expect(readFileSync(config, "utf8")).toBe("{ broken");
    // The engine refuses this as a whole, and is not left with it.
    writeFileSync(config, '{ "no-such-setting": 1 }');
    expect(engineScript("runsc").code).toBe(69);
    expect(readFileSync(config, "utf8")).toBe('{ "no-such-setting": 1 }');
    writeFileSync(config, JSON.stringify({ labels: ["kept=yes"] }));
    const pid = readFileSync(join(state, "dockerd.started"), "utf8");
    expect(engineScript("runsc")).toMatchObject({
      code: 0,
      said: expect.stringContaining(`runtime runsc added to ${config} and to the running engine`),
    });
    const written = { labels: ["kept=yes"], runtimes: { runsc: { path: join(state, "runsc") } } };
    expect(JSON.parse(readFileSync(config, "utf8"))).toEqual(written);
    expect(engineScript("runsc")).toEqual({
      code: 0,
      said: `engine: the engine at ${socket} has the runtime runsc already: ${state}/runsc\n`,
    });
    expect(readFileSync(join(state, "dockerd.started"), "utf8")).toBe(pid);
    expect(readdirSync(state).filter((name) => name.includes("before"))).toEqual([]);
  }, 60_000);

  test("the kernel inside is gVisor's, and commands go by the executor that works there", async () => {
    const handle = await ensure("kernel");
    const { stdout } = await run(handle, "cat /proc/version; dmesg; id -u");
    expect(stdout).toContain("Starting gVisor");
    expect(stdout).not.toContain(readFileSync("/proc/version", "utf8").trim());
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(`${handle.spec.user.uid}`);
    // A later gVisor has child subreapers, and then `once` works there; Landlock none has.
    const { kind, reason, landlock } = handle.executor;
    expect(landlock).toBe(0);
    expect(reason).toContain("runner: the sandbox's runner ended with 69: cannot reach");
    if (kind === "plain")
      expect(reason).toContain("once: the command could not be started: child subreaper: EINVAL");
    else expect(kind).toBe("once");
  });

  test("an executor that was asked for and cannot run is an error at once, not another one", async () => {
    await ensure("wish", { executor: "plain" });
    const before = performance.now();
    await expect(ensure("wish", { executor: "runner" })).rejects.toMatchObject({
      code: "engine-failed",
      message: expect.stringContaining("cannot reach the daemon's socket"),
    });
    expect(performance.now() - before).toBeLessThan(RUNNER_WAIT_MS);
  });

  test("the worktree is there to read and write, and nothing else of the host is (A11, D2)", async () => {
    const handle = await ensure("mine");
    const theirs = rig.folder("theirs");
    writeFileSync(join(rig.base, "host-file"), "secret");
    writeFileSync(join(theirs, "file"), "theirs");
    writeFileSync(join(handle.worktree, "from-host"), "read");
    const look = `cat from-host; echo written >from-inside; cat ${rig.base}/host-file ${theirs}/file; touch /etc/x`;
    const { stdout, stderr } = await run(handle, look);
    expect(stdout).toBe("read");
    expect(stderr.match(/No such file/g)).toHaveLength(2);
    expect(stderr).toMatch(/\/etc\/x': (Permission denied|Read-only file system)/);
    expect(readFileSync(join(handle.worktree, "from-inside"), "utf8")).toBe("written\n");
  });

  test("no port of the host is reached", async () => {
    const server = createServer((connection) => connection.end("reached")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const reach = `cat </dev/tcp/127.0.0.1/${port}; cat /proc/net/dev`;
    const { stdout, stderr } = await run(await ensure("network"), reach);
    expect(stderr).toContain("Connection refused");
    expect(stdout).not.toContain("reached");
    expect(stdout.match(/^ *(\w+):/gm)?.map((name) => name.trim()) ?? []).toEqual(["lo:"]);
    server.close();
  });

  test("a worktree exchanged while it was mounted is seen there too (D4)", async () => {
    const worktree = rig.folder("exchanged");
    class Attacked extends DockerEngine {
      override async start(id: string): Promise<void> {
        renameSync(worktree, `${worktree}-old`);
        rig.folder("exchanged");
        await super.start(id);
      }
    }
    const attacked = rig.daemon(new Attacked(socket));
    await expect(attacked.ensure(rig.project, rig.profile, worktree)).rejects.toMatchObject({
      code: "worktree-refused",
      message: `${worktree} was exchanged while it was mounted`,
    });
  });

  test("a command is ended with all that it started", async () => {
    const handle = await ensure("kill");
    const command = await handle.exec({
      command: "sleep 600 & (setsid nohup sleep 601 >/dev/null 2>&1 &); echo up; wait",
      cwd: handle.worktree,
      stdin: false,
    });
    const output = outputOf(command);
    await new Promise((resolve) => command.stdout.once("data", resolve));
    await command.kill("KILL");
    expect((await output).exit.exitCode).toBe(137);
    expect((await run(handle, "pgrep -x sleep | wc -l")).stdout).toBe("1\n");
  });

  test("limits by control groups are lost: processes and memory, as docs/profiles.md says", async () => {
    const handle = await ensure("lost", limits({ pids: 20, memoryBytes: 64 * MIB }));
    const fork = "for i in $(seq 40); do sleep 5 >/dev/null 2>&1 & done; jobs -p | wc -l";
    expect((await run(handle, fork)).stdout).toBe("40\n");
    const take = "python3 -c 'x = bytearray(200 << 20); print(len(x))'";
    expect((await run(handle, take)).stdout).toBe(`${200 * MIB}\n`);
  });

  test("limits that gVisor keeps itself hold: open files, size of a file, /tmp", async () => {
    const kept = limits({ openFiles: 64, fileBytes: MIB, tmpBytes: 2 * MIB });
    const handle = await ensure("kept", kept);
    const open = "python3 -c 'x = [open(\"/dev/null\") for _ in range(100)]'";
    expect((await run(handle, open)).stderr).toContain("Too many open files");
    const write = (path: string) => `head -c 1500000 /dev/zero >${path}`;
    expect((await run(handle, write("large"))).exit.exitCode).not.toBe(0);
    const fill = "for i in 1 2 3; do head -c 1000000 /dev/zero >/tmp/$i; done";
    expect((await run(handle, fill)).stderr).toContain("No space left");
  });
});

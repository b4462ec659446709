/** A daemon in a process of its own with journal, project and worktree, for benchmarks of the whole path. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Dockerode from "dockerode";
import {
  type AdminClient,
  type AgentClient,
  adminClient,
  agentClient,
} from "../../daemon/api/client.ts";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { resolveImage } from "../../daemon/sandbox/image-ref.ts";
import { LABELS } from "../../daemon/sandbox/spec.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const ENGINE_SOCKET = process.env.RECINTO_ENGINE_SOCKET ?? "/var/run/docker.sock";
/** Who owns the worktrees; no such user need exist. */
const OWNER = 12_345;
const START_MS_MAX = 30_000;

export interface BenchOptions {
  readonly executor?: "runner" | "once" | "plain";
  readonly worktrees?: number;
}

export class BenchDaemon {
  readonly folder: string;
  readonly agentSocket: string;
  readonly process: ChildProcess;
  readonly agent: AgentClient;
  readonly admin: AdminClient;

  private constructor(folder: string, daemon: ChildProcess) {
    this.folder = folder;
    this.process = daemon;
    const run = join(folder, "run");
    this.agentSocket = join(run, "projects/bench/agent.sock");
    this.agent = agentClient({ socketPath: this.agentSocket });
    this.admin = adminClient({ socketPath: join(run, "admin.sock") });
  }

  /** Under /var/tmp, where a sync reaches a disk, as the state of a real daemon does. */
  static async start(options: BenchOptions = {}): Promise<BenchDaemon> {
    if (process.getuid?.() !== 0) throw new Error("benchmarks with containers need root");
    // What is installed is what is measured: a loader of sources would have its own weight in each process.
    execFileSync("./scripts/build", ["--quiet"], { cwd: ROOT, stdio: "inherit" });
    await baseImage();
    const folder = mkdtempSync("/var/tmp/recinto-bench-");
    chmodSync(folder, 0o755);
    const own = (path: string) => {
      mkdirSync(path, { recursive: true });
      return path;
    };
    for (let number = 0; number < (options.worktrees ?? 1); number++) {
      chownSync(own(join(folder, "project/.worktrees", `w${number}`)), OWNER, OWNER);
    }
    const [profiles, projects] = [own(join(folder, "profiles")), own(join(folder, "projects"))];
    writeFileSync(
      join(profiles, "bench.yaml"),
      `extends: dev\nexecutor: ${options.executor ?? "auto"}\nlimits: {output: 16GiB, wallClock: 1h}\n`,
    );
    writeFileSync(
      join(projects, "bench.yaml"),
      `root: ${join(folder, "project")}\nprofile: bench\nworktrees: .worktrees/*\n`,
    );
    const config = join(folder, "config.yaml");
    const paths = {
      runDir: "run",
      stateDir: "state",
      profilesDir: "profiles",
      projectsDir: "projects",
    };
    writeFileSync(
      config,
      `${Object.entries(paths)
        .map(([key, name]) => `${key}: ${join(folder, name)}\n`)
        .join("")}engineSocket: ${ENGINE_SOCKET}\nagentsShareApproverUid: true\nlogLevel: warn\n`,
    );
    const daemon = spawn(
      "node",
      [...(process.env.RECINTO_BENCH_NODE?.split(" ") ?? []), "dist/main.js", "--config", config],
      {
        cwd: ROOT,
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
    const bench = new BenchDaemon(folder, daemon);
    await bench.#answers();
    return bench;
  }

  async open(worktree = "w0"): Promise<string> {
    return (await this.agent.openSession(worktree)).session.id;
  }

  /** A file in a worktree with this many zeros and no blocks. */
  makeFile(worktree: string, name: string, bytes: number): void {
    const path = join(this.folder, "project/.worktrees", worktree, name);
    writeFileSync(path, "");
    truncateSync(path, bytes);
  }

  /** One command to its end; what it printed is thrown away. Fails where it does. */
  async run(session: string, command: string): Promise<void> {
    for await (const event of this.agent.run(session, { command })) {
      if (event.type === "pending" || event.type === "refused")
        throw new Error("it is not allowed");
      if (event.type === "exit" && event.exitCode !== 0) throw new Error(`exit ${event.exitCode}`);
    }
  }

  /** Resident memory of the daemon, MB. */
  rssMb(): number {
    return Number(/^VmRSS:\s+(\d+)/m.exec(this.#proc("status"))?.[1]) / 1024;
  }

  /** Processor time of the daemon so far, seconds. */
  cpuSeconds(): number {
    const fields = this.#proc("stat").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** The sandbox of a worktree as the engine knows it. */
  async sandbox(): Promise<string> {
    const [found] = await this.admin.sandboxes();
    if (found === undefined) throw new Error("there is no sandbox yet");
    return found.id;
  }

  async stop(): Promise<void> {
    const sandboxes = await this.admin.sandboxes().catch(() => []);
    this.agent.close();
    this.admin.close();
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    await ended;
    const engine = new DockerEngine(ENGINE_SOCKET);
    await Promise.all(sandboxes.map(({ id }) => engine.remove(id)));
    rmSync(this.folder, { recursive: true, force: true });
  }

  #proc(name: string): string {
    return readFileSync(`/proc/${this.process.pid}/${name}`, "utf8");
  }

  async #answers(): Promise<void> {
    const until = Date.now() + START_MS_MAX;
    for (;;) {
      try {
        await this.agent.version();
        return;
      } catch (error) {
        if (Date.now() > until || this.process.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}

/** Builds the base image where it is not there yet; its id. */
export async function baseImage(): Promise<string> {
  const store = new DockerEngine(ENGINE_SOCKET);
  const imagesDir = join(ROOT, "images");
  await buildImage({ name: "base", imagesDir, store, onProgress: () => {} });
  return (await resolveImage(store, "recinto/base", imagesDir)).id;
}

/** A container as others would make it, to compare with: no runner in it, the same image, memory and processors. */
export class PlainContainer {
  readonly docker = new Dockerode({ socketPath: ENGINE_SOCKET });
  readonly id: string;

  private constructor(id: string) {
    this.id = id;
  }

  static async start(): Promise<PlainContainer> {
    const docker = new Dockerode({ socketPath: ENGINE_SOCKET });
    const container = await docker.createContainer({
      name: `recinto-bench-${randomBytes(4).toString("hex")}`,
      Image: await baseImage(),
      Entrypoint: ["/bin/sleep"],
      Cmd: ["infinity"],
      User: `${OWNER}:${OWNER}`,
      Labels: { [LABELS.owner]: "bench" },
      HostConfig: { NetworkMode: "none", Init: true },
    });
    await container.start();
    return new PlainContainer(container.id);
  }

  async remove(): Promise<void> {
    await this.docker.getContainer(this.id).remove({ force: true });
  }
}

/** The docker command line for this engine. */
export const DOCKER = ["docker", "-H", `unix://${ENGINE_SOCKET}`] as const;

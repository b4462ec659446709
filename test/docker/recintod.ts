/** A real daemon as a program of its own, with projects, agents' users and a way to take its engine away. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AdminClient, adminClient } from "../../daemon/api/client.ts";
import { type CliOptions, cli, type Ran } from "../cli/run-cli.ts";
import { SOCKET } from "./rig.ts";

const MAIN = fileURLToPath(new URL("../../daemon/main.ts", import.meta.url));
const TSX = import.meta.resolve("tsx");

export interface TestProject {
  readonly id: string;
  readonly root: string;
  readonly worktree: string;
  readonly uid: number;
}

export class Recintod {
  readonly base: string;
  readonly runDir: string;
  readonly configFile: string;
  readonly engine: EngineRelay;
  admin: AdminClient;
  process: ChildProcess | undefined;
  stderr = "";
  readonly #main: string;
  #log = "";

  /** `main`: another program than this checkout's own source, such as a built one. `engine`: another than the machine's. */
  constructor({
    main = MAIN,
    engine = SOCKET,
  }: { readonly main?: string; readonly engine?: string } = {}) {
    this.#main = main;
    this.engine = new EngineRelay(engine);
    // Short: a socket's path may have 107 bytes. Passable, as /run and /srv are.
    this.base = mkdtempSync(join(tmpdir(), "rd-"));
    chmodSync(this.base, 0o755);
    this.runDir = join(this.base, "run");
    this.configFile = join(this.base, "config.yaml");
    for (const folder of ["projects", "profiles"]) {
      mkdirSync(join(this.base, folder), { mode: 0o755 });
    }
    this.writeConfig(this.configFile, {});
    this.admin = this.#client();
  }

  /** Resolves when it has said that it is ready; rejects with what it said when it ended instead. */
  async start(): Promise<void> {
    await this.engine.open(join(this.base, "engine.sock"));
    this.#log = "";
    this.stderr = "";
    const loader = this.#main.endsWith(".ts") ? ["--import", TSX] : [];
    const words = [...loader, this.#main, "--config", this.configFile];
    const child = spawn(process.execPath, words, { cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
    this.process = child;
    child.stderr?.on("data", (chunk) => {
      this.stderr += chunk;
    });
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on("data", (chunk) => {
        this.#log += chunk;
        if (this.#log.includes("recintod is ready")) resolve();
      });
      child.once("exit", (code) => reject(new Error(`ended with ${code}: ${this.stderr}`)));
    });
    this.admin.close();
    this.admin = this.#client();
  }

  /** A config for this run directory and engine; `folders` names other places for some of the rest. */
  writeConfig(file: string, folders: { readonly state?: string }): void {
    const { base } = this;
    const text = `runDir: ${this.runDir}
stateDir: ${folders.state ?? join(base, "state")}
profilesDir: ${join(base, "profiles")}
projectsDir: ${join(base, "projects")}
rulesDir: ${join(base, "rules")}
engineSocket: ${join(base, "engine.sock")}
`;
    writeFileSync(file, text, { mode: 0o644 });
  }

  get log(): readonly { readonly msg: string; readonly level: number }[] {
    const lines = this.#log.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  }

  /** The exit code. */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number | null> {
    const child = this.process;
    if (child === undefined) return null;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const ended = once(child, "exit");
    child.kill(signal);
    const [code] = await ended;
    return code;
  }

  /** A git repository with a linked worktree `dev`, owned by `uid`, as a project of the daemon. */
  async addProject(id: string, uid: number, profile = "default"): Promise<TestProject> {
    const root = join(this.base, id);
    const worktree = join(root, ".worktrees/dev");
    const script = `
      set -e
      git init -q -b main ${root}
      cd ${root}
      mkdir docs && echo 'the docs of ${id}' > docs/a.md
      git add . && git -c user.name=t -c user.email=t@t commit -q -m first
      git worktree add -q -b dev .worktrees/dev
      chown -R ${uid}:${uid} .`;
    const made = spawnSync("bash", ["-c", script], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(made.stderr);
    await this.admin.addProject({
      id,
      root,
      profile,
      worktrees: ".worktrees/*",
      agentGroup: null,
    });
    return { id, root, worktree, uid };
  }

  /** `recinto run` on the project's worktree; as root it becomes the agent's user. */
  run(project: TestProject, command: string, options: CliOptions & { words?: string[] } = {}) {
    const at = ["--project", project.id, "--worktree", project.worktree];
    return this.cli(["run", ...at, ...(options.words ?? []), "--", command], options);
  }

  cli(words: readonly string[], options: CliOptions = {}): Promise<Ran> {
    return cli(["--run-dir", this.runDir, ...words], options);
  }

  /** Resident memory of the daemon, bytes. */
  rss(): number {
    const status = readFileSync(`/proc/${this.process?.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  async close(): Promise<void> {
    this.admin.close();
    if (this.process !== undefined && this.process.exitCode === null) {
      for (const { id } of await this.admin.projects().catch(() => [])) {
        await this.admin.removeProject(id).catch(() => {});
      }
    }
    await this.stop();
    this.admin.close();
    await this.engine.close();
    rmSync(this.base, { recursive: true, force: true });
  }

  #client(): AdminClient {
    return adminClient({ socketPath: join(this.runDir, "admin.sock"), waitForStart: true });
  }
}

/** A socket in front of the machine's engine, so that a test can take the engine away without stopping it. */
class EngineRelay {
  #server: Server | undefined;
  readonly #connections = new Set<Socket>();
  readonly #target: string;

  constructor(target: string) {
    this.#target = target;
  }

  async open(path: string): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ path: this.#target, allowHalfOpen: true });
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#connections.add(one);
        one.on("error", () => other.destroy());
        one.on("close", () => {
          this.#connections.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(path, resolve));
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, "close");
    server.close();
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }
}

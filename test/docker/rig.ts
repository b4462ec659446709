/** What Docker tests share: the engine, the base image, worktrees of an unprivileged user, and their removal. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import Dockerode from "dockerode";
import { machineClock } from "../../daemon/sandbox/clock.ts";
import { commandArgv } from "../../daemon/sandbox/command.ts";
import { createJson } from "../../daemon/sandbox/docker/create-json.ts";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import type { ExecExit, ExecProcess, SandboxSpec } from "../../daemon/sandbox/engine.ts";
import { GivenFolders } from "../../daemon/sandbox/given-folders.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { installRunner } from "../../daemon/sandbox/runner/program.ts";
import { Sandboxes } from "../../daemon/sandbox/sandboxes.ts";
import { LABELS } from "../../daemon/sandbox/spec.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../../daemon/settings/profiles.ts";
import type { Profile, Project } from "../../daemon/settings/types.ts";
import { randomId } from "../../daemon/supervisor/ids.ts";
import { privateGitPort } from "../../daemon/supervisor/private-git-port.ts";
import { PrivateGits } from "../../daemon/worktree/private-git/private-gits.ts";

export const SOCKET = process.env.RECINTO_ENGINE_SOCKET ?? "/var/run/docker.sock";
export const IMAGES = fileURLToPath(new URL("../../images/", import.meta.url));
/** Who owns the worktrees of tests; no such user need exist. */
export const AGENT = { uid: 12_345, gid: 12_346 };

/** Why these tests cannot run here, or null. With RECINTO_REQUIRE_ENGINE=1 that is a failure instead. */
export async function whyNot(): Promise<string | null> {
  const reason =
    process.getuid?.() !== 0
      ? "worktrees of another user need root"
      : await new DockerEngine(SOCKET).info().then(
          () => null,
          (error: Error) => error.message,
        );
  if (reason !== null && process.env.RECINTO_REQUIRE_ENGINE === "1") throw new Error(reason);
  if (reason !== null) console.warn(`skipped: ${reason}`);
  return reason;
}

const state = mkdtempSync(join(tmpdir(), "recinto-bin-"));
execFileSync("./scripts/build-runner", [join(state, "recinto-runner")]);
/** The runner of this tree, built for this run. */
export const PROGRAM = await installRunner(state, join(state, "recinto-runner"));
process.on("exit", () => rmSync(state, { recursive: true, force: true }));

/** Every way to run a command; tests of commands run under each. */
export const EXECUTORS = ["runner", "once", "plain"] as const;

type CreateJson = ReturnType<typeof createJson>;

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: ExecExit;
}

export type Runner = (command: string, options?: { root?: boolean }) => Promise<Output>;

export class Rig {
  readonly engine = new DockerEngine(SOCKET);
  readonly owner = `test-${randomBytes(6).toString("hex")}`;
  readonly base = realpathSync(mkdtempSync("/var/tmp/recinto-docker-"));
  /** What the daemon keeps for sandboxes. */
  readonly given = new GivenFolders(join(this.base, "state/given"));
  readonly gits = new PrivateGits(join(this.base, "state/git"), () => randomId("git"));
  readonly project: Project;
  readonly profile: Profile;
  readonly #docker = new Dockerode({ socketPath: SOCKET });
  #loose = 0;

  constructor(profile: Partial<Profile> = {}) {
    this.profile = { ...loadProfile("dev", [SHIPPED_PROFILES_DIR]), ...profile };
    const root = join(this.base, "project");
    mkdirSync(root);
    chmodSync(this.base, 0o755);
    this.project = {
      id: "shop",
      root,
      profile: "dev",
      worktrees: ".worktrees/*",
      agentGroup: null,
    };
  }

  static async make(profile: Partial<Profile> = {}): Promise<Rig> {
    const rig = new Rig(profile);
    await buildImage({
      name: "base",
      imagesDir: IMAGES,
      store: rig.engine,
      onProgress: console.log,
    });
    return rig;
  }

  /** What one process of the daemon has; another one starts without its memory. */
  daemon(engine: DockerEngine = this.engine): Sandboxes {
    return new Sandboxes({
      engine,
      owner: this.owner,
      imagesDir: IMAGES,
      clock: machineClock,
      runner: { program: PROGRAM, socketsDir: join(this.base, "runners") },
      given: this.given,
      privateGit: privateGitPort(this.gits),
    });
  }

  /** A plain folder of the agent's. */
  folder(name: string): string {
    const path = join(this.project.root, ".worktrees", name);
    mkdirSync(path, { recursive: true });
    chownSync(path, AGENT.uid, AGENT.gid);
    return path;
  }

  /** A linked git worktree of the agent's, with one commit and one changed file. */
  gitWorktree(name: string): string {
    const { root } = this.project;
    const identity = [
      "-c",
      "user.name=t",
      "-c",
      "user.email=t@example.org",
      "-c",
      "safe.directory=*",
    ];
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", root, ...identity, ...args], { stdio: "pipe" });
    git("init", "-q", "-b", "main");
    git("commit", "-q", "--allow-empty", "-m", "first commit");
    git("worktree", "add", "-q", "-b", name, join(root, ".worktrees", name));
    const path = this.folder(name);
    execFileSync("chown", ["-R", `${AGENT.uid}:${AGENT.gid}`, path]);
    return path;
  }

  async run(
    worktree: string,
    profile: Partial<Profile> = {},
  ): Promise<{ spec: SandboxSpec; run: Runner }> {
    const handle = await this.daemon().ensure(
      this.project,
      { ...this.profile, ...profile },
      worktree,
    );
    return { spec: handle.spec, run: this.runner(handle.id, handle.spec) };
  }

  /** The same sandbox with one protection taken away: what a test shows must come out differently there. */
  async loosened(
    spec: SandboxSpec,
    loosen: (host: CreateJson["HostConfig"], json: CreateJson) => void,
  ): Promise<Runner> {
    const json = createJson(spec);
    loosen(json.HostConfig, json);
    const body = { ...json, NetworkDisabled: json.HostConfig.NetworkMode === "none" };
    const container = await this.#docker.createContainer({
      _query: { name: `${spec.name}-loose-${++this.#loose}` },
      _body: body,
    } as Dockerode.ContainerCreateOptions);
    await container.start();
    return this.runner(container.id, spec);
  }

  runner(id: string, spec: SandboxSpec): Runner {
    return async (command, { root = false } = {}) => {
      const user = root ? { uid: 0, gid: 0 } : spec.user;
      const argv = commandArgv(command);
      const env = { ...spec.env };
      return outputOf(
        await this.engine.exec(id, { argv, cwd: spec.workdir, env, user, stdin: false }),
      );
    };
  }

  async close(): Promise<void> {
    for (const { id } of await this.engine.list({ [LABELS.owner]: this.owner })) {
      await this.engine.remove(id);
    }
    rmSync(this.base, { recursive: true });
  }
}

export async function outputOf(process: ExecProcess): Promise<Output> {
  const [stdout, stderr] = await Promise.all([buffer(process.stdout), buffer(process.stderr)]);
  return { stdout: stdout.toString(), stderr: stderr.toString(), exit: await process.exited };
}

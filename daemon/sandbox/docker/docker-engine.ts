/** The Docker Engine behind the engine-neutral interface: small methods, each one request. */
import { randomBytes } from "node:crypto";
import { Agent } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import Dockerode from "dockerode";
import { RecintoError } from "../../errors.ts";
import { ENGINE_TIMEOUT_MS, KILL_TIMEOUT_MS, OOM_LOOK_PAUSE_MS, OOM_LOOKS } from "../../limits.ts";
import type {
  Engine,
  EngineInfo,
  ExecProcess,
  ExecSpec,
  ImageInfo,
  ImageShelf,
  ImageStore,
  OwnImage,
  SandboxSpec,
  SandboxState,
  SandboxStatus,
} from "../engine.ts";
import { createJson, envList } from "./create-json.ts";
import { engineError, statusOf } from "./errors.ts";
import { dockerExecProcess } from "./exec.ts";
import { identitiesFromHost, pidInSandbox } from "./host-view.ts";
import { EXEC_MARK, killArgv } from "./kill.ts";
import { finishImage } from "./progress.ts";

const STATES: Readonly<Record<string, SandboxState>> = {
  created: "created",
  running: "running",
  paused: "paused",
};

/** Exit code of a process that SIGKILL ended, and of a shell whose last child it ended. */
const KILLED = 137;

export class DockerEngine implements Engine, ImageStore, ImageShelf {
  readonly #socketPath: string;
  /** For requests that are answered at once. */
  readonly #short: Dockerode;
  /** For streams that may be silent for hours. */
  readonly #long: Dockerode;

  constructor(socketPath: string, { timeoutMs = ENGINE_TIMEOUT_MS } = {}) {
    this.#socketPath = socketPath;
    // A host of undefined keeps DOCKER_HOST out of it. Kept-alive connections would break with each engine restart.
    const agent = new Agent({ keepAlive: false });
    const options = { socketPath, host: undefined, protocol: "http", agent } as const;
    this.#short = new Dockerode({ ...options, timeout: timeoutMs } as Dockerode.DockerOptions);
    this.#long = new Dockerode(options as Dockerode.DockerOptions);
  }

  async info(): Promise<EngineInfo> {
    const version = await this.#ask("tell its version", () => this.#short.version());
    return { name: "docker", version: version.Version, apiVersion: version.ApiVersion };
  }

  async image(ref: string): Promise<ImageInfo | null> {
    const image = await this.#orNull(`look for image ${ref}`, () =>
      this.#short.getImage(ref).inspect(),
    );
    return image && { id: image.Id, createdAt: image.Created, sizeBytes: image.Size };
  }

  async create(spec: SandboxSpec): Promise<string> {
    const body = { _query: { name: spec.name }, _body: createJson(spec) };
    const container = await this.#ask(`create sandbox ${spec.name}`, () =>
      this.#short.createContainer(body as Dockerode.ContainerCreateOptions),
    );
    return container.id;
  }

  async start(id: string): Promise<void> {
    await this.#ask(`start sandbox ${short(id)}`, () => this.#short.getContainer(id).start(), 304);
  }

  async stop(id: string, graceMs: number): Promise<void> {
    const t = Math.ceil(graceMs / 1000);
    await this.#ask(
      `stop sandbox ${short(id)}`,
      () => this.#short.getContainer(id).stop({ t }),
      304,
    );
  }

  async remove(id: string): Promise<void> {
    const options = { force: true, v: true };
    await this.#orNull(`remove sandbox ${short(id)}`, () =>
      this.#short.getContainer(id).remove(options),
    );
  }

  async status(id: string): Promise<SandboxStatus | null> {
    const found = await this.#orNull(`look at sandbox ${short(id)}`, () =>
      this.#short.getContainer(id).inspect(),
    );
    if (found === null) return null;
    return {
      id: found.Id,
      name: found.Name.replace(/^\//, ""),
      state: STATES[found.State.Status] ?? "stopped",
      labels: found.Config.Labels,
      image: found.Image,
    };
  }

  async list(labels: Readonly<Record<string, string>>): Promise<readonly SandboxStatus[]> {
    const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const found = await this.#ask("list sandboxes", () =>
      this.#short.listContainers({ all: true, filters: { label } }),
    );
    return found.map((container) => ({
      id: container.Id,
      name: container.Names[0]?.replace(/^\//, "") ?? "",
      state: STATES[container.State] ?? "stopped",
      labels: container.Labels,
      image: container.ImageID,
    }));
  }

  async exec(id: string, spec: ExecSpec): Promise<ExecProcess> {
    const mark = randomBytes(16).toString("hex");
    const startedAtMs = Date.now();
    const env = { ...spec.env, [EXEC_MARK]: mark };
    const { exec, socket } = await this.#startExec(id, spec, env);
    let killed = false;
    return dockerExecProcess({
      exec,
      socket,
      stdin: spec.stdin,
      socketPath: this.#socketPath,
      oomKilled: async (exitCode) => !killed && (await this.#wasOom(id, startedAtMs, exitCode)),
      kill: async (signal) => {
        killed = true;
        await this.#kill(id, spec, exec, mark, signal);
      },
    });
  }

  async identify(id: string, paths: readonly string[]): Promise<readonly string[]> {
    const found = await this.#ask(`look at sandbox ${short(id)}`, () =>
      this.#short.getContainer(id).inspect(),
    );
    return (
      identitiesFromHost(found.State.Pid, id, found.HostConfig.Runtime ?? "", paths) ??
      (await this.#identitiesFromInside(id, paths))
    );
  }

  async importImage(
    tar: Readable,
    target: { repository: string; tag: string },
    changes: readonly string[],
    onProgress: (line: string) => void,
  ): Promise<void> {
    const { repository: repo, tag } = target;
    await this.#ask(`import image ${repo}:${tag}`, async () => {
      const answer = await this.#long.importImage(tar, { repo, tag, changes });
      await finishImage(answer, onProgress);
    });
  }

  async buildImage(
    context: Readable,
    target: { repository: string; tag: string },
    labels: Readonly<Record<string, string>>,
    onProgress: (line: string) => void,
  ): Promise<void> {
    const name = `${target.repository}:${target.tag}`;
    await this.#ask(`build image ${name}`, async () => {
      const options = { t: name, labels: { ...labels }, rm: true, forcerm: true };
      const answer = await this.#long.buildImage(context, options as Dockerode.ImageBuildOptions);
      await finishImage(answer, onProgress);
    });
  }

  async ownImages(name: string): Promise<readonly OwnImage[]> {
    const filters = { label: [`io.recinto.image=${name}`] };
    const images = await this.#ask("list images", () => this.#short.listImages({ filters }));
    return images.flatMap(({ RepoTags, Size }) =>
      (RepoTags ?? []).map((ref) => ({ ref, sizeBytes: Size })),
    );
  }

  async removeImage(ref: string): Promise<boolean> {
    return this.#ask(`remove image ${ref}`, async () => {
      try {
        await this.#long.getImage(ref).remove();
        return true;
      } catch (error) {
        // It is in use; one that is gone already was somebody else's doing.
        if (statusOf(error) === 409) return false;
        if (statusOf(error) === 404) return true;
        throw error;
      }
    });
  }

  async #startExec(
    id: string,
    spec: ExecSpec,
    env: Readonly<Record<string, string>>,
  ): Promise<{ exec: Dockerode.Exec; socket: Socket }> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), ENGINE_TIMEOUT_MS);
    try {
      return await this.#ask(`start a command in sandbox ${short(id)}`, async () => {
        const exec = await this.#long.getContainer(id).exec({
          Cmd: [...spec.argv],
          Env: envList(env),
          WorkingDir: spec.cwd,
          User: `${spec.user.uid}:${spec.user.gid}`,
          AttachStdin: spec.stdin,
          AttachStdout: true,
          AttachStderr: true,
          Tty: false,
        });
        const options = { hijack: true, stdin: true, abortSignal: timeout.signal };
        const stream = await exec.start({ ...options, Detach: false, Tty: false });
        return { exec, socket: stream as unknown as Socket };
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #identitiesFromInside(id: string, paths: readonly string[]): Promise<readonly string[]> {
    const argv = ["stat", "-c", "%d:%i", ...paths];
    const nobody = { uid: 65534, gid: 65534 };
    const process = await this.exec(id, { argv, cwd: "/", env: {}, user: nobody, stdin: false });
    process.stderr.resume();
    return (await text(process.stdout)).trim().split("\n");
  }

  /** An exec's own `OOMKilled` stays false while the sandbox runs; the engine's events tell. */
  async #wasOom(id: string, sinceMs: number, exitCode: number): Promise<boolean> {
    const filters = { container: [id], event: ["oom"], type: ["container" as const] };
    for (let look = 1; ; look++) {
      const options = { since: sinceMs / 1000, until: Date.now() / 1000, filters };
      const seen = await this.#ask("tell of memory events", async () => {
        for await (const _ of await this.#short.getEvents(options)) return true;
        return false;
      });
      if (seen || exitCode !== KILLED || look === OOM_LOOKS) return seen;
      await sleep(OOM_LOOK_PAUSE_MS);
    }
  }

  /** Where KILL leaves something, or its helper cannot run (a full process table), the whole sandbox is killed. */
  async #kill(id: string, of: ExecSpec, exec: Dockerode.Exec, mark: string, signal: string) {
    const info = await this.#orNull("look at the command", () => exec.inspect());
    const main = info?.Running ? pidInSandbox(info.Pid, id) : 0;
    const helper: ExecSpec = {
      argv: killArgv(mark, signal, main),
      cwd: "/",
      env: of.env,
      user: of.user,
      stdin: false,
    };
    if (await this.#succeeds(id, helper)) return;
    if (signal !== "KILL") return;
    await this.#ask(
      `kill sandbox ${short(id)}`,
      () => this.#short.getContainer(id).kill({ signal: "KILL" }),
      404,
      409,
    );
  }

  async #succeeds(id: string, spec: ExecSpec): Promise<boolean> {
    let socket: Socket | undefined;
    const timer = setTimeout(() => socket?.destroy(), KILL_TIMEOUT_MS);
    try {
      const started = await this.#startExec(id, spec, spec.env);
      socket = started.socket;
      for await (const _ of socket) {
        // The helper prints nothing that matters; its end does.
      }
      const info = await started.exec.inspect();
      return info.ExitCode === 0;
    } catch (error) {
      if (error instanceof RecintoError && error.code === "engine-unreachable") throw error;
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** `fine`: statuses that mean it was so already. */
  async #ask<T>(doing: string, request: () => Promise<T>, ...fine: number[]): Promise<T> {
    try {
      return await request();
    } catch (error) {
      const status = statusOf(error);
      if (status !== null && fine.includes(status)) return undefined as T;
      throw engineError(error, doing, this.#socketPath);
    }
  }

  async #orNull<T>(doing: string, request: () => Promise<T>): Promise<T | null> {
    return (await this.#ask(doing, request, 404)) ?? null;
  }
}

function short(id: string): string {
  return id.slice(0, 12);
}

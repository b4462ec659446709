/** One sandbox for each (project, worktree): made on first use, reused, stopped when idle, made anew when its profile changed. */
import { RecintoError } from "../errors.ts";
import { SANDBOX_FRESH_MS, SANDBOX_STOP_GRACE_MS } from "../limits.ts";
import type { Profile, Project } from "../settings/types.ts";
import type { Clock } from "./clock.ts";
import { commandArgv, commandEnv } from "./command.ts";
import { type ConfinementInput, type Held, hold } from "./confinement.ts";
import type { Engine, ExecProcess, ExecSpec, SandboxSpec, SandboxStatus } from "./engine.ts";
import type { Executor, ExecutorChoice } from "./executor.ts";
import { Executors, type RunnerSetup } from "./executors.ts";
import type { GitRepository } from "./git-dir.ts";
import type { PrivateGitDir, PrivateGitPort } from "./git-mounts.ts";
import type { GivenFolders } from "./given-folders.ts";
import type { MountSource } from "./mount-source.ts";
import { plainWords } from "./plain-words.ts";
import type { Confinement } from "./runner/frames.ts";
import { planSandbox } from "./sandbox-plan.ts";
import { shellStateEnv } from "./shell-state.ts";
import { LABELS, scratchOf } from "./spec.ts";

export type SandboxEvent = "created" | "started" | "stopped" | "removed";

export interface SandboxesOptions {
  readonly engine: Engine;
  /** Name of this installation: sandboxes of another on the same engine are never touched. */
  readonly owner: string;
  /** Folder of the image recipes. */
  readonly imagesDir: string;
  readonly clock: Clock;
  /** The program that runs commands, and a folder of the daemon's for its sockets. Absent: plain docker exec. */
  readonly runner?: RunnerSetup;
  /** Keeps each sandbox's own git folder; absent: repositories are read-only everywhere. */
  readonly privateGit?: PrivateGitPort;
  /** Absent: no cache outlives its sandbox, and its user has no name. */
  readonly given?: GivenFolders;
  readonly onEvent?: (event: SandboxEvent, sandbox: SandboxStatus & SandboxKey) => void;
  /** What fails with nobody waiting for it: stopping an idle sandbox. */
  readonly onError?: (error: unknown) => void;
}

export interface SandboxKey {
  readonly project: string;
  /** Absolute path. */
  readonly worktree: string;
}

export interface SandboxCommand {
  /** The text that was judged. */
  readonly command: string;
  /** Absolute folder; it must be there inside the sandbox. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin: boolean;
  /** What the kernel is to hold it to, where the executor can; absent: the sandbox alone. */
  readonly confinement?: Confinement;
  readonly tty?: ExecSpec["tty"];
  readonly background?: ExecSpec["background"];
  /** Where its exported variables are left when it ends, in the sandbox's scratch; see shell-state.ts. */
  readonly shellState?: string;
}

export interface SandboxHandle extends SandboxKey {
  readonly id: string;
  readonly spec: SandboxSpec;
  readonly git: GitRepository;
  /** The sandbox's own git folder, where commits go; null: there is none. */
  readonly privateGit: PrivateGitDir | null;
  /** How its commands run, and why so. */
  readonly executor: ExecutorChoice;
  /** How a command that was decided about is held; goes into its `confinement`. */
  confine(decided: Pick<ConfinementInput, "segments" | "approved" | "grants" | "writable">): Held;
  /**
   * Errors: bad-request (name or value of a variable, NUL, length), exec-failed (no such program or folder),
   * engine-unreachable, engine-failed.
   */
  exec(command: SandboxCommand): Promise<ExecProcess>;
}

/** What this process knows about a sandbox. The engine's labels are the truth; this is only who uses it right now. */
interface Entry {
  id: string | null;
  /** null: not started by this process yet, or stopped. */
  executor: Executor | null;
  /** What `ensure` gave last, while it need not look again. */
  fresh: { readonly profile: Profile; readonly handle: SandboxHandle } | null;
  uses: number;
  cancelIdle: () => void;
  /** The last thing that was begun with it; the next waits for it. */
  tail: Promise<unknown>;
}

export class Sandboxes {
  readonly #options: SandboxesOptions;
  readonly #executors: Executors;
  readonly #entries = new Map<string, Entry>();

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#executors = new Executors(options.engine, options.owner, options.runner);
  }

  /**
   * Errors: worktree-refused, bad-profile, image-missing, runtime-missing, busy (its profile changed while commands run
   * in it), engine-unreachable, engine-failed.
   */
  ensure(
    project: Pick<Project, "id" | "root" | "worktrees">,
    profile: Profile,
    worktree: string,
  ): Promise<SandboxHandle> {
    const key = { project: project.id, worktree };
    const { fresh, executor } = this.#entry(key);
    if (fresh?.profile === profile && executor?.kind === "runner" && executor.alive) {
      return Promise.resolve(fresh.handle);
    }
    return this.#locked(key, async (entry) => {
      const folders = await this.#executors.folders(key, profile);
      const plan = await planSandbox(this.#options, project, profile, worktree, folders);
      const { spec, git, privateGit } = plan;
      const id = await this.#running(entry, key, spec, plan.sources);
      entry.executor ??= await this.#executors.choose(id, folders, profile);
      this.#idleAfter(entry, key, profile.limits.idleStopMs);
      const handle = this.#handle(
        entry,
        { ...key, id, spec, git, privateGit },
        profile.limits.idleStopMs,
      );
      this.#keepFresh(entry, profile, handle);
      return handle;
    });
  }

  /**
   * How commands of this sandbox run, or would by what is known before its first start. `landlock` 0: the kernel
   * enforces no verdict there.
   */
  executor(key: SandboxKey, profile: Pick<Profile, "executor" | "runtime">): ExecutorChoice {
    const known = this.#entries.get(nameOf(key))?.executor;
    if (known !== undefined && known !== null) return known;
    return this.#executors.expected(profile);
  }

  /**
   * Call once at start: stops whatever a former daemon left running, since nobody reads, limits or records its commands
   * any more. The sandboxes stay and are started again on use.
   */
  async adopt(): Promise<readonly (SandboxStatus & SandboxKey)[]> {
    const left = (await this.list()).filter(({ state }) => state !== "stopped");
    await Promise.all(left.map((key) => this.stop(key)));
    return left;
  }

  async list(): Promise<readonly (SandboxStatus & SandboxKey)[]> {
    const found = await this.#options.engine.list({ [LABELS.owner]: this.#options.owner });
    return found.map(withKey);
  }

  stop(key: SandboxKey): Promise<void> {
    return this.#locked(key, async (entry) => {
      const current = await this.#find(entry, key);
      if (current !== null) await this.#stop(entry, current);
    });
  }

  /** Also when commands run in it: they end. */
  remove(key: SandboxKey): Promise<void> {
    return this.#locked(key, async (entry) => {
      const current = await this.#find(entry, key);
      if (current !== null) await this.#remove(entry, current);
    });
  }

  async removeProject(project: string): Promise<void> {
    const all = await this.list();
    await Promise.all(all.filter((key) => key.project === project).map((key) => this.remove(key)));
    await this.#options.given?.removeProject(project);
  }

  async stopAll(): Promise<void> {
    const running = (await this.list()).filter(({ state }) => state !== "stopped");
    await Promise.all(running.map((key) => this.stop(key)));
  }

  /** Whether the sandbox is there its runner tells; the rest (image, repository, folders) is looked at now and then. */
  #keepFresh(entry: Entry, profile: Profile, handle: SandboxHandle): void {
    if (entry.executor?.kind !== "runner") return;
    const fresh = { profile, handle };
    entry.fresh = fresh;
    this.#options.clock.after(SANDBOX_FRESH_MS, () => {
      if (entry.fresh === fresh) entry.fresh = null;
    });
  }

  async #running(
    entry: Entry,
    key: SandboxKey,
    spec: SandboxSpec,
    sources: readonly MountSource[],
  ): Promise<string> {
    const { engine } = this.#options;
    const known = entry.id !== null;
    let current = await this.#find(entry, key);
    if (
      current !== null &&
      current.labels[LABELS.profileHash] !== spec.labels[LABELS.profileHash]
    ) {
      if (entry.uses > 0) {
        throw new RecintoError(
          "busy",
          `the profile of ${key.worktree} changed and ${entry.uses} commands run under the old one`,
          { hint: "try again when they have ended: the sandbox is then made anew" },
        );
      }
      await this.#remove(entry, current);
      current = null;
    }
    if (current === null) {
      const id = await engine.create(spec);
      current = { id, name: spec.name, state: "created", labels: spec.labels, image: spec.image };
      this.#tell("created", current);
    }
    entry.id = current.id;
    if (current.state === "running" && known) return current.id;
    // Running though this process never started it: whatever runs in it belongs to nobody.
    if (current.state === "running" || current.state === "paused") await this.#stop(entry, current);
    // A runner of a former life of this sandbox ended with it.
    await this.#letGo(entry);
    try {
      await engine.start(current.id);
      await this.#checkMounts(current.id, sources);
    } catch (error) {
      await this.#remove(entry, current).catch(this.#options.onError ?? (() => {}));
      throw error;
    }
    this.#tell("started", { ...current, state: "running" });
    return current.id;
  }

  /** Between the look at a folder and its mount somebody may have put another in its place. */
  async #checkMounts(id: string, sources: readonly MountSource[]): Promise<void> {
    const paths = sources.map(({ path, target = path }) => target);
    const mounted = await this.#options.engine.identify(id, paths);
    const other = sources.find(({ identity }, index) => identity !== mounted[index]);
    if (other === undefined) return;
    throw new RecintoError("worktree-refused", `${other.path} was exchanged while it was mounted`, {
      hint: "look at who can write its parent folders",
    });
  }

  #handle(
    entry: Entry,
    made: Pick<SandboxHandle, "project" | "worktree" | "id" | "spec" | "git" | "privateGit">,
    idleStopMs: number,
  ): SandboxHandle {
    const { spec, privateGit } = made;
    const key = { project: made.project, worktree: made.worktree };
    const exec = async (command: SandboxCommand): Promise<ExecProcess> => {
      const { executor } = entry;
      if (executor === null) throw new RecintoError("engine-failed", "the sandbox was stopped");
      const argv = commandArgv(command.command);
      const { shellState } = command;
      const state = shellState === undefined ? {} : shellStateEnv(shellState);
      const env = { ...commandEnv(spec.env, command.env ?? {}), ...state };
      entry.uses += 1;
      entry.cancelIdle();
      const release = () => {
        entry.uses -= 1;
        this.#idleAfter(entry, key, idleStopMs);
      };
      try {
        const { cwd, stdin, confinement = null, tty = null, background = null } = command;
        // Where it could change something, or talks to a terminal, bash stays in between: there a millisecond is nothing.
        const harmless = confinement?.readOnly && !confinement.tcp;
        const words =
          harmless && tty === null && shellState === undefined ? plainWords(command.command) : null;
        const direct = words === null ? {} : { direct: words };
        const how = { cwd, stdin, confinement, tty, background, ...direct };
        const process = await executor.exec({ ...how, argv, env, user: spec.user });
        // What is kept running after the command uses the sandbox too.
        (process.control?.gone ?? process.exited).then(release, release);
        return process;
      } catch (error) {
        release();
        throw error;
      }
    };
    const executor = entry.executor as Executor;
    const place = {
      worktree: key.worktree,
      scratch: scratchOf(spec),
      privateGitDir: privateGit?.gitDir ?? null,
    };
    const confine = (decided: Parameters<SandboxHandle["confine"]>[0]) =>
      hold({ ...decided, ...place }, executor.landlock);
    return { ...made, executor, confine, exec };
  }

  #idleAfter(entry: Entry, key: SandboxKey, ms: number): void {
    entry.cancelIdle();
    if (entry.uses > 0) return;
    entry.cancelIdle = this.#options.clock.after(ms, () => {
      this.#locked(key, async () => {
        if (entry.uses > 0) return;
        entry.fresh = null;
        const current = await this.#find(entry, key);
        if (current?.state === "running") await this.#stop(entry, current);
      }).catch(this.#options.onError ?? (() => {}));
    });
  }

  /** By the id that this process knows, else by label: it may have been made by a former daemon. */
  async #find(entry: Entry, key: SandboxKey): Promise<SandboxStatus | null> {
    const { engine, owner } = this.#options;
    if (entry.id !== null) {
      const status = await engine.status(entry.id);
      if (status !== null) return status;
      entry.id = null;
    }
    const [found] = await engine.list({
      [LABELS.owner]: owner,
      [LABELS.project]: key.project,
      [LABELS.worktree]: key.worktree,
    });
    return found ?? null;
  }

  async #stop(entry: Entry, sandbox: SandboxStatus): Promise<void> {
    await this.#letGo(entry);
    if (sandbox.state === "stopped") return;
    await this.#options.engine.stop(sandbox.id, SANDBOX_STOP_GRACE_MS);
    this.#tell("stopped", { ...sandbox, state: "stopped" });
  }

  async #remove(entry: Entry, sandbox: SandboxStatus): Promise<void> {
    await this.#letGo(entry);
    entry.id = null;
    await this.#options.engine.remove(sandbox.id);
    this.#tell("removed", { ...sandbox, state: "stopped" });
  }

  async #letGo(entry: Entry): Promise<void> {
    const { executor } = entry;
    entry.cancelIdle();
    entry.fresh = null;
    entry.executor = null;
    await executor?.close();
  }

  #tell(event: SandboxEvent, sandbox: SandboxStatus): void {
    this.#options.onEvent?.(event, withKey(sandbox));
  }

  /** One thing at a time for each sandbox, in the order of the calls. */
  #locked<T>(key: SandboxKey, run: (entry: Entry) => Promise<T>): Promise<T> {
    const own = this.#entry(key);
    const result = own.tail.then(() => run(own));
    own.tail = result.catch(() => {});
    return result;
  }

  #entry(key: SandboxKey): Entry {
    const name = nameOf(key);
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      entry = {
        id: null,
        executor: null,
        fresh: null,
        uses: 0,
        cancelIdle: () => {},
        tail: Promise.resolve(),
      };
      this.#entries.set(name, entry);
    }
    return entry;
  }
}

function nameOf({ project, worktree }: SandboxKey): string {
  return JSON.stringify([project, worktree]);
}

function withKey(sandbox: SandboxStatus): SandboxStatus & SandboxKey {
  const { [LABELS.project]: project = "", [LABELS.worktree]: worktree = "" } = sandbox.labels;
  return { ...sandbox, project, worktree };
}

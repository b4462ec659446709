/** Which executor a sandbox is made for, which it gets, and which it will get by what is known before its first start. */
import { join } from "node:path";
import type { Profile } from "../settings/types.ts";
import type { Engine } from "./engine.ts";
import { chooseExecutor, type Executor, type ExecutorChoice } from "./executor.ts";
import type { RunnerProgram } from "./runner/program.ts";
import { makeSocketFolder } from "./runner/runner-host.ts";
import { type RunnerFolders, sandboxKey } from "./spec.ts";

export interface RunnerSetup {
  readonly program: RunnerProgram;
  /** Folder of the daemon in which each sandbox has one for its socket. */
  readonly socketsDir: string;
  /** Folder of the daemon with the certificates that sandboxes trust where hosts are looked into. */
  readonly trustDir?: string;
}

const NONE: RunnerProgram = { folder: null, missing: "the daemon was started without one" };

export class Executors {
  readonly #engine: Engine;
  readonly #owner: string;
  readonly #program: RunnerProgram;
  readonly #socketsDir: string;
  readonly #trustDir: string | undefined;

  constructor(engine: Engine, owner: string, setup: RunnerSetup | undefined) {
    this.#engine = engine;
    this.#owner = owner;
    this.#program = setup?.program ?? NONE;
    this.#socketsDir = setup?.socketsDir ?? "";
    this.#trustDir = setup?.trustDir;
  }

  /** What is mounted into the sandbox; the socket's folder is made. null: nothing of ours. */
  async folders(
    { project, worktree }: { readonly project: string; readonly worktree: string },
    { executor, network }: Profile,
  ): Promise<RunnerFolders | null> {
    if (this.#program.folder === null || executor === "plain") return null;
    const key = sandboxKey({ owner: this.#owner, projectId: project, worktree });
    const socket = join(this.#socketsDir, key);
    await makeSocketFolder(socket);
    const trusts = (network?.intercept.length ?? 0) > 0 && this.#trustDir !== undefined;
    const trust = trusts ? { trust: this.#trustDir } : {};
    return { program: this.#program.folder, socket, ...trust };
  }

  /** For a running sandbox. Throws where the profile wants one kind and that cannot run. */
  choose(sandbox: string, folders: RunnerFolders | null, { executor }: Profile): Promise<Executor> {
    return chooseExecutor(executor ?? "auto", {
      engine: this.#engine,
      sandbox,
      socketDir: folders?.socket ?? null,
      missing:
        "missing" in this.#program ? this.#program.missing : "it was made without the runner",
    });
  }

  expected({ executor = "auto", runtime }: Pick<Profile, "executor" | "runtime">): ExecutorChoice {
    if (executor === "plain") return { kind: "plain", reason: "the profile says so", landlock: 0 };
    if (this.#program.folder === null) {
      return { kind: "plain", reason: this.#program.missing, landlock: 0 };
    }
    // Another runtime may bring a kernel of its own; nothing is promised for it.
    const landlock = runtime === "runc" ? this.#program.landlock : 0;
    const reason = "not started yet";
    if (executor === "auto" && runtime === "runsc") return { kind: "plain", reason, landlock };
    return { kind: executor === "once" ? "once" : "runner", reason, landlock };
  }
}

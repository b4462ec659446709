/** Three ways to run a command in a sandbox behind one interface, and which of them a sandbox gets. */
import { RecintoError } from "../errors.ts";
import type { Engine, ExecProcess, ExecSpec } from "./engine.ts";
import { OnceExecutor } from "./runner/once.ts";
import { RunnerHost } from "./runner/runner-host.ts";

/**
 * `runner`: minders wait on a socket, a command costs a few milliseconds. `once`: the same program, one docker exec for
 * each command. `plain`: docker exec alone; the sandbox's mounts are all that confines.
 */
export type ExecutorKind = "runner" | "once" | "plain";
export type ExecutorWish = "auto" | ExecutorKind;

export interface ExecutorChoice {
  readonly kind: ExecutorKind;
  /** Why this one, for people. */
  readonly reason: string;
  /** ABI of Landlock that holds commands; 0: the kernel enforces no verdict. */
  readonly landlock: number;
}

export interface Executor extends ExecutorChoice {
  /** False once the sandbox it runs in is known to be gone or stopped. */
  readonly alive: boolean;
  /** Errors: exec-failed (no such program or folder), engine-failed, engine-unreachable. */
  exec(spec: ExecSpec): Promise<ExecProcess>;
  /** Ends what it started. */
  close(): Promise<void>;
}

export interface ExecutorPlace {
  readonly engine: Engine;
  readonly sandbox: string;
  /** Folder of the host in which the runner's socket is made; null: there is no program of ours. */
  readonly socketDir: string | null;
  /** Why there is none. */
  readonly missing: string;
}

/** Throws where the wish is for one kind and that cannot run: a wish is never quietly weakened. */
export async function chooseExecutor(wish: ExecutorWish, place: ExecutorPlace): Promise<Executor> {
  const { engine, sandbox, socketDir, missing } = place;
  if (wish === "plain") return plain(engine, sandbox, "the profile says executor: plain");
  if (socketDir === null) {
    if (wish === "auto") return plain(engine, sandbox, missing);
    throw new RecintoError("engine-failed", `executor: ${wish} cannot be used: ${missing}`, {
      hint: "build it (npm run build), or let the profile say executor: auto",
    });
  }
  const failures: string[] = [];
  const attempt = async (kind: ExecutorKind, make: () => Promise<Executor>) => {
    if (wish !== "auto" && wish !== kind) return null;
    try {
      return await make();
    } catch (error) {
      if (wish === kind) throw error;
      failures.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  };
  return (
    (await attempt("runner", () => RunnerHost.start(engine, sandbox, socketDir))) ??
    (await attempt("once", () => OnceExecutor.start(engine, sandbox, failures.join("; ")))) ??
    plain(engine, sandbox, failures.join("; "))
  );
}

function plain(engine: Engine, sandbox: string, reason: string): Executor {
  return {
    kind: "plain",
    reason,
    landlock: 0,
    // Nothing of ours is in there that could tell.
    alive: true,
    exec: (spec) => engine.exec(sandbox, spec),
    close: async () => {},
  };
}

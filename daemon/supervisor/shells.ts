/** Named shells of sessions: folder and exported variables from one command to the next, each judged and held by itself. */
import { buffer } from "node:stream/consumers";
import { RecintoError } from "../errors.ts";
import { SHELL_READ_MS, SHELLS_PER_SESSION_MAX } from "../limits.ts";
import type { SandboxHandle } from "../sandbox/sandboxes.ts";
import { readStateCommand, rememberedVariables } from "../sandbox/shell-state.ts";
import type { Session } from "./sessions.ts";
import type { RunRequest } from "./types.ts";

interface Remembered {
  busy: boolean;
  cwd: string | null;
  variables: Readonly<Record<string, string>>;
}

/** One shell while a command runs in it. */
export interface HeldShell {
  /** The request as it is in this shell: what it says itself comes first. */
  applied(request: RunRequest): RunRequest;
  /** Where the command `exec` leaves its variables. */
  pathOf(exec: string): string;
  /** Takes up what the command has left. Never rejects: a shell that is not told anything new stays as it was. */
  remember(
    sandbox: Pick<SandboxHandle, "exec" | "confine" | "spec">,
    exec: string,
    cwd: string | undefined,
  ): Promise<void>;
  release(): void;
}

export class Shells {
  readonly #shells = new WeakMap<Session, Map<string, Remembered>>();

  /** Errors: busy, where another command runs in it or there are too many. */
  enter(session: Session, name: string): HeldShell {
    const shells = this.#shells.get(session) ?? new Map<string, Remembered>();
    this.#shells.set(session, shells);
    const shell = shells.get(name) ?? { busy: false, cwd: null, variables: {} };
    if (shell.busy) {
      throw new RecintoError("busy", `a command runs in shell ${name}`, {
        hint: "wait for it, or run this one in another shell or in none",
      });
    }
    if (!shells.has(name) && shells.size >= SHELLS_PER_SESSION_MAX) {
      throw new RecintoError("busy", `the session has ${shells.size} shells`, {
        hint: "use one of them, or none",
      });
    }
    shell.busy = true;
    shells.set(name, shell);
    return {
      applied: (request) => ({
        ...request,
        ...(request.cwd === undefined && shell.cwd !== null ? { cwd: shell.cwd } : {}),
        env: { ...shell.variables, ...request.env },
      }),
      pathOf: statePath,
      async remember(sandbox, exec, cwd) {
        if (cwd !== undefined) shell.cwd = cwd;
        const dump = await readState(sandbox, exec).catch(() => null);
        if (dump !== null && dump.length > 0) {
          shell.variables = rememberedVariables(dump, sandbox.spec.env ?? {});
        }
      },
      release: () => {
        shell.busy = false;
      },
    };
  }
}

function statePath(exec: string): string {
  return `/tmp/.recinto-shell-${exec}`;
}

/** As the agent's user and held to reading and scratch: the command may have put anything there. */
async function readState(
  sandbox: Pick<SandboxHandle, "exec" | "confine">,
  exec: string,
): Promise<Buffer> {
  const { confinement } = sandbox.confine({ segments: [], approved: true, grants: [] });
  const process = await sandbox.exec({
    command: readStateCommand(statePath(exec)),
    cwd: "/",
    stdin: false,
    // Scratch may be written, and what is read is taken away.
    confinement: { ...confinement, readOnly: false },
  });
  const late = setTimeout(() => void process.kill("KILL").catch(() => undefined), SHELL_READ_MS);
  process.stderr.resume();
  try {
    const dump = await buffer(process.stdout);
    await process.exited;
    return dump;
  } finally {
    clearTimeout(late);
  }
}

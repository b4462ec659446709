/** A command under a minder as every other part of the daemon sees a command. */
import type { ExecProcess, ExecSpec } from "../engine.ts";
import type { RunnerCommand } from "./frames.ts";
import type { RunnerProcess } from "./runner-process.ts";

export function runnerCommand(spec: ExecSpec): RunnerCommand {
  const { argv, env, cwd, user, stdin, tty = null, confinement = null, direct } = spec;
  // The sandbox's own limits hold: the runner was started under them.
  const limits = { openFiles: null, fileBytes: null };
  const plain = direct === undefined ? {} : { direct };
  return { argv, ...plain, env, cwd, user, stdin, tty, confinement, ...limits };
}

/** Waits for the program to run. Errors: `exec-failed` when it does not. */
export async function minded(child: RunnerProcess, spec: ExecSpec): Promise<ExecProcess> {
  // Said before anything can have ended.
  child.onBackgroundOutput = spec.background ?? null;
  const kept = child.onBackgroundOutput !== null;
  const { pid } = await child.started;
  const end = async () => {
    const exit = await child.exited;
    if (exit.left > 0 && !kept) {
      child.signal("KILL", true);
      await child.gone;
    }
    return exit;
  };
  const exited = end();
  // Who only reads the output need not handle it too.
  exited.catch(() => {});
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    kill: async (signal) => child.signal(signal, true),
    control: {
      pid,
      gone: child.gone,
      signal: (signal, everything) => child.signal(signal, everything),
      resize: (rows, columns) => child.resize(rows, columns),
    },
  };
}

/** Runs one command over an agent socket: passes streams and signals through, as if it had been started here. */
import { createReadStream, fstatSync, readFileSync, type Stats } from "node:fs";
import type { Readable } from "node:stream";
import { type AgentClient, agentClient, type ClientRunRequest } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { STDIN_INLINE_BYTES_MAX } from "../limits.ts";
import { exitCodeOf, exitCodeOfSignal, type SignalName, shower, wireOf } from "./run-events.ts";
import { runTakingUp } from "./take-up.ts";
import { print, printJsonLine } from "./terminal-text.ts";

export interface RunInSandbox {
  readonly socketPath: string;
  readonly waitForStart: boolean;
  readonly worktree: string;
  readonly request: Omit<ClientRunRequest, "stdin">;
  readonly json: boolean;
  /** auto: from a pipe or a file, not from a terminal. */
  readonly stdin: boolean | "auto";
  /** On this program's own terminal. */
  readonly tty?: boolean;
  /** Until it runs; then the id of its job is printed. */
  readonly detach?: boolean;
  /** Says what went wrong and no more, as a shell. */
  readonly quiet?: boolean;
}

const FORWARDED = { SIGINT: "INT", SIGTERM: "TERM", SIGHUP: "HUP", SIGQUIT: "QUIT" } as const;

/** Resolves with the exit code. Errors: those of the API. */
export async function runInSandbox(run: RunInSandbox): Promise<number> {
  if (run.tty === true) return onTerminal(run);
  const client = agentClient(run);
  const leaving = new Leaving();
  const stdin = stdinOf(run.stdin);
  const show = shower({ quiet: run.quiet ?? false });
  try {
    const { session } = await client.openSession(run.worktree);
    const detach = run.detach === true ? ({ detach: true } as const) : {};
    const request = { ...run.request, ...(stdin === undefined ? {} : { stdin }), ...detach };
    let code: number | undefined;
    for await (const event of runTakingUp(client, session.id, request, leaving.signal)) {
      if (event.type === "started") leaving.forwardTo(client, session.id, event.exec);
      if (run.json) printJsonLine(wireOf(event));
      else if (run.detach === true && event.type === "started") print(`${event.exec}\n`);
      else await show(event);
      code = run.detach === true && event.type === "started" ? 0 : (exitCodeOf(event) ?? code);
    }
    if (code !== undefined) return code;
    if (leaving.by !== null) return exitCodeOfSignal(leaving.by);
    throw new RecintoError("daemon-unreachable", "the stream ended before the command did");
  } catch (error) {
    if (leaving.by !== null) return exitCodeOfSignal(leaving.by);
    throw error;
  } finally {
    client.close();
    if (stdin !== undefined && !(stdin instanceof Uint8Array)) stdin.destroy();
  }
}

async function onTerminal(run: RunInSandbox): Promise<number> {
  const [{ runOnTerminal }, { hasTerminal }] = await Promise.all([
    import("./on-terminal.ts"),
    import("./raw-terminal.ts"),
  ]);
  if (run.json || run.detach === true || !hasTerminal()) {
    const why =
      run.json || run.detach === true
        ? "the terminal is this one: it goes with neither --json nor --detach"
        : "standard input and output are no terminal";
    throw new RecintoError("bad-usage", `--tty: ${why}`, { hint: "leave --tty away" });
  }
  const client = agentClient(run);
  try {
    const { session } = await client.openSession(run.worktree);
    return (await runOnTerminal(client, session.id, run.request)).code;
  } finally {
    client.close();
  }
}

/**
 * Signals of whoever started this program: until the command runs they give it up; then they are its own, as they would be
 * in the terminal's group, and only a second one of the same kind cuts it off.
 */
class Leaving {
  /** What made it give up. */
  by: SignalName | null = null;
  readonly #aborting = new AbortController();
  readonly #sent = new Set<SignalName>();
  #forward: ((signal: (typeof FORWARDED)[keyof typeof FORWARDED]) => Promise<void>) | null = null;

  constructor() {
    for (const name of Object.keys(FORWARDED) as (keyof typeof FORWARDED)[]) {
      process.on(name, () => this.#take(name));
    }
    // The reader has gone, as in `… | head -1`: the command ends as it would on a pipe of its own.
    process.stdout.on("error", () => this.#leave("SIGPIPE"));
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  forwardTo(client: AgentClient, session: string, exec: string): void {
    const jobs = client.jobs(session);
    this.#forward = (signal) => jobs.signal(exec, signal);
  }

  #take(name: keyof typeof FORWARDED): void {
    if (this.#forward === null || this.#sent.has(name)) this.#leave(name);
    this.#sent.add(name);
    // Where it cannot be passed on the command ends with its connection.
    this.#forward?.(FORWARDED[name]).catch(() => this.#leave(name));
  }

  #leave(name: SignalName): void {
    this.by ??= name;
    this.#aborting.abort();
  }
}

/**
 * A small file goes with the request, so that whoever approves sees it; a pipe is read while the command runs, since it
 * may never end. Nothing comes from a terminal unless asked for, nor from /dev/null and other devices.
 */
export function stdinOf(wanted: RunInSandbox["stdin"]): Uint8Array | Readable | undefined {
  if (wanted === false) return undefined;
  if (wanted === true) return process.stdin;
  let stat: Stats;
  try {
    stat = fstatSync(0);
  } catch {
    return undefined; // Closed.
  }
  if (stat.isFile()) {
    if (stat.size <= STDIN_INLINE_BYTES_MAX) return readFileSync(0);
    return createReadStream("", { fd: 0, autoClose: false });
  }
  return stat.isFIFO() || stat.isSocket() ? process.stdin : undefined;
}

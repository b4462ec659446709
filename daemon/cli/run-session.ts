/** Runs one command over an agent socket: passes streams through, says on stderr what a shell could not say. */
import { once } from "node:events";
import { createReadStream, fstatSync, readFileSync, type Stats } from "node:fs";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { agentClient, type ClientRunEvent, type ClientRunRequest, carried } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { STDIN_INLINE_BYTES_MAX } from "../limits.ts";
import { printJsonLine, visible } from "./terminal-text.ts";

export interface RunInSandbox {
  readonly socketPath: string;
  readonly waitForStart: boolean;
  readonly worktree: string;
  readonly request: Omit<ClientRunRequest, "stdin">;
  readonly json: boolean;
  /** auto: from a pipe or a file, not from a terminal. */
  readonly stdin: boolean | "auto";
}

const EXIT_REFUSED = 126;
/** As timeout(1) says it. */
const EXIT_TIMED_OUT = 124;
const EXIT_SIGNAL = 128;

/** Resolves with the exit code. Errors: those of the API. */
export async function runInSandbox(run: RunInSandbox): Promise<number> {
  const client = agentClient(run);
  const leaving = new AbortController();
  let signalled: "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE" | undefined;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => {
      signalled = name;
      leaving.abort();
    });
  }
  // The reader has gone, as in `… | head -1`: the command ends as it would on a pipe of its own.
  process.stdout.on("error", () => {
    signalled ??= "SIGPIPE";
    leaving.abort();
  });
  const stdin = stdinOf(run.stdin);
  const show = shower();
  try {
    const { session } = await client.openSession(run.worktree);
    const request = stdin === undefined ? run.request : { ...run.request, stdin };
    let code: number | undefined;
    for await (const event of client.run(session.id, request, leaving.signal)) {
      if (run.json) printJsonLine(wireOf(event));
      else await show(event);
      code = exitCodeOf(event) ?? code;
    }
    if (signalled !== undefined) return EXIT_SIGNAL + constants.signals[signalled];
    if (code === undefined) {
      throw new RecintoError("daemon-unreachable", "the stream ended before the command did");
    }
    return code;
  } catch (error) {
    if (signalled !== undefined) return EXIT_SIGNAL + constants.signals[signalled];
    throw error;
  } finally {
    client.close();
    if (stdin !== undefined && !(stdin instanceof Uint8Array)) stdin.destroy();
  }
}

/**
 * A small file goes with the request, so that whoever approves sees it; a pipe is read while the command runs, since it
 * may never end. Nothing comes from a terminal unless asked for, nor from /dev/null and other devices.
 */
function stdinOf(wanted: RunInSandbox["stdin"]): Uint8Array | Readable | undefined {
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

/** Passes output on and tells the rest on stderr; a wait is told once, however often it is reported. */
function shower(): (event: ClientRunEvent) => Promise<void> {
  const told = new Set<string>();
  return async (event) => {
    if (event.type === "pending") {
      if (told.has(event.approval)) return;
      told.add(event.approval);
    }
    await show(event);
  };
}

async function show(event: ClientRunEvent): Promise<void> {
  switch (event.type) {
    case "stdout":
    case "stderr": {
      const stream = process[event.type];
      if (!stream.write(event.data) && !stream.destroyed) {
        await Promise.race([once(stream, "drain"), once(stream, "close")]);
      }
      return;
    }
    case "pending":
      return say(
        `waiting for a person to answer ${event.approval} (recinto approvals show ${event.approval})`,
      );
    case "approved":
      return say(`${event.approval} was approved`);
    case "note":
      return say(event.reason);
    case "truncated":
      return say(`${event.stream} is over its limit: ${event.bytes} bytes left out`);
    case "refused":
      return say(refusal(event));
    case "exit":
      if (event.timedOut) say("the command was over its time and was stopped");
      if (event.oomKilled) say("the sandbox ran out of memory and the command was killed");
  }
}

function refusal(event: ClientRunEvent & { type: "refused" }): string {
  const by = {
    policy: "refused by the policy",
    person: "refused by a person",
    timeout: "nobody answered in time, so it did not run",
    "facts-changed": "what was approved is no longer what would run",
    "not-waiting": "not run",
  }[event.by];
  const instead = event.instead === undefined ? "" : ` (${event.instead})`;
  return `${by}: ${event.reason}${instead}`;
}

function say(text: string): void {
  process.stderr.write(`recinto: ${visible(text)}\n`);
}

function exitCodeOf(event: ClientRunEvent): number | undefined {
  if (event.type === "refused") return EXIT_REFUSED;
  if (event.type !== "exit") return undefined;
  if (event.timedOut) return EXIT_TIMED_OUT;
  return event.exitCode ?? EXIT_SIGNAL + constants.signals.SIGKILL;
}

/** Output as the API sends it: text where it is UTF-8, else base64. */
function wireOf(event: ClientRunEvent): object {
  return event.type === "stdout" || event.type === "stderr"
    ? { type: event.type, ...carried(event.data) }
    : event;
}

/** A run request made ready to be judged: one text, one folder, every limit settled. */
import { createHash } from "node:crypto";
import { posix } from "node:path";
import { RecintoError } from "../errors.ts";
import {
  APPROVAL_STDIN_BYTES_SHOWN,
  COMMAND_CHARS_MAX,
  EXEC_ENV_COUNT_MAX,
  EXEC_ENV_VALUE_CHARS_MAX,
  JOB_LIFE_DEFAULT_MS,
} from "../limits.ts";
import { refusedEnvName } from "../sandbox/command.ts";
import type { Profile } from "../settings/types.ts";
import type { HeldShell } from "./shells.ts";
import type { RunRequest, TerminalSize } from "./types.ts";

export interface PreparedCommand {
  /** What is judged, shown, recorded and run: to the letter the same text everywhere. */
  readonly command: string;
  readonly cwd: string;
  readonly stdin: RunRequest["stdin"];
  /** What an approver sees of the standard input. */
  readonly stdinShown?: string;
  readonly tty: TerminalSize | null;
  readonly detach: boolean;
  /** The named shell that it runs in. */
  readonly shell?: HeldShell;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number | null;
  readonly outputBytesMax: number;
  readonly waitMs: number;
  /** The same for the same command with the same input; null when the input is a stream. */
  readonly key: string | null;
}

/**
 * Throws `bad-request`. Limits are the profile's; a request can only lower them. Variables become an `export` line of
 * the text itself, so that the policy judges them as it judges the same line written by hand.
 */
export function prepareCommand(
  request: RunRequest,
  worktree: string,
  profile: Profile,
): PreparedCommand {
  const command = exportLine(request.env ?? {}) + checkText("command", request.command);
  if (command.length > COMMAND_CHARS_MAX) {
    throw bad(`the command has ${command.length} characters, more than ${COMMAND_CHARS_MAX}`);
  }
  const cwd = commandFolder(request.cwd, worktree);
  const { tty = null, detach = false } = request;
  // A terminal without input would be at its end of file at once: nothing interactive runs so.
  const { stdin = tty === null ? undefined : "open" } = request;
  const fixed = stdin === undefined || stdin instanceof Uint8Array;
  return {
    command,
    cwd,
    stdin,
    ...(stdin === undefined ? {} : { stdinShown: shown(stdin) }),
    tty,
    detach,
    timeoutMs: Math.min(request.timeoutMs ?? Infinity, longestMs(detach, profile)),
    idleTimeoutMs: request.idleTimeoutMs ?? null,
    outputBytesMax: Math.min(request.outputBytesMax ?? Infinity, profile.limits.outputBytes),
    waitMs: Math.min(request.waitMs ?? Infinity, profile.approvalWaitMs),
    key: fixed ? digest(JSON.stringify([command, cwd, stdin ? digest(stdin) : null])) : null,
  };
}

/** A detached job may live as long as what a command leaves running. */
function longestMs(detach: boolean, { limits }: Profile): number {
  const { wallClockMs, backgroundMs = JOB_LIFE_DEFAULT_MS } = limits;
  return detach ? Math.max(wallClockMs, backgroundMs) : wallClockMs;
}

/** The absolute, lexically normalised folder that a command starts in. */
function commandFolder(cwd: string | undefined, worktree: string): string {
  return posix.resolve(worktree, checkText("cwd", cwd ?? "."));
}

function exportLine(env: Readonly<Record<string, string>>): string {
  const names = Object.entries(env);
  if (names.length === 0) return "";
  if (names.length > EXEC_ENV_COUNT_MAX) throw bad(`more than ${EXEC_ENV_COUNT_MAX} variables`);
  const words = names.map(([name, value]) => {
    const why = refusedEnvName(name);
    if (why !== null) throw bad(`variable ${JSON.stringify(name)} is refused: ${why}`);
    if (value.length > EXEC_ENV_VALUE_CHARS_MAX) {
      throw bad(`variable ${name} has more than ${EXEC_ENV_VALUE_CHARS_MAX} characters`);
    }
    return `${name}='${checkText(name, value).replaceAll("'", `'\\''`)}'`;
  });
  return `export ${words.join(" ")}\n`;
}

function checkText(what: string, text: string): string {
  if (text.includes("\0")) throw bad(`${what} has a NUL character`);
  // A lone surrogate would run as another text than the one that was judged.
  if (/\p{Surrogate}/u.test(text)) throw bad(`${what} is not well-formed text`);
  return text;
}

function shown(stdin: NonNullable<RunRequest["stdin"]>): string {
  if (!(stdin instanceof Uint8Array)) return "(a stream: it cannot be shown before it runs)";
  const beginning = stdin.subarray(0, APPROVAL_STDIN_BYTES_SHOWN);
  const more = stdin.length - beginning.length;
  const text = new TextDecoder().decode(beginning);
  return more > 0 ? `${text}\n(and ${more} more bytes)` : text;
}

function digest(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function bad(message: string): RecintoError {
  return new RecintoError("bad-request", message);
}

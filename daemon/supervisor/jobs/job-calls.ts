/** What callers may ask of the jobs of a session: to see them, to read and feed them, to signal and end them. */
import type { RunnerSignal } from "../../sandbox/runner/frames.ts";
import type { Caller, RunEvent, TerminalSize } from "../types.ts";

export type { RunnerSignal };

export type JobState = "running" | "background" | "ended";

type Exit = Extract<RunEvent, { type: "exit" }>;
type Note = Extract<RunEvent, { type: "note" }>;

/** One command of a session, from its start until some time after its end. Plain data. */
export interface JobInfo {
  /** The `exec` of its events. */
  readonly id: string;
  readonly session: string;
  readonly action: string;
  readonly command: string;
  readonly cwd: string;
  /** `background`: the command itself ended, what it left running did not. */
  readonly state: JobState;
  /** Nobody's request waits for it. */
  readonly detached: boolean;
  /** Its terminal; null: it has none. */
  readonly tty: TerminalSize | null;
  /** Whether it can be written to. */
  readonly stdin: boolean;
  readonly confinement: string;
  readonly startedAt: number;
  /** How the command itself ended; absent: it has not, or nobody knows. */
  readonly exit?: Exit;
  /** Why nobody knows how it ended. */
  readonly lost?: string;
  /** When nothing of it was left any more. */
  readonly endedAt?: number;
  /** Offsets of the output that is kept: the oldest byte, and after the newest. */
  readonly output: { readonly from: number; readonly to: number };
  /** Who follows it at the moment, besides the request that started it. */
  readonly readers: number;
  /** What was told about a detached one besides its output. */
  readonly notes?: readonly Note[];
}

/**
 * Output of a job. `at` is first and says where it begins; another `at` follows wherever bytes are missing, since this
 * reader was slower than the job. `exit` stands where the command itself ended, `end` is last: there is no more, or, for
 * who does not follow, no more yet.
 */
export type JobEvent =
  | { readonly type: "at"; readonly offset: number; readonly lost: number }
  | { readonly type: "stdout"; readonly data: Uint8Array }
  | { readonly type: "stderr"; readonly data: Uint8Array }
  | Exit
  | { readonly type: "end"; readonly next: number; readonly state: JobState };

export interface OutputRequest {
  /** Offset of the first byte wanted; absent: the oldest that is kept. */
  readonly since?: number;
  /** Go on until nothing of the job is left. */
  readonly follow?: boolean;
}

/**
 * Errors of all: unknown-session, and unknown-job for what is no job of that session. What changes a job is for the
 * session's owner; ending one is also for an admin.
 */
export interface JobCalls {
  /** The oldest first. Ended ones are listed for a while. */
  list(caller: Caller, session: string): readonly JobInfo[];
  show(caller: Caller, session: string, job: string): JobInfo;
  /** Leaving the loop, or a slow reader, is nothing to the job. Errors: busy (JOB_READERS_MAX). */
  output(
    caller: Caller,
    session: string,
    job: string,
    request: OutputRequest,
    signal: AbortSignal,
  ): AsyncIterable<JobEvent>;
  /** Resolves when there is room for more. Errors: job-over, input-closed, busy. */
  write(caller: Caller, session: string, job: string, data: Uint8Array): Promise<void>;
  /** End of file on its input. Errors as `write`. */
  endInput(caller: Caller, session: string, job: string): void;
  /** To its process group, or with `tree` to everything it started. Errors: job-over, not-available. */
  signal(caller: Caller, session: string, job: string, signal: RunnerSignal, tree: boolean): void;
  /** Errors: job-over, bad-request (it has no terminal). */
  resize(caller: Caller, session: string, job: string, size: TerminalSize): void;
  /** TERM to everything it started, after EXEC_TERM_GRACE_MS KILL. Resolves when nothing is left; also for an ended one. */
  kill(caller: Caller, session: string, job: string): Promise<JobInfo>;
}

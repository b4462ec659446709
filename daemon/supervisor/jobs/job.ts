/** One command as a job of its session: from its start, through what it left running, to when nothing of it is left. */
import { RecintoError } from "../../errors.ts";
import {
  EXEC_LOST_AFTER_MS,
  EXEC_TERM_GRACE_MS,
  JOB_INPUT_WAITING_BYTES_MAX,
  JOB_NOTES_MAX,
  JOB_READ_BYTES,
  JOB_READERS_MAX,
} from "../../limits.ts";
import type { BackgroundOutput, ExecProcess } from "../../sandbox/engine.ts";
import type { Note } from "../escort.ts";
import type { Execution, ExitEvent, Outcome } from "../execution.ts";
import { settleWithin } from "../settling.ts";
import type { TerminalSize } from "../types.ts";
import type { JobEvent, JobInfo, JobState, OutputRequest, RunnerSignal } from "./job-calls.ts";
import { JobOutput } from "./job-output.ts";

export type JobAbout = Pick<
  JobInfo,
  "id" | "session" | "action" | "command" | "cwd" | "detached" | "confinement" | "startedAt"
>;

/** Why what a command left running is over. */
export type BackgroundEnd = "ended" | "killed" | "session-closed" | "daemon-stopped" | "over-time";

export interface JobHooks {
  readonly now: () => number;
  /** What ends it besides its own life, and what it is then over for. */
  readonly ends: readonly (readonly [AbortSignal, BackgroundEnd])[];
  /** Longest life of what the command leaves running; 0: it leaves nothing. */
  readonly backgroundMs: number;
  /** The command itself ended and left this many processes. */
  readonly onLeft: (left: number) => void;
  readonly onBackgroundEnd: (why: BackgroundEnd) => void;
  /** Nothing of it is left. */
  readonly onEnd: () => void;
}

interface Running {
  readonly process: ExecProcess;
  readonly execution: Execution;
}

export class Job {
  readonly output = new JobOutput();
  readonly #about: JobAbout;
  readonly #hooks: JobHooks;
  readonly #notes: Note[] = [];
  readonly #atEnd: (() => unknown)[] = [];
  #tty: TerminalSize | null;
  #running: Running | null = null;
  #state: JobState = "running";
  #exit: { readonly event: ExitEvent; readonly offset: number } | null = null;
  #lost: string | null = null;
  #endedAt: number | null = null;
  #why: BackgroundEnd = "ended";
  #readers = 0;
  #over: () => void = () => undefined;
  /** Nothing of it is left. */
  readonly gone: Promise<void>;

  constructor(about: JobAbout, tty: TerminalSize | null, hooks: JobHooks) {
    this.#about = about;
    this.#tty = tty;
    this.#hooks = hooks;
    this.gone = new Promise((resolve) => {
      this.#over = resolve;
    });
  }

  get id(): string {
    return this.#about.id;
  }

  get state(): JobState {
    return this.#state;
  }

  get endedAt(): number | null {
    return this.#endedAt;
  }

  /** For the executor: absent where nothing may stay. */
  get background(): BackgroundOutput | null {
    if (this.#hooks.backgroundMs === 0) return null;
    return (stream, chunk) => this.output.push(stream, chunk);
  }

  info(): JobInfo {
    const exit = this.#exit === null ? {} : { exit: this.#exit.event };
    const lost = this.#lost === null ? {} : { lost: this.#lost };
    const ended = this.#endedAt === null ? {} : { endedAt: this.#endedAt };
    return {
      ...this.#about,
      state: this.#state,
      tty: this.#tty,
      stdin: this.#running?.execution.inputOpen ?? false,
      ...exit,
      ...lost,
      ...ended,
      output: { from: this.output.from, to: this.output.to },
      readers: this.#readers,
      ...(this.#notes.length > 0 ? { notes: [...this.#notes] } : {}),
    };
  }

  /** Says that it runs, by this. */
  run(process: ExecProcess, execution: Execution): void {
    this.#running = { process, execution };
  }

  note(note: Note): void {
    if (this.#notes.length < JOB_NOTES_MAX) this.#notes.push(note);
  }

  /** Runs `step` once nothing of it is left: at once where that is so. */
  whenOver(step: () => unknown): void {
    if (this.#state === "ended") step();
    else this.#atEnd.push(step);
  }

  /** The command itself is over. Call once. */
  exited(outcome: Outcome): void {
    if (outcome.known) this.#exit = { event: outcome.exit, offset: this.output.to };
    else this.#lost = outcome.error.message;
    const left = outcome.known ? (outcome.exit.left ?? 0) : 0;
    const control = this.#running?.process.control;
    if (left === 0 || !control) {
      this.#end();
      return;
    }
    this.#state = "background";
    const over = new AbortController();
    for (const [signal, why] of this.#hooks.ends) {
      const onAbort = () => void this.#endBackground(why);
      signal.addEventListener("abort", onAbort, { once: true, signal: over.signal });
      if (signal.aborted) onAbort();
    }
    const life = setTimeout(() => void this.#endBackground("over-time"), this.#hooks.backgroundMs);
    life.unref();
    const ended = control.gone.then(() => {
      clearTimeout(life);
      over.abort();
      try {
        this.#hooks.onBackgroundEnd(this.#why);
      } finally {
        this.#end();
      }
    });
    // Health says that it could not be recorded.
    ended.catch(() => undefined);
    try {
      this.#hooks.onLeft(left);
    } catch (error) {
      // What is not on record does not stay.
      void this.#endBackground("killed");
      throw error;
    }
  }

  /** What becomes of `output`: read from an offset on, followed to the end where that is wanted. */
  async *events({ since, follow = false }: OutputRequest, signal: AbortSignal) {
    if (this.#readers >= JOB_READERS_MAX) {
      throw new RecintoError("busy", `job ${this.id} has ${this.#readers} readers`);
    }
    this.#readers += 1;
    try {
      yield* this.#read(since ?? this.output.from, follow, signal);
    } finally {
      this.#readers -= 1;
    }
  }

  async *#read(
    since: number,
    follow: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<JobEvent, void> {
    let next = since;
    let begun = false;
    let exitTold = false;
    while (!signal.aborted) {
      const exit = exitTold ? null : this.#exit;
      const untilExit = exit === null || next >= exit.offset ? JOB_READ_BYTES : exit.offset - next;
      const part = this.output.read(next, Math.min(JOB_READ_BYTES, untilExit));
      if (!begun || part.lost > 0) yield { type: "at", offset: part.at, lost: part.lost };
      begun = true;
      next = part.at;
      if (exit !== null && next >= exit.offset) {
        exitTold = true;
        yield exit.event;
        continue;
      }
      for (const { stream, data } of part.pieces) yield { type: stream, data };
      next = part.next;
      if (part.pieces.length > 0 || (!exitTold && this.#exit !== null)) continue;
      if (!follow || this.output.ended) {
        yield { type: "end", next, state: this.#state };
        return;
      }
      await this.output.after(next, signal);
    }
  }

  async write(data: Uint8Array): Promise<void> {
    const { execution, process } = this.#withInput();
    if ((process.stdin?.writableLength ?? 0) > JOB_INPUT_WAITING_BYTES_MAX) {
      throw new RecintoError("busy", `job ${this.id} does not read its input`);
    }
    await execution.write(data);
  }

  endInput(): void {
    this.#withInput().execution.endInput();
  }

  signal(signal: RunnerSignal, tree: boolean): void {
    const { process } = this.#alive();
    if (process.control) {
      process.control.signal(signal, tree);
    } else if (tree && (signal === "TERM" || signal === "KILL" || signal === "INT")) {
      process.kill(signal).catch(() => undefined);
    } else {
      const what = tree ? `signal ${signal}` : "a signal to the process group alone";
      throw notAvailable(what);
    }
  }

  resize(size: TerminalSize): void {
    const { process } = this.#alive();
    if (this.#tty === null) {
      throw new RecintoError("bad-request", `job ${this.id} has no terminal`, {
        hint: "start it with tty",
      });
    }
    process.control?.resize(size.rows, size.columns);
    this.#tty = { rows: size.rows, columns: size.columns };
  }

  /** Resolves when nothing of it is left, or that cannot be seen in time. */
  async kill(): Promise<void> {
    if (this.#state === "running") await this.#running?.execution.stop();
    await this.#endBackground("killed");
  }

  async #endBackground(why: BackgroundEnd): Promise<void> {
    const control = this.#running?.process.control;
    if (this.#state !== "background" || !control) return;
    if (this.#why === "ended") this.#why = why;
    control.signal("TERM", true);
    if (await settleWithin(EXEC_TERM_GRACE_MS, [this.gone])) return;
    control.signal("KILL", true);
    await settleWithin(EXEC_LOST_AFTER_MS, [this.gone]);
  }

  #end(): void {
    this.#state = "ended";
    this.#endedAt = this.#hooks.now();
    this.#running = null;
    this.output.end();
    for (const step of this.#atEnd.splice(0)) step();
    this.#hooks.onEnd();
    this.#over();
  }

  #alive(): Running {
    if (this.#running !== null) return this.#running;
    throw new RecintoError("job-over", `job ${this.id} is over`);
  }

  #withInput(): Running {
    const running = this.#alive();
    if (this.#state === "running" && running.execution.inputOpen) return running;
    throw new RecintoError("input-closed", `the input of job ${this.id} is closed`);
  }
}

export function notAvailable(what: string): RecintoError {
  return new RecintoError("not-available", `${what} is not available under executor plain`);
}

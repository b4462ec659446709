/** One running command, watched to its end whatever its reader does: output, limits, cancelling, and one known outcome. */
import type { Readable } from "node:stream";
import { RecintoError } from "../errors.ts";
import { EXEC_BUFFER_BYTES_MAX, EXEC_LOST_AFTER_MS, EXEC_TERM_GRACE_MS } from "../limits.ts";
import type { ExecExit, ExecProcess } from "../sandbox/engine.ts";
import { Channel } from "./channel.ts";
import type { JobOutput } from "./jobs/job-output.ts";
import type { RunEvent, RunRequest } from "./types.ts";

export interface ExecutionInput {
  readonly process: ExecProcess;
  /** Id of this execution, for the events. */
  readonly exec: string;
  readonly stdin: RunRequest["stdin"];
  readonly timeoutMs: number;
  /** Longest time without output and input; null: any. */
  readonly idleTimeoutMs: number | null;
  readonly outputBytesMax: number;
  /** Where all of its output is kept for whoever looks, besides `events`. */
  readonly history: JobOutput;
  /** What it leaves running stays; else it is gone when the exit is told. */
  readonly keepsBackground: boolean;
  /** Where its shell was when it ended, from where its process was. */
  readonly folderAfter: (folder: ExecExit["folder"]) => string | undefined;
  /** The client left, the session was closed, the daemon stops. */
  readonly signal: AbortSignal;
  /** Aborts when the command has written more than it may. */
  readonly overDisk?: AbortSignal;
  readonly now: () => number;
  /** Called once, when the outcome is known and before the reader hears of it. */
  readonly onEnd: (outcome: Outcome) => void;
}

export type ExitEvent = Extract<RunEvent, { type: "exit" }>;

export type Outcome =
  | { readonly known: true; readonly exit: ExitEvent }
  /** Whether and how it ended cannot be told. */
  | { readonly known: false; readonly error: RecintoError };

/**
 * A command that was started. It is watched from here on, also while nobody reads `events`: it may be ahead by
 * EXEC_BUFFER_BYTES_MAX of output. Over its time or on `signal` everything it started is killed.
 */
export class Execution {
  readonly #input: ExecutionInput;
  readonly #channel = new Channel<RunEvent>(EXEC_BUFFER_BYTES_MAX);
  readonly #startedAt: number;
  readonly #bytes = { stdout: 0, stderr: 0 };
  readonly #cut = { stdout: 0, stderr: 0 };
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #ended: Promise<void>;
  #passed = 0;
  #timedOut = false;
  #cancelled = false;
  #diskLimit = false;
  #idleTimedOut = false;
  #idle: NodeJS.Timeout | null = null;
  #killing = false;
  #exited = false;
  #giveUp: (error: RecintoError) => void = () => undefined;

  constructor(input: ExecutionInput) {
    this.#input = input;
    this.#startedAt = input.now();
    this.#ended = this.#watch();
  }

  /** Output, then `exit`; throws where the outcome is not known. For one reader. */
  events(): AsyncIterable<RunEvent> {
    return this.#channel;
  }

  /** Whether it can be written to. */
  get inputOpen(): boolean {
    const { stdin } = this.#input.process;
    return stdin !== null && !this.#exited && !stdin.writableEnded && !stdin.destroyed;
  }

  /** Resolves when there is room for more. Only while `inputOpen`. */
  async write(data: Uint8Array): Promise<void> {
    const { stdin } = this.#input.process;
    this.#idle?.refresh();
    if (stdin !== null && !stdin.write(data)) await drained(stdin);
  }

  endInput(): void {
    this.#input.process.stdin?.end();
  }

  /** Kills it if it still runs, and resolves once its outcome is recorded. What it left in the background stays. */
  async stop(): Promise<void> {
    this.#cancel();
    await this.#ended;
  }

  async #watch(): Promise<void> {
    const { process, timeoutMs, signal, overDisk } = this.#input;
    const onAbort = () => this.#cancel();
    signal.addEventListener("abort", onAbort, { once: true });
    const onOverDisk = () => {
      this.#diskLimit = !this.#exited;
      this.#kill();
    };
    overDisk?.addEventListener("abort", onOverDisk, { once: true });
    if (overDisk?.aborted) onOverDisk();
    this.#after(timeoutMs, () => {
      if (this.#exited) this.#channel.unbound();
      else this.#timedOut = !this.#killing;
      this.#kill();
    });
    this.#watchIdle();
    if (signal.aborted) this.#cancel();
    const lost = new Promise<never>((_, reject) => {
      this.#giveUp = reject;
    });
    const pumps = Promise.all([
      this.#pump("stdout", process.stdout),
      this.#pump("stderr", process.stderr),
    ]);
    // Where the engine breaks off, its streams may break after the outcome is settled.
    pumps.catch(() => undefined);
    this.#feed().catch(() => undefined);
    let outcome: Outcome;
    try {
      const exit = await Promise.race([process.exited, lost]);
      this.#exited = true;
      await Promise.race([pumps, lost]);
      await Promise.race([this.#clearAway(exit), lost]);
      outcome = { known: true, exit: this.#exitEvent(exit) };
    } catch (cause) {
      const error =
        cause instanceof RecintoError
          ? cause
          : new RecintoError("engine-failed", `the command was lost: ${String(cause)}`, { cause });
      outcome = { known: false, error };
    }
    signal.removeEventListener("abort", onAbort);
    overDisk?.removeEventListener("abort", onOverDisk);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#finish(outcome);
  }

  /** What was to be ended is ended with all that it started. */
  async #clearAway({ left = 0 }: ExecExit): Promise<void> {
    const { control } = this.#input.process;
    if (!this.#killing || left === 0 || !control) return;
    control.signal("KILL", true);
    await control.gone;
  }

  /** A command that waits for its reader is not silent: it is not heard. */
  #watchIdle(): void {
    const { idleTimeoutMs } = this.#input;
    if (idleTimeoutMs === null) return;
    const timer = setTimeout(() => {
      if (this.#channel.full) {
        timer.refresh();
        return;
      }
      this.#idleTimedOut = !this.#exited && !this.#killing;
      this.#kill();
    }, idleTimeoutMs);
    this.#idle = timer;
    this.#timers.push(timer);
  }

  #finish(outcome: Outcome): void {
    let failure: unknown = outcome.known ? null : outcome.error;
    try {
      this.#input.onEnd(outcome);
    } catch (error) {
      failure = error;
    }
    this.#channel.unbound();
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#cut[stream] > 0) this.#truncated(stream);
    }
    if (outcome.known && failure === null) void this.#channel.push(outcome.exit);
    this.#channel.end(failure);
  }

  /** By events and not by iteration, which would copy what waits into one piece. Resolves when the stream is read. */
  #pump(stream: "stdout" | "stderr", source: Readable): Promise<void> {
    return new Promise((resolve, reject) => {
      source.on("data", (chunk: Buffer) => {
        const taken = this.#take(stream, chunk);
        if (!this.#channel.full) return;
        source.pause();
        void taken.then(() => source.resume());
      });
      source.once("error", reject);
      source.once("close", resolve);
      source.once("end", resolve);
    });
  }

  /** Resolves when there is room for more. */
  async #take(stream: "stdout" | "stderr", chunk: Buffer): Promise<void> {
    this.#bytes[stream] += chunk.length;
    this.#input.history.push(stream, chunk);
    this.#idle?.refresh();
    const room = this.#input.outputBytesMax - this.#passed;
    const data = chunk.subarray(0, Math.max(0, room));
    this.#passed += data.length;
    // What is over the limit is read and dropped, so that the command itself comes to its end.
    const cut = chunk.length - data.length;
    const pushed =
      data.length > 0 ? this.#channel.push({ type: stream, data }, data.length) : undefined;
    if (cut > 0) {
      const first = this.#cut[stream] === 0;
      this.#cut[stream] += cut;
      if (first) this.#truncated(stream);
    }
    await pushed;
  }

  #truncated(stream: "stdout" | "stderr"): void {
    void this.#channel.push({ type: "truncated", stream, bytes: this.#cut[stream] });
  }

  async #feed(): Promise<void> {
    const { process, stdin } = this.#input;
    const to = process.stdin;
    if (to === null) return;
    // A command that does not read its input closes it early; that is its right.
    to.on("error", () => undefined);
    if (stdin === "open") return;
    if (stdin instanceof Uint8Array) {
      to.end(stdin);
    } else if (stdin !== undefined) {
      for await (const chunk of stdin) {
        if (this.#exited || to.destroyed) return;
        this.#idle?.refresh();
        if (!to.write(chunk)) await drained(to);
      }
      to.end();
    } else to.end();
  }

  #cancel(): void {
    // Nobody reads any more: what still comes must not wait for a reader.
    this.#channel.unbound();
    if (!this.#exited && !this.#killing) this.#cancelled = true;
    this.#kill();
  }

  /** TERM, after a while KILL, and after another while it counts as lost. */
  #kill(): void {
    if (this.#killing || this.#exited) return;
    this.#killing = true;
    const { process } = this.#input;
    process.kill("TERM").catch(() => undefined);
    this.#after(EXEC_TERM_GRACE_MS, () => {
      process.kill("KILL").catch(() => undefined);
      this.#channel.unbound();
      this.#after(EXEC_LOST_AFTER_MS, () => {
        this.#giveUp(
          new RecintoError("engine-unreachable", "the command was killed, but its end is not seen"),
        );
      });
    });
  }

  #after(ms: number, run: () => void): void {
    this.#timers.push(setTimeout(run, Math.min(ms, 2 ** 31 - 1)));
  }

  #exitEvent({ exitCode, oomKilled, left = 0, folder }: ExecExit): ExitEvent {
    const cwd = this.#input.folderAfter(folder);
    const kept = this.#input.keepsBackground && !this.#killing ? left : 0;
    return {
      type: "exit",
      exec: this.#input.exec,
      exitCode,
      timedOut: this.#timedOut,
      cancelled: this.#cancelled,
      oomKilled,
      ...(this.#diskLimit ? { diskLimit: true } : {}),
      ...(this.#idleTimedOut ? { idleTimedOut: true } : {}),
      ...(cwd === undefined ? {} : { cwd }),
      ...(kept > 0 ? { left: kept } : {}),
      durationMs: this.#input.now() - this.#startedAt,
      stdoutBytes: this.#bytes.stdout,
      stderrBytes: this.#bytes.stderr,
    };
  }
}

function drained(to: NonNullable<ExecProcess["stdin"]>): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      to.off("drain", go).off("close", go);
      resolve();
    };
    to.on("drain", go).on("close", go);
  });
}

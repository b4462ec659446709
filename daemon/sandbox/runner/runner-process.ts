/** One command on one connection to a minder: streams with back-pressure, signals, and how it ended. */
import { isUtf8 } from "node:buffer";
import { type Duplex, Readable, Writable } from "node:stream";
import { getSystemErrorName } from "node:util";
import { RecintoError } from "../../errors.ts";
import type { EndFolder } from "../engine.ts";
import {
  exitCodeOf,
  FOLDER_BYTES_MAX,
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  FROM_RUNNER,
  frame,
  type RunnerSignal,
  resizeFrame,
  SIGNALS,
  STDIN_FRAME_BYTES,
  STDIN_WINDOW_BYTES,
  TO_RUNNER,
  u32,
} from "./frames.ts";

export interface RunnerExit {
  readonly exitCode: number;
  /** Processes of the command that were still there when it ended: background jobs. */
  readonly left: number;
  /** Memory of the sandbox ran out while it ran, and it failed. */
  readonly oomKilled: boolean;
  readonly folder?: EndFolder;
}

export interface RunnerStart {
  /** Process id inside the sandbox. */
  readonly pid: number;
  /** ABI of Landlock that holds the command; 0: none. */
  readonly landlock: number;
  readonly seccomp: boolean;
}

/** Fixed payload lengths, bytes; a failure has an error number and a few words, output anything up to the bound. */
const LENGTHS: ReadonlyMap<number, number> = new Map([
  [FROM_RUNNER.started, 9],
  [FROM_RUNNER.stdinTaken, 4],
  [FROM_RUNNER.exited, 12],
  [FROM_RUNNER.gone, 1],
]);

function isFrame(type: number, size: number): boolean {
  if (type === FROM_RUNNER.stdout || type === FROM_RUNNER.stderr) return size <= FRAME_BYTES_MAX;
  if (type === FROM_RUNNER.folder) return size > 1 && size <= FOLDER_BYTES_MAX;
  if (type === FROM_RUNNER.failed) return size >= 4 && size <= 256;
  return LENGTHS.get(type) === size;
}

function nameOf(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    return `error ${errno}`;
  }
}

/** null: it has a name that is no text. */
function folderOf(payload: Buffer): EndFolder | null {
  const bytes = payload.subarray(1);
  return isUtf8(bytes) ? { path: bytes.toString(), itself: payload[0] === 1 } : null;
}

export class RunnerProcess {
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Rejects with `exec-failed` when the program could not be started. */
  readonly started: Promise<RunnerStart>;
  /** The command itself ended and its output was handed on. Rejects when the sandbox went away meanwhile. */
  readonly exited: Promise<RunnerExit>;
  /** Nothing that it started is left. Resolves too when the sandbox went away. */
  readonly gone: Promise<void>;

  /** What background jobs print after the command itself ended; dropped when nobody listens. */
  onBackgroundOutput: ((stream: "stdout" | "stderr", chunk: Buffer) => void) | null = null;

  readonly #socket: Duplex;
  readonly #free: ((socket: Duplex) => void) | null;
  /** The connection is another command's by now, or nobody's. */
  #over = false;
  #head = Buffer.alloc(0);
  #type = 0;
  #left = 0;
  #small: Buffer[] = [];
  #credit = STDIN_WINDOW_BYTES;
  #waiting: (() => void) | null = null;
  #start!: (start: RunnerStart) => void;
  #startFailed!: (error: Error) => void;
  #exit!: (exit: RunnerExit) => void;
  #exitFailed!: (error: Error) => void;
  #goneNow!: () => void;
  #startSeen = false;
  #exitSeen = false;
  #folder: EndFolder | null = null;

  /** `free` gets the connection back where its minder can serve another command; else it is closed. */
  constructor(socket: Duplex, wantsStdin: boolean, free: ((socket: Duplex) => void) | null = null) {
    this.#socket = socket;
    this.#free = free;
    const resume = () => {
      if (!this.#over) socket.resume();
    };
    this.stdout = new Readable({ read: resume, highWaterMark: STDIN_WINDOW_BYTES });
    this.stderr = new Readable({ read: resume, highWaterMark: STDIN_WINDOW_BYTES });
    this.stdin = wantsStdin ? this.#input() : null;
    this.started = new Promise((resolve, reject) => {
      this.#start = resolve;
      this.#startFailed = reject;
    });
    this.exited = new Promise((resolve, reject) => {
      this.#exit = resolve;
      this.#exitFailed = reject;
    });
    this.gone = new Promise((resolve) => {
      this.#goneNow = resolve;
    });
    // Whoever only looks at `exited` must not crash the daemon through `started`, and the other way round.
    this.started.catch(() => {});
    this.exited.catch(() => {});
    socket.on("error", this.#onError);
    socket.on("data", this.#onData);
    socket.on("close", this.#onClose);
  }

  readonly #onError = (error: Error) => this.#fail(error);
  readonly #onData = (chunk: Buffer) => this.#take(chunk);
  readonly #onClose = () => this.#closed();

  /** To the command's process group, or to everything it started. */
  signal(signal: RunnerSignal, everything: boolean): void {
    const payload = Buffer.concat([u32(SIGNALS[signal]), Buffer.from([everything ? 1 : 0])]);
    if (this.#open) this.#socket.write(frame(TO_RUNNER.signal, payload));
  }

  resize(rows: number, columns: number): void {
    if (this.#open) this.#socket.write(resizeFrame(rows, columns));
  }

  /** Lets go of the connection: the minder kills everything that the command started. */
  abandon(): void {
    if (!this.#over) this.#socket.destroy();
  }

  get #open(): boolean {
    return !this.#over && !this.#socket.destroyed;
  }

  #input(): Writable {
    const send = (chunk: Buffer, at: number, done: (error?: Error) => void): void => {
      const size = Math.min(chunk.length - at, STDIN_FRAME_BYTES, this.#credit);
      if (!this.#open || at === chunk.length) {
        done();
        return;
      }
      if (size === 0) {
        this.#waiting = () => send(chunk, at, done);
        return;
      }
      this.#credit -= size;
      this.#socket.write(frame(TO_RUNNER.stdin, chunk.subarray(at, at + size)), () =>
        send(chunk, at + size, done),
      );
    };
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => send(chunk, 0, done),
      final: (done) => {
        if (this.#open) this.#socket.write(frame(TO_RUNNER.stdinEnd));
        done();
      },
    });
  }

  #take(bytes: Buffer): void {
    let chunk = bytes;
    while (chunk.length > 0) {
      if (this.#left === 0 && this.#type === 0) {
        const missing = FRAME_HEAD_BYTES - this.#head.length;
        this.#head = Buffer.concat([this.#head, chunk.subarray(0, missing)]);
        chunk = chunk.subarray(missing);
        if (this.#head.length < FRAME_HEAD_BYTES) return;
        this.#left = this.#head.readUInt32LE(0);
        this.#type = this.#head[4] as number;
        this.#head = Buffer.alloc(0);
        if (!isFrame(this.#type, this.#left)) {
          this.#broken(`frame of type ${this.#type} with ${this.#left} bytes`);
          return;
        }
      }
      const part = chunk.subarray(0, this.#left);
      chunk = chunk.subarray(part.length);
      this.#left -= part.length;
      this.#part(part);
      if (this.#left === 0) {
        const type = this.#type;
        this.#type = 0;
        const payload = Buffer.concat(this.#small);
        this.#small = [];
        this.#whole(type, payload);
        // It is free for the next command and has nothing to say until then: this belongs to no command.
        if (this.#over && chunk.length > 0) this.#socket.destroy();
        if (this.#over) return;
      }
    }
  }

  /** Output is handed on as it comes; the few small frames are gathered first. */
  #part(part: Buffer): void {
    const name =
      this.#type === FROM_RUNNER.stdout
        ? "stdout"
        : this.#type === FROM_RUNNER.stderr
          ? "stderr"
          : null;
    if (name === null) {
      this.#small.push(part);
    } else if (this.#exitSeen) {
      this.onBackgroundOutput?.(name, part);
    } else if (part.length > 0 && !this[name].push(part)) {
      this.#socket.pause();
    }
  }

  #whole(type: number, payload: Buffer): void {
    switch (type) {
      case FROM_RUNNER.started:
        this.#startSeen = true;
        this.#start({
          pid: payload.readUInt32LE(0),
          landlock: payload.readUInt32LE(4),
          seccomp: payload[8] === 1,
        });
        break;
      case FROM_RUNNER.stdinTaken:
        this.#credit = Math.min(STDIN_WINDOW_BYTES, this.#credit + payload.readUInt32LE(0));
        this.#wake();
        break;
      case FROM_RUNNER.folder:
        this.#folder = folderOf(payload);
        break;
      case FROM_RUNNER.exited:
        // Whoever waits for the start would wait for ever.
        if (!this.#startSeen) {
          this.#broken("an end without a start");
          break;
        }
        this.#endStreams();
        this.#exit({
          exitCode: exitCodeOf(payload.readUInt32LE(0)),
          left: payload.readUInt32LE(4),
          oomKilled: payload.readUInt32LE(8) > 0,
          ...(this.#folder === null ? {} : { folder: this.#folder }),
        });
        break;
      case FROM_RUNNER.failed: {
        const details = { step: payload.subarray(4).toString(), errno: payload.readUInt32LE(0) };
        const message = `the command could not be started: ${details.step}: ${nameOf(details.errno)}`;
        this.#fail(new RecintoError("exec-failed", message, { details }));
        break;
      }
      case FROM_RUNNER.gone:
        this.#gone(payload[0] === 1);
        break;
    }
  }

  #gone(minderIsFree: boolean): void {
    // A minder that says so before its command ended does not keep to the protocol.
    if (!minderIsFree || this.#free === null || !this.#exitSeen) {
      this.#socket.end();
      return;
    }
    this.#over = true;
    this.#socket.off("error", this.#onError).off("data", this.#onData).off("close", this.#onClose);
    this.#wake();
    this.#goneNow();
    // The last of the output may have filled its reader; who has the connection next must hear what comes, and its end.
    this.#socket.resume();
    this.#free(this.#socket);
  }

  #endStreams(): void {
    if (this.#exitSeen) return;
    this.#exitSeen = true;
    this.stdout.push(null);
    this.stderr.push(null);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.();
  }

  /** The runner is not trusted to keep to the format: a frame that breaks it ends this command and nothing else. */
  #broken(what: string): void {
    this.#fail(new RecintoError("engine-failed", `the runner broke its protocol: ${what}`));
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    this.#startFailed(error);
    this.#exitFailed(error);
  }

  #closed(): void {
    if (!this.#exitSeen) {
      const message = "the sandbox went away while the command ran";
      this.#fail(new RecintoError("engine-unreachable", message));
    }
    this.#endStreams();
    this.#wake();
    this.#goneNow();
  }
}

/** The daemon's side of one sandbox's runner: a socket, the minders that wait on it, and commands for them. */
import { timingSafeEqual } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { RecintoError } from "../../errors.ts";
import {
  RUNNER_FRESH_MINDERS_MAX,
  RUNNER_HELLO_TIMEOUT_MS,
  RUNNER_SPARE_MINDERS,
  RUNNER_TRIM_MS,
  RUNNER_UNKNOWN_CONNECTIONS_MAX,
  RUNNER_USED_MINDERS_MAX,
  RUNNER_WAIT_MS,
} from "../../limits.ts";
import {
  FRAME_HEAD_BYTES,
  FROM_RUNNER,
  type RunnerCommand,
  SECRET_BYTES,
  specFrame,
} from "./frames.ts";
import { RunnerProcess } from "./runner-process.ts";

const HELLO_BYTES = FRAME_HEAD_BYTES + SECRET_BYTES + 8;

interface Waiting {
  readonly take: (socket: Socket) => void;
  readonly fail: (error: RecintoError) => void;
}

export class RunnerServer {
  readonly #server: Server;
  #secret: Buffer;
  #landlock = 0;
  /** Minders that never had a command. The runner sees to it that there are some. */
  readonly #fresh: Socket[] = [];
  /** Minders whose command is gone and that take another. */
  readonly #used: Socket[] = [];
  #trimming: NodeJS.Timeout | null = null;
  readonly #waiting: Waiting[] = [];
  readonly #running = new Set<Socket>();
  #unknown = 0;

  private constructor(server: Server, secret: Buffer) {
    this.#server = server;
    this.#secret = secret;
    server.on("connection", (socket) => this.#greet(socket));
  }

  /** `secret` has SECRET_BYTES bytes. The socket's folder must be root's alone: that is what keeps commands away. */
  static async listen(path: string, secret: Buffer): Promise<RunnerServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
    return new RunnerServer(server, secret);
  }

  get idle(): number {
    return this.#fresh.length + this.#used.length;
  }

  /** Best ABI of Landlock where the minders run, as the last of them said. */
  get landlock(): number {
    return this.#landlock;
  }

  /** For a runner that is started anew: minders that wait for the former one are let go, commands go on. */
  renew(secret: Buffer): void {
    this.#secret = secret;
    for (const socket of this.#takeIdle()) socket.destroy();
  }

  /** No minder will come any more: who waits for one is told so. */
  giveUp(error: RecintoError): void {
    for (const waiting of this.#waiting.splice(0)) waiting.fail(error);
  }

  /** Resolves when a command would not have to wait. Errors: `engine-failed` as `run`. */
  async ready(): Promise<void> {
    if (this.idle === 0) this.#ready(await this.#nextMinder(), this.#fresh);
  }

  /** Errors: `engine-failed` when no minder came within RUNNER_WAIT_MS. Failing to start is in `started`. */
  async run(command: RunnerCommand): Promise<RunnerProcess> {
    // The one that worked last: what it needs is in the processor's caches.
    const socket = this.#used.pop() ?? this.#fresh.shift() ?? (await this.#nextMinder());
    socket.removeAllListeners("data");
    socket.removeAllListeners("close");
    this.#running.add(socket);
    socket.once("close", () => this.#running.delete(socket));
    const secret = this.#secret;
    const free = () => {
      socket.removeAllListeners("close");
      this.#running.delete(socket);
      // One of a runner that ended meanwhile is let go: what waits for commands is the new one's.
      const many = this.#used.length >= RUNNER_USED_MINDERS_MAX;
      if (many || secret !== this.#secret || socket.destroyed) socket.end();
      else this.#ready(socket, this.#used);
    };
    const process = new RunnerProcess(socket, command.stdin, free);
    socket.write(specFrame(command));
    return process;
  }

  /** Ends the connections: minders kill what they mind when theirs closes. */
  async close(): Promise<void> {
    if (this.#trimming !== null) clearTimeout(this.#trimming);
    this.giveUp(new RecintoError("engine-failed", "the sandbox was stopped"));
    for (const socket of [...this.#takeIdle(), ...this.#running]) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #nextMinder(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        take: (socket) => {
          clearTimeout(timer);
          resolve(socket);
        },
        fail: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        const message = `the sandbox's runner did not answer within ${RUNNER_WAIT_MS} ms`;
        reject(new RecintoError("engine-failed", message));
      }, RUNNER_WAIT_MS);
      this.#waiting.push(waiting);
    });
  }

  /** A connection is nobody's until it has shown the secret; only so many may be at that point. */
  #greet(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    if (this.#unknown >= RUNNER_UNKNOWN_CONNECTIONS_MAX) {
      socket.destroy();
      return;
    }
    this.#unknown += 1;
    let hello = Buffer.alloc(0);
    const timer = setTimeout(() => socket.destroy(), RUNNER_HELLO_TIMEOUT_MS);
    const known = () => {
      clearTimeout(timer);
      this.#unknown -= 1;
      socket.removeAllListeners("data");
      socket.removeAllListeners("close");
    };
    socket.on("close", known);
    socket.on("data", (chunk: Buffer) => {
      hello = Buffer.concat([hello, chunk]);
      if (hello.length < HELLO_BYTES) return;
      known();
      if (!this.#isRunner(hello) || this.#fresh.length >= RUNNER_FRESH_MINDERS_MAX) {
        socket.destroy();
        return;
      }
      this.#landlock = hello.readUInt32LE(HELLO_BYTES - 4);
      this.#ready(socket, this.#fresh);
    });
  }

  #isRunner(hello: Buffer): boolean {
    return (
      hello.length === HELLO_BYTES &&
      hello[4] === FROM_RUNNER.hello &&
      timingSafeEqual(
        hello.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + SECRET_BYTES),
        this.#secret,
      )
    );
  }

  #ready(socket: Socket, idle: Socket[]): void {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      waiting.take(socket);
      return;
    }
    idle.push(socket);
    const leave = () => {
      const index = idle.indexOf(socket);
      if (index >= 0) idle.splice(index, 1);
    };
    socket.on("close", leave);
    // An idle minder has nothing to say.
    socket.on("data", () => socket.destroy());
    if (this.#used.length > RUNNER_SPARE_MINDERS) this.#trimLater();
  }

  /** After many commands at once: what is left over is let go once they do not come again soon. */
  #trimLater(): void {
    this.#trimming ??= setTimeout(() => {
      this.#trimming = null;
      for (const socket of this.#used.splice(0, this.#used.length - RUNNER_SPARE_MINDERS)) {
        socket.end();
      }
    }, RUNNER_TRIM_MS).unref();
  }

  #takeIdle(): readonly Socket[] {
    return [...this.#fresh.splice(0), ...this.#used.splice(0)];
  }
}

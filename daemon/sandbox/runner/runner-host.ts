/** The runner of one running sandbox: starts it by one docker exec, keeps it there, and gives it commands. */
import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { RecintoError } from "../../errors.ts";
import { RUNNER_SPARE_MINDERS, RUNNER_STDERR_CHARS_MAX } from "../../limits.ts";
import type { Engine, ExecProcess, ExecSpec } from "../engine.ts";
import type { Executor } from "../executor.ts";
import { RUNNER_SOCKET_DIR } from "../spec.ts";
import { SECRET_BYTES } from "./frames.ts";
import { minded, runnerCommand } from "./minded.ts";
import { AS_RUNNER, RUNNER_PROGRAM } from "./once.ts";
import { RunnerServer } from "./runner-server.ts";

/** Name of the socket in its folder. */
const SOCKET = "s";

export class RunnerHost implements Executor {
  readonly kind = "runner";
  readonly reason = "the runner answered";
  readonly #engine: Engine;
  readonly #sandbox: string;
  readonly #server: RunnerServer;
  /** The exec that holds the runner; null: it ended, and the next command starts another. */
  #process: ExecProcess | null = null;
  #starting: Promise<void> | null = null;
  #closed = false;

  private constructor(engine: Engine, sandbox: string, server: RunnerServer) {
    this.#engine = engine;
    this.#sandbox = sandbox;
    this.#server = server;
  }

  /**
   * `folder` is what the sandbox has as RUNNER_SOCKET_DIR: root's alone, since that keeps commands away from the socket.
   * Resolves when a command can run at once. Errors: engine-failed with what the runner said, engine-unreachable.
   */
  static async start(engine: Engine, sandbox: string, folder: string): Promise<RunnerHost> {
    const path = join(folder, SOCKET);
    await rm(path, { force: true });
    const server = await RunnerServer.listen(path, randomBytes(SECRET_BYTES));
    const host = new RunnerHost(engine, sandbox, server);
    try {
      await host.#running();
      return host;
    } catch (error) {
      await host.close();
      throw error;
    }
  }

  get alive(): boolean {
    return this.#process !== null;
  }

  get landlock(): number {
    return this.#server.landlock;
  }

  async exec(spec: ExecSpec): Promise<ExecProcess> {
    await this.#running();
    return minded(await this.#server.run(runnerCommand(spec)), spec);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#process?.stdin?.destroy();
    this.#process = null;
    await this.#server.close();
  }

  async #running(): Promise<void> {
    if (this.#process !== null) return;
    if (this.#closed) throw new RecintoError("engine-failed", "the sandbox was stopped");
    this.#starting ??= this.#launch().finally(() => {
      this.#starting = null;
    });
    await this.#starting;
  }

  /** A new secret for each start: who saw an old one knows nothing. */
  async #launch(): Promise<void> {
    const secret = randomBytes(SECRET_BYTES);
    this.#server.renew(secret);
    const argv = [
      RUNNER_PROGRAM,
      "--socket",
      `${RUNNER_SOCKET_DIR}/${SOCKET}`,
      String(RUNNER_SPARE_MINDERS),
    ];
    const process = await this.#engine.exec(this.#sandbox, { ...AS_RUNNER, argv, stdin: true });
    let said = "";
    process.stderr.on("data", (chunk) => {
      said = `${said}${chunk}`.slice(-RUNNER_STDERR_CHARS_MAX);
    });
    process.stdout.resume();
    process.stdin?.on("error", () => {});
    process.stdin?.write(secret);
    const ended = process.exited.then(
      ({ exitCode }) => {
        this.#ended(process);
        const message = `the sandbox's runner ended with ${exitCode}: ${said.trim()}`;
        throw new RecintoError("engine-failed", message);
      },
      (error: unknown) => {
        this.#ended(process);
        throw error;
      },
    );
    ended.catch(() => {});
    this.#process = process;
    await Promise.race([this.#server.ready(), ended]);
  }

  #ended(process: ExecProcess): void {
    if (this.#process !== process) return;
    this.#process = null;
    const message = "the sandbox's runner ended before it took the command";
    this.#server.giveUp(new RecintoError("engine-failed", message));
  }
}

/** Makes the folder of a sandbox's socket; it must be there before the sandbox is. */
export async function makeSocketFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

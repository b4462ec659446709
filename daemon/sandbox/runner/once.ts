/** The runner's program with one docker exec for each command: slower than its socket, the same minder and confinement. */
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { RecintoError } from "../../errors.ts";
import type { Engine, ExecProcess, ExecSpec } from "../engine.ts";
import type { Executor } from "../executor.ts";
import { RUNNER_PROGRAM_DIR } from "../spec.ts";
import { specFrame } from "./frames.ts";
import { minded, runnerCommand } from "./minded.ts";
import { RunnerProcess } from "./runner-process.ts";

export const RUNNER_PROGRAM = `${RUNNER_PROGRAM_DIR}/recinto-runner`;
/** How the program itself is started: by the sandbox's root, in no folder that anybody owns, with an environment of nothing. */
export const AS_RUNNER = { cwd: "/", env: {}, user: { uid: 0, gid: 0 } } as const;
/** As nobody, in no folder that anybody owns. */
const TRIAL = { cwd: "/", env: {}, user: { uid: 65534, gid: 65534 }, stdin: false } as const;

export class OnceExecutor implements Executor {
  readonly kind = "once";
  readonly alive = true;
  readonly reason: string;
  readonly landlock: number;
  readonly #engine: Engine;
  readonly #sandbox: string;

  private constructor(engine: Engine, sandbox: string, landlock: number, reason: string) {
    this.#engine = engine;
    this.#sandbox = sandbox;
    this.landlock = landlock;
    this.reason = reason;
  }

  /**
   * Runs the program, and by it itself as a command, which every image has: another kernel may lack a call that it needs.
   * Errors: engine-failed, engine-unreachable, exec-failed.
   */
  static async start(engine: Engine, sandbox: string, reason: string): Promise<OnceExecutor> {
    const argv = [RUNNER_PROGRAM, "--abi"];
    const process = await engine.exec(sandbox, { ...AS_RUNNER, argv, stdin: false });
    process.stderr.resume();
    const said = await text(process.stdout);
    const { exitCode } = await process.exited;
    if (exitCode !== 0 || !/^\d+\n$/.test(said)) {
      throw new RecintoError("engine-failed", `the runner's program ended with ${exitCode}`);
    }
    const made = new OnceExecutor(engine, sandbox, Number(said), reason || "the profile says so");
    const trial = await made.exec({ ...TRIAL, argv });
    trial.stdout.resume();
    trial.stderr.resume();
    await trial.exited;
    return made;
  }

  async exec(spec: ExecSpec): Promise<ExecProcess> {
    const argv = [RUNNER_PROGRAM, "--once"];
    const outer = await this.#engine.exec(this.#sandbox, { ...AS_RUNNER, argv, stdin: true });
    outer.stderr.resume();
    const channel = new ExecChannel(outer);
    const child = new RunnerProcess(channel, spec.stdin);
    channel.write(specFrame(runnerCommand(spec)));
    return minded(child, spec);
  }

  async close(): Promise<void> {}
}

/** The two streams of an exec as one connection. Destroying it closes the exec's input, which ends the minder. */
class ExecChannel extends Duplex {
  readonly #process: ExecProcess;

  constructor(process: ExecProcess) {
    // Nobody is there to read its input once its output has ended.
    super({ allowHalfOpen: false });
    this.#process = process;
    process.stdout.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) process.stdout.pause();
    });
    process.stdout.on("end", () => this.push(null));
    process.stdin?.on("error", (error) => this.destroy(error));
    process.exited.catch((error: Error) => this.destroy(error));
  }

  override _read(): void {
    this.#process.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#process.stdin?.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#process.stdin?.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#process.stdin?.destroy();
    done(error);
  }
}

/** A runner of this tree, started as root on this machine without a container, and the daemon's side of its socket. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunnerCommand } from "../../daemon/sandbox/runner/frames.ts";
import { RunnerServer } from "../../daemon/sandbox/runner/runner-server.ts";

export const NOBODY = { uid: 65_534, gid: 65_534 };

export const command = (argv: string[], more: Partial<RunnerCommand> = {}): RunnerCommand => ({
  argv,
  env: { PATH: "/usr/bin:/bin" },
  cwd: "/",
  user: NOBODY,
  stdin: false,
  tty: null,
  confinement: null,
  openFiles: 1024,
  fileBytes: null,
  ...more,
});

export class StartedRunner {
  /** Others may go through it, and not into the socket's folder. */
  readonly folder = mkdtempSync(join(tmpdir(), "recinto-runner-"));
  readonly binary = join(this.folder, "recinto-runner");
  readonly socket = join(this.folder, "socket", "s");
  readonly secret = randomBytes(32);
  server!: RunnerServer;
  #process!: ChildProcess;

  static async start(): Promise<StartedRunner> {
    const started = new StartedRunner();
    const { folder, binary, socket, secret } = started;
    chmodSync(folder, 0o711);
    execFileSync("./scripts/build-runner", [binary]);
    mkdirSync(join(folder, "socket"), { mode: 0o700 });
    started.server = await RunnerServer.listen(socket, secret);
    started.#process = started.spawn(socket, 4);
    return started;
  }

  /** A process of it that keeps as many minders ready; it ends with its input. */
  spawn(socket: string, minders: number): ChildProcess {
    const child = spawn(this.binary, ["--socket", socket, String(minders)], {
      stdio: ["pipe", "inherit", "inherit"],
    });
    child.stdin?.write(this.secret);
    return child;
  }

  async end(): Promise<void> {
    this.#process.stdin?.end();
    await this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

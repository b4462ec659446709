/** One command by docker exec: raw streams with back-pressure, exit, and the end of everything it started. */
import type { Socket } from "node:net";
import { Readable, type Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type Dockerode from "dockerode";
import { RecintoError } from "../../errors.ts";
import { EXEC_BUFFER_BYTES, EXEC_POLL_MAX_MS } from "../../limits.ts";
import type { ExecExit, ExecProcess } from "../engine.ts";
import { engineError, statusOf } from "./errors.ts";
import { FrameReader } from "./frames.ts";

/** Bytes of the first output kept in case the command never started: the engine says why in there. */
const REASON_BYTES = 1_024;

export interface DockerExecParts {
  readonly exec: Dockerode.Exec;
  /** The upgraded connection: stdin goes in raw, stdout and stderr come out framed. */
  readonly socket: Socket;
  readonly stdin: boolean;
  readonly socketPath: string;
  readonly oomKilled: (exitCode: number) => Promise<boolean>;
  readonly kill: ExecProcess["kill"];
}

/**
 * Both streams come over one connection: a reader that takes stdout but never stderr stops both once
 * EXEC_BUFFER_BYTES of stderr wait. Nothing is lost, nothing piles up.
 */
export function dockerExecProcess(parts: DockerExecParts): ExecProcess {
  const { socket } = parts;
  const resume = () => socket.resume();
  const stdout = new Readable({ highWaterMark: EXEC_BUFFER_BYTES, read: resume });
  const stderr = new Readable({ highWaterMark: EXEC_BUFFER_BYTES, read: resume });
  const firstOutput: Buffer[] = [];
  let firstBytes = 0;
  let broken: unknown = null;

  const frames = new FrameReader((stream, payload) => {
    if (firstBytes < REASON_BYTES) {
      firstOutput.push(payload);
      firstBytes += payload.length;
    }
    const target = stream === "stdout" ? stdout : stderr;
    if (!target.destroyed && !target.push(payload)) socket.pause();
  });
  socket.on("data", (chunk: Buffer) => {
    try {
      frames.push(chunk);
    } catch (error) {
      broken ??= error;
      socket.destroy();
    }
  });
  const closed = new Promise<void>((resolve) => {
    socket.on("error", (error) => {
      broken ??= error;
    });
    socket.on("close", () => {
      stdout.push(null);
      stderr.push(null);
      resolve();
    });
  });

  async function exit(): Promise<ExecExit> {
    await closed;
    if (broken instanceof RecintoError) throw broken;
    const { ExitCode: exitCode, Pid: pid } = await gone(parts);
    if (pid === 0) {
      const reason = Buffer.concat(firstOutput).toString().trim();
      throw new RecintoError("engine-failed", `the command could not be started: ${reason}`);
    }
    const oomKilled = exitCode !== null && exitCode !== 0 && (await parts.oomKilled(exitCode));
    return { exitCode, oomKilled };
  }
  const exited = exit();
  // Who only reads the output need not handle it too.
  exited.catch(() => {});
  return {
    stdin: parts.stdin ? (socket as Writable) : null,
    stdout,
    stderr,
    exited,
    kill: parts.kill,
  };
}

/** Output can end before the command does: it may have closed its descriptors. */
async function gone({ exec, socketPath }: DockerExecParts): Promise<Dockerode.ExecInspectInfo> {
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, EXEC_POLL_MAX_MS)) {
    try {
      const info = await exec.inspect();
      if (!info.Running) return info;
    } catch (error) {
      if (statusOf(error) === 404) {
        throw new RecintoError(
          "engine-unreachable",
          "the engine was restarted, or the sandbox removed, while the command ran",
          { cause: error },
        );
      }
      throw engineError(error, "tell how the command ended", socketPath);
    }
    await sleep(pauseMs);
  }
}

/** What Recinto needs of a container engine, in words that no engine owns: Docker today, others behind the same calls. */
import type { Readable, Writable } from "node:stream";
import type { Confinement, RunnerSignal } from "./runner/frames.ts";

export interface EngineInfo {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
}

export interface ImageInfo {
  /** Content id or digest: what a sandbox is pinned to. */
  readonly id: string;
  readonly createdAt: string;
  readonly sizeBytes: number;
}

/** One bind mount. Source paths are the daemon host's. */
export interface SandboxMount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** A tmpfs of the sandbox; sizes in bytes. */
export interface SandboxTmpfs {
  readonly target: string;
  readonly sizeBytes: number;
  readonly exec: boolean;
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** Everything a sandbox is made from; made by the pure `spec.ts`, turned into engine JSON by the engine. */
export interface SandboxSpec {
  readonly name: string;
  /** Image content id, never a moving tag. */
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: { readonly uid: number; readonly gid: number };
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly hostname: string;
  readonly mounts: readonly SandboxMount[];
  readonly tmpfs: readonly SandboxTmpfs[];
  readonly limits: {
    readonly memoryBytes: number;
    readonly cpus: number;
    readonly pids: number;
    readonly openFiles: number;
    readonly shmBytes: number;
    readonly fileBytes: number | null;
  };
  readonly runtime: string;
  /**
   * The sandbox holds Recinto's own runner: its root keeps SETUID, SETGID and KILL, which no command gets. Without it
   * nobody in there has any right.
   */
  readonly runner: boolean;
}

export type SandboxState = "created" | "running" | "paused" | "stopped";

export interface SandboxStatus {
  readonly id: string;
  readonly name: string;
  readonly state: SandboxState;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: string;
}

export interface ExecSpec {
  /** The program and its words, exactly; no shell in between. */
  readonly argv: readonly string[];
  /**
   * Words that come to the same as `argv` without its shell. Tried first where the executor can; where that is not plainly
   * possible, `argv` runs.
   */
  readonly direct?: readonly string[];
  readonly cwd: string;
  /** The whole environment of the command; nothing is inherited but what the engine forces. */
  readonly env: Readonly<Record<string, string>>;
  readonly user: { readonly uid: number; readonly gid: number };
  /** False: the command reads end of file at once. */
  readonly stdin: boolean;
  /** What the kernel holds it to, where the executor can; see confinement.ts. null: the sandbox alone. */
  readonly confinement?: Confinement | null;
  readonly tty?: { readonly rows: number; readonly columns: number } | null;
  /**
   * What it leaves running stays, and its output goes here. It ends with `control.signal("KILL", true)`, with the
   * sandbox, or by itself. Absent: it is killed when the command has ended. Only the runner can do it.
   */
  readonly background?: BackgroundOutput | null;
}

export type BackgroundOutput = (stream: "stdout" | "stderr", chunk: Buffer) => void;

export interface ExecExit {
  readonly exitCode: number | null;
  readonly oomKilled: boolean;
  /** Processes that were there when it ended; known only under the runner. Killed by then unless they are kept. */
  readonly left?: number;
  /** Where its first process was when it ended; known only under the runner's program. Commands choose it. */
  readonly folder?: EndFolder;
}

export interface EndFolder {
  /** Absolute, as the sandbox sees it, without a link on the way. */
  readonly path: string;
  /** The program that was started is the one that ended; else it had given its place to another, which may have moved. */
  readonly itself: boolean;
}

/** A running command. Streams carry raw bytes and end when the command's do. */
export interface ExecProcess {
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when it is gone and its output was read. Rejects with `engine-unreachable` when that cannot be known. */
  readonly exited: Promise<ExecExit>;
  /** Sends the signal to everything this command started that is still there. */
  kill(signal: "TERM" | "KILL" | "INT"): Promise<void>;
  /** What only the runner can do; null elsewhere. */
  readonly control?: ExecControl | null;
}

export interface ExecControl {
  /** Id of its first process as the sandbox numbers it. */
  readonly pid: number;
  /** To the command's process group, or to everything it started. */
  signal(signal: RunnerSignal, everything: boolean): void;
  resize(rows: number, columns: number): void;
  /** Resolves when nothing that it started is left. */
  readonly gone: Promise<void>;
}

/** What differs between engines. All calls throw RecintoError (`engine-unreachable`, `engine-failed`, `image-missing`, `runtime-missing`). */
export interface Engine {
  info(): Promise<EngineInfo>;
  /** A local image by name, tag or id; null when there is none. */
  image(ref: string): Promise<ImageInfo | null>;
  create(spec: SandboxSpec): Promise<string>;
  start(id: string): Promise<void>;
  stop(id: string, graceMs: number): Promise<void>;
  remove(id: string): Promise<void>;
  /** null: no such sandbox. */
  status(id: string): Promise<SandboxStatus | null>;
  list(labels: Readonly<Record<string, string>>): Promise<readonly SandboxStatus[]>;
  exec(id: string, spec: ExecSpec): Promise<ExecProcess>;
  /** `DEVICE:INODE` of each folder as a running sandbox sees it: what is really mounted there. */
  identify(id: string, paths: readonly string[]): Promise<readonly string[]>;
}

/** Where images come from and go to; `Engine.image` looks one up. */
export interface ImageStore {
  image(ref: string): Promise<ImageInfo | null>;
  /** A root file system as a tar; `changes` are lines such as `ENV A=b` or `LABEL a=b`. Throws `image-build-failed`. */
  importImage(
    tar: Readable,
    target: { readonly repository: string; readonly tag: string },
    changes: readonly string[],
    onProgress: (line: string) => void,
  ): Promise<void>;
  /** A folder with a Dockerfile as a tar. Throws `image-build-failed`. */
  buildImage(
    context: Readable,
    target: { readonly repository: string; readonly tag: string },
    labels: Readonly<Record<string, string>>,
    onProgress: (line: string) => void,
  ): Promise<void>;
}

/** An image that was built from a recipe, by the name that it has. */
export interface OwnImage {
  readonly ref: string;
  readonly sizeBytes: number;
}

/** Images of recipes, to look through and to clear. */
export interface ImageShelf {
  /** Built from the recipe NAME at any time. */
  ownImages(name: string): Promise<readonly OwnImage[]>;
  /** False: something still uses it. */
  removeImage(ref: string): Promise<boolean>;
}

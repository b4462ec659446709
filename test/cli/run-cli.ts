/** Runs the command line as a program of its own, as people and agents do. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../../daemon/cli.ts", import.meta.url));
const SHELL = fileURLToPath(new URL("../../daemon/shell.ts", import.meta.url));
const TSX = import.meta.resolve("tsx");

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly input?: string | Buffer;
  /** Leave standard input open, as many programs do with what they start. */
  readonly openStdin?: boolean;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly onStarted?: (child: ChildProcess) => void;
}

/** The commands that run the CLI and the shell, for tests that start them through something else. */
export const CLI_WORDS: readonly string[] = [process.execPath, "--import", TSX, CLI];
export const SHELL_WORDS: readonly string[] = [process.execPath, "--import", TSX, SHELL];

export function cli(words: readonly string[], options: CliOptions = {}): Promise<Ran> {
  return runProgram([...CLI_WORDS, ...words], options);
}

/** `recinto-sh`. */
export function shell(words: readonly string[], options: CliOptions = {}): Promise<Ran> {
  return runProgram([...SHELL_WORDS, ...words], options);
}

export function runProgram(words: readonly string[], options: CliOptions = {}): Promise<Ran> {
  const [program = "", ...rest] = words;
  const child = spawn(program, rest, {
    cwd: options.cwd ?? "/",
    env: { ...process.env, RECINTO_RUN_DIR: "", ...options.env },
    stdio: [options.input === undefined && !options.openStdin ? "ignore" : "pipe", "pipe", "pipe"],
  });
  options.onStarted?.(child);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on("data", (chunk) => out.push(chunk));
  child.stderr?.on("data", (chunk) => err.push(chunk));
  child.stdin?.on("error", () => {});
  if (options.input !== undefined) child.stdin?.end(options.input);
  return new Promise((resolve) => {
    child.once("close", (code) =>
      resolve({
        code,
        out: Buffer.concat(out).toString(),
        err: Buffer.concat(err).toString(),
      }),
    );
  });
}

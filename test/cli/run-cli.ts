/** Runs the command line as a program of its own, as people and agents do. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../../daemon/cli.ts", import.meta.url));
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

/** The command that runs the CLI, for tests that start it through something else. */
export const CLI_WORDS: readonly string[] = [process.execPath, "--import", TSX, CLI];

export function cli(words: readonly string[], options: CliOptions = {}): Promise<Ran> {
  const [program = "", ...rest] = CLI_WORDS;
  const child = spawn(program, [...rest, ...words], {
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

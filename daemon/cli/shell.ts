/** The drop-in shell behind `recinto-sh`: finds the code, the worktree and the daemon, and runs the code there. */
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RecintoError } from "../errors.ts";
import { COMMAND_CHARS_MAX } from "../limits.ts";
import { DEFAULT_RUN_DIR } from "./context.ts";
import { runInSandbox } from "./run-session.ts";
import { commandLine, parseShellWords, type ShellCall } from "./shell-words.ts";

/** As a shell says it: not found, there but nothing that it can run, called in a way that it does not know. */
const EXIT_NOT_FOUND = 127;
const EXIT_NOT_RUN = 126;
const EXIT_USAGE = 2;

type Coded = Exclude<ShellCall, { kind: "help" | "version" | "wrong" }>;

/** What the shell stands in: its variables and its folder. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Resolves with the exit code. Errors: those of the API. */
export async function runShell(words: readonly string[], around: Surroundings): Promise<number> {
  const call = parseShellWords(words);
  switch (call.kind) {
    case "wrong":
      say(call.message);
      process.stderr.write(USAGE);
      return EXIT_USAGE;
    case "help":
      process.stdout.write(HELP);
      return 0;
    case "version":
      process.stdout.write(`recinto-sh, version ${version()}: each command by bash in a sandbox\n`);
      return 0;
    default:
      return runCode(call, around);
  }
}

async function runCode(call: Coded, { env, cwd }: Surroundings): Promise<number> {
  if (call.kind === "stdin" && call.args.length === 0 && process.stdin.isTTY) {
    const { readLines } = await import("./shell-lines.ts");
    return readLines({ ...(await placeOf(env, cwd)), cwd });
  }
  const code = await codeOf(call);
  if (typeof code === "number") return code;
  // Nothing to run is no reason to ask anybody.
  if (/^\s*$/.test(code)) return 0;
  const name = call.kind === "code" ? call.name : call.kind === "file" ? call.file : null;
  const plain = call.options.length + call.args.length === 0 && name === null;
  const quote = plain ? null : (await import("shell-quote")).default.quote;
  const { socketPath, worktree } = await placeOf(env, cwd);
  return runInSandbox({
    socketPath,
    waitForStart: false,
    worktree,
    request: {
      command: quote === null ? code : commandLine(call, code, name, quote),
      cwd,
      ...passedOn(env),
    },
    json: false,
    // A script on standard input has been read to its end.
    stdin: call.kind === "stdin" ? false : "auto",
    quiet: true,
  });
}

/** The socket of the project, and the worktree: both as `recinto agent` says them, else the worktree around `cwd`. */
async function placeOf(env: Surroundings["env"], cwd: string) {
  const project = env.RECINTO_PROJECT || undefined;
  const socket = env.RECINTO_SOCKET || undefined;
  if (project === undefined && socket === undefined) {
    throw new RecintoError("bad-usage", "RECINTO_PROJECT is not set: whose sandbox is meant?", {
      hint: "set it to the project's id; recinto agent does that for what it starts",
    });
  }
  const runDir = env.RECINTO_RUN_DIR || DEFAULT_RUN_DIR;
  const socketPath = socket ?? join(runDir, "projects", `${project}`, "agent.sock");
  const worktree = env.RECINTO_WORKTREE || cwd;
  if (process.getuid?.() === 0) {
    const asUser = await import("./as-user.ts");
    asUser.become(asUser.ownerOf(worktree.startsWith("/") ? worktree : cwd));
  }
  return { socketPath, worktree };
}

/** The variables named in RECINTO_SH_ENV. They become a line of what is judged, so that none goes by itself. */
function passedOn(env: Surroundings["env"]): { env?: Record<string, string> } {
  const names = (env.RECINTO_SH_ENV ?? "").split(/[\s,]+/).filter((name) => name !== "");
  const passed = names.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return passed.length === 0 ? {} : { env: Object.fromEntries(passed) };
}

/** The code, or the exit code where there is none to run. */
async function codeOf(call: Coded): Promise<string | number> {
  if (call.kind === "code") return call.code;
  if (call.kind === "stdin") return textOf("standard input", await readInput());
  let bytes: Buffer;
  try {
    bytes = readFileSync(call.file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      say(`${call.file}: No such file or directory`);
      return EXIT_NOT_FOUND;
    }
    say(`${call.file}: ${code === "EISDIR" ? "Is a directory" : "Permission denied"}`);
    return EXIT_NOT_RUN;
  }
  return textOf(call.file, bytes);
}

function textOf(what: string, bytes: Buffer): string | number {
  const wrong = bytes.includes(0)
    ? "cannot execute binary file"
    : !isUtf8(bytes)
      ? "is not UTF-8, and only what can be read can be judged"
      : bytes.length > COMMAND_CHARS_MAX
        ? `is longer than the ${COMMAND_CHARS_MAX} characters that are judged: run it by name in the worktree (bash FILE)`
        : null;
  if (wrong === null) return bytes.toString("utf8");
  say(`${what}: ${wrong}`);
  return EXIT_NOT_RUN;
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > COMMAND_CHARS_MAX) break;
  }
  return Buffer.concat(chunks);
}

function say(text: string): void {
  process.stderr.write(`recinto-sh: ${text}\n`);
}

function version(): string {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;
}

const USAGE = `usage: recinto-sh [options] [-c CODE [NAME [ARG…]] | FILE [ARG…]]   (recinto-sh --help)
`;

const HELP = `recinto-sh: a shell whose every command is judged by the policy and runs in its worktree's sandbox

  recinto-sh -c 'CODE' [NAME [ARG…]]     also -lc, -l -c, -ic, --norc, --noprofile
  recinto-sh FILE [ARG…]                 the file's text is what is judged and run
  recinto-sh [-s [ARG…]] < SCRIPT        read to its end, then judged and run
  recinto-sh                             on a terminal: each line is a command, the folder is kept

Options that change how code runs (-aefmuvxCET, -o errexit … -o pipefail) hold inside; others are refused, exit code 2.
Exit codes: the code's own; 128+N after signal N; 126 what was refused or could not be run, with the reason on stderr.

RECINTO_PROJECT (or RECINTO_SOCKET) says whose sandbox, RECINTO_WORKTREE which worktree: the one around the working
directory when it is not set. recinto agent sets all three. The working directory is passed on; of the variables only
those that RECINTO_SH_ENV names (NAME,NAME): they are judged with the code.
`;

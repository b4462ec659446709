/** What was judged is what runs: the exact words and environment of a command in a sandbox. */
import { RecintoError } from "../errors.ts";
import { COMMAND_BYTES_MAX } from "../limits.ts";

/**
 * The words that run a judged command line: always bash, which is what the policy reads, and without its start-up files.
 * Throws `bad-request` where the kernel could not take the text as it is.
 */
export function commandArgv(command: string): readonly string[] {
  if (command.includes("\0")) {
    throw new RecintoError("bad-request", "the command has a NUL character");
  }
  const bytes = Buffer.byteLength(command);
  if (bytes > COMMAND_BYTES_MAX) {
    throw new RecintoError(
      "bad-request",
      `the command has ${bytes} bytes; the kernel takes ${COMMAND_BYTES_MAX} in one word`,
      { hint: "write it to a script in the worktree, or send its data on standard input" },
    );
  }
  return ["/bin/bash", "--norc", "--noprofile", "-c", command];
}

/**
 * Variables that make a program run, load or read something else than the text that was judged. They are refused in
 * requests and profiles, and an image's own values of the first group are cleared.
 */
const START_UP = [
  "BASH_ENV",
  "BASHOPTS",
  "CDPATH",
  "ENV",
  "EXECIGNORE",
  "GLOBIGNORE",
  "IFS",
  "LD_AUDIT",
  "LD_LIBRARY_PATH",
  "LD_PRELOAD",
  "POSIXLY_CORRECT",
  "PROMPT_COMMAND",
  "PS4",
  "SHELLOPTS",
] as const;

const REFUSED_NAMES: ReadonlySet<string> = new Set([
  ...START_UP,
  "BROWSER",
  "CLASSPATH",
  "EDITOR",
  "GCONV_PATH",
  "GLIBC_TUNABLES",
  "GNUMAKEFLAGS",
  "GREP_OPTIONS",
  "HOME",
  "INPUTRC",
  "JAVA_TOOL_OPTIONS",
  "JDK_JAVA_OPTIONS",
  "LESS",
  "LOCPATH",
  "MAKEFILES",
  "MAKEFLAGS",
  "NLSPATH",
  "NODE_OPTIONS",
  "NODE_PATH",
  "PATH",
  "PIP_CONFIG_FILE",
  "RIPGREP_CONFIG_PATH",
  "RSYNC_RSH",
  "RUSTC",
  "RUSTDOC",
  "SHELL",
  "SUDO_ASKPASS",
  "TAR_OPTIONS",
  "VISUAL",
  "_JAVA_OPTIONS",
]);

const REFUSED_PATTERN =
  /^(?:BASH_|LD_|GIT_|SSH_|XDG_|AWK|GAWK_|LESS(?:OPEN|CLOSE|KEY|EDIT)|PERL5?|RUBY(?:OPT|LIB)|RUSTC_|CARGO_|RECINTO_|PYTHON(?:PATH|HOME|STARTUP|INSPECT|USERBASE|PLATLIBDIR|BREAKPOINT|WARNINGS|EXECUTABLE)|npm_)|PAGER$/i;

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why a request or a profile must not set this variable, or null when it may. */
export function refusedEnvName(name: string): string | null {
  if (!ENV_NAME.test(name)) return "it is not a variable name";
  if (REFUSED_NAMES.has(name) || REFUSED_PATTERN.test(name)) {
    return "it changes what a judged command runs, or the sandbox sets it";
  }
  return null;
}

/** Variables that an image must not bring along, whatever it says. */
export const CLEARED_ENV: readonly string[] = START_UP;

/**
 * The environment of one command: the sandbox's own, then what the request adds. Throws `bad-request` for a name that
 * is refused or a value with NUL.
 */
export function commandEnv(
  pinned: Readonly<Record<string, string>>,
  requested: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const added = Object.entries(requested);
  // The same object for the same variables: it is encoded once for all commands.
  if (added.length === 0) return pinned;
  for (const [name, value] of added) {
    const why = refusedEnvName(name);
    if (why !== null) {
      throw new RecintoError("bad-request", `variable ${JSON.stringify(name)} refused: ${why}`, {
        hint: "write it into the command, where the policy sees it: NAME=value program …",
      });
    }
    if (value.includes("\0")) {
      throw new RecintoError("bad-request", `variable ${name} has a NUL character`);
    }
  }
  return { ...pinned, ...requested };
}

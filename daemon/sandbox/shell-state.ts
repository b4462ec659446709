/** What a named shell of a session remembers: how its exported variables leave a command, and which of them are kept. */
import { isUtf8 } from "node:buffer";
import { EXEC_ENV_VALUE_CHARS_MAX, SHELL_STATE_BYTES_MAX, SHELL_VARIABLES_MAX } from "../limits.ts";
import { refusedEnvName } from "./command.ts";
import { RUNNER_PROGRAM_DIR } from "./spec.ts";

export const SHELL_STATE_FILE = "shell-state.bash";

/**
 * Bash reads it before the command's text, which stays as it was judged. An EXIT trap of the command's own, or an `exec`,
 * takes its place: then nothing new is remembered.
 */
export const SHELL_STATE_SCRIPT = `unset BASH_ENV
trap "{ /usr/bin/env -0 >|'$RECINTO_STATE'; } 2>/dev/null || :" EXIT
unset RECINTO_STATE
`;

/** The variables of a command whose state goes to `path`, in the sandbox's scratch. */
export function shellStateEnv(path: string): Readonly<Record<string, string>> {
  return { BASH_ENV: `${RUNNER_PROGRAM_DIR}/${SHELL_STATE_FILE}`, RECINTO_STATE: path };
}

/** A command that prints what is there and removes it. The path is the daemon's own choice. */
export function readStateCommand(path: string): string {
  return `[ -f ${path} ] && head -c ${SHELL_STATE_BYTES_MAX} ${path}; rm -f ${path}`;
}

/** Of the shell, not of its user. */
const OWN: ReadonlySet<string> = new Set(["_", "OLDPWD", "PWD", "SHLVL", "TERM"]);

/**
 * From `NAME=VALUE` with a NUL after each. What a request may not set, what the sandbox has anyway, and what is too much
 * is left out: a command writes this, so it counts no more than a request does.
 */
export function rememberedVariables(
  dump: Buffer,
  sandbox: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  if (!isUtf8(dump)) return kept;
  // Without its NUL the last one was cut.
  for (const pair of dump.toString().split("\0").slice(0, -1)) {
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (refusedEnvName(name) !== null || OWN.has(name) || sandbox[name] === value) continue;
    if (value.length > EXEC_ENV_VALUE_CHARS_MAX) continue;
    if (Object.keys(kept).length === SHELL_VARIABLES_MAX) break;
    kept[name] = value;
  }
  return kept;
}

/** What every command has in common: where the daemon is, how it is reached, and how an error ends the program. */
import type { Command } from "commander";
import type { AdminClient } from "../api/client.ts";
import { ERROR_KINDS, RecintoError } from "../errors.ts";
import { visible } from "./terminal-text.ts";

export const DEFAULT_RUN_DIR = "/run/recinto";

export interface Where {
  readonly runDir: string;
  /** Keep trying while the daemon starts. */
  readonly waitForStart: boolean;
  readonly configFile: string | undefined;
}

/** Said on the line, else the environment, else the named config file, else /run/recinto. */
export async function whereOf(command: Command): Promise<Where> {
  const { runDir, config, wait } = command.optsWithGlobals<{
    runDir?: string;
    config?: string;
    wait?: boolean;
  }>();
  // A variable that is empty is not set, as for most programs.
  const said = runDir ?? (process.env.RECINTO_RUN_DIR || undefined);
  return {
    runDir: said ?? (config === undefined ? DEFAULT_RUN_DIR : await runDirOf(config)),
    waitForStart: wait ?? false,
    configFile: config,
  };
}

async function runDirOf(configFile: string): Promise<string> {
  const { loadConfig } = await import("../settings/config.ts");
  return loadConfig(configFile).runDir;
}

/** Runs `use` with a client of the admin socket and closes it. */
export async function withAdmin<T>(
  command: Command,
  use: (admin: AdminClient) => Promise<T>,
): Promise<T> {
  const [{ adminClient }, { join }, where] = await Promise.all([
    import("../api/client.ts"),
    import("node:path"),
    whereOf(command),
  ]);
  const admin = adminClient({
    socketPath: join(where.runDir, "admin.sock"),
    waitForStart: where.waitForStart,
  });
  try {
    return await use(admin);
  } catch (error) {
    throw inWordsOf(command, error);
  } finally {
    admin.close();
  }
}

/** A mistake in a request, told by the option or argument that it came from: nobody typed `body.agentGroup`. */
function inWordsOf(command: Command, error: unknown): unknown {
  if (!(error instanceof RecintoError) || error.code !== "bad-request") return error;
  const [, field, what] = /^(?:body|path|query)\.(\w+)\S*: (.*)$/s.exec(error.message) ?? [];
  if (field === undefined || what === undefined) return error;
  const option = command.options.find((each) => each.attributeName() === field);
  const argument = command.registeredArguments.find((each) => each.name() === field);
  // A path names what the command is about: its first argument, whatever the API calls it.
  const first = error.message.startsWith("path.") ? command.registeredArguments[0] : undefined;
  const named = option?.long ?? (argument ?? first)?.name() ?? field;
  return new RecintoError("bad-request", `${named}: ${what}`, {
    hint: `${pathOf(command)} --help shows how`,
    details: error.details,
    cause: error,
  });
}

/** `recinto project add`: how a command is called. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/**
 * One line on stderr; the exit code of errors.ts. What is not a RecintoError is a bug and shows where it was. `command`:
 * the one that was called, if it came to that.
 */
export function fail(error: unknown, command?: Command): void {
  if (error instanceof RecintoError) {
    const general = error.hint === ERROR_KINDS["bad-usage"].hint && command !== undefined;
    const hint = general ? `${pathOf(command)} --help shows how it is called` : error.hint;
    process.stderr.write(`recinto: ${visible(error.message)} (${visible(hint)})\n`);
    process.exitCode = error.exitCode;
    return;
  }
  process.stderr.write(`recinto: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 70;
}

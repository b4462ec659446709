/** What every command has in common: where the daemon is, how it is reached, and how an error ends the program. */
import type { Command } from "commander";
import type { AdminClient } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
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
  } finally {
    admin.close();
  }
}

/** One line on stderr; the exit code of errors.ts. What is not a RecintoError is a bug and shows where it was. */
export function fail(error: unknown): void {
  if (error instanceof RecintoError) {
    process.stderr.write(`recinto: ${visible(error.message)} (${visible(error.hint)})\n`);
    process.exitCode = error.exitCode;
    return;
  }
  process.stderr.write(`recinto: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 70;
}

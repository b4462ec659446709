/** The runner's program on this machine: found beside the daemon, and put where sandboxes can be given it. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SHELL_STATE_FILE, SHELL_STATE_SCRIPT } from "../shell-state.ts";

/** In a built tree beside the daemon's own files; in a checkout in `dist/`. */
const PLACES = ["../../recinto-runner", "../../../dist/recinto-runner"];

export type RunnerProgram =
  | {
      readonly folder: string;
      /** ABI of Landlock of this machine's kernel: what sandboxes will have, unless their runtime is another kernel. */
      readonly landlock: number;
    }
  /** Why there is none. */
  | { readonly folder: null; readonly missing: string };

/**
 * Copies it to `STATE/bin/HASH/`: a folder of its own by content, so that an upgrade never changes what a running
 * sandbox has, and so that a sandbox sees nothing else.
 */
export async function installRunner(
  stateDir: string,
  source: string | null = findProgram(),
): Promise<RunnerProgram> {
  if (process.getuid?.() !== 0) return none("recintod does not run as root");
  if (source === null) return none("the runner is not built (./scripts/build-runner)");
  try {
    const program = await readFile(source);
    const content = createHash("sha256").update(program).update(SHELL_STATE_SCRIPT);
    const hash = content.digest("hex").slice(0, 16);
    const bin = join(stateDir, "bin");
    const folder = join(bin, hash);
    const path = join(folder, "recinto-runner");
    const state = join(folder, SHELL_STATE_FILE);
    if (!existsSync(path)) {
      await mkdir(folder, { recursive: true });
      await writeFile(state, SHELL_STATE_SCRIPT);
      await writeFile(`${path}.new`, program);
      await chmod(`${path}.new`, 0o755);
      await chmod(folder, 0o755);
      await rename(`${path}.new`, path);
    }
    // The sandbox's user reads it, whatever the daemon's umask takes away.
    await chmod(state, 0o644);
    return { folder, landlock: await landlockAbi(path) };
  } catch (error) {
    return none(`the runner cannot be used: ${error instanceof Error ? error.message : error}`);
  }
}

/** ABI of Landlock of this machine's kernel, asked by the program itself; 0: none. Rejects where it does not run. */
export async function landlockAbi(program: string): Promise<number> {
  return Number((await promisify(execFile)(program, ["--abi"])).stdout);
}

export function findProgram(): string | null {
  const paths = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return paths.find((path) => existsSync(path)) ?? null;
}

function none(missing: string): RunnerProgram {
  return { folder: null, missing };
}

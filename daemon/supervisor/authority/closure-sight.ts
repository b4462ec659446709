/** What the daemon itself sees of a closure: a command that it runs in the sandbox, a file that it opens safely (C5). */
import { join } from "node:path";
import shellQuote from "shell-quote";
import type { ClosureCondition, FileTest } from "../../authority/types.ts";
import { RecintoError } from "../../errors.ts";
import type { Journal } from "../../journal/types.ts";
import { EXEC_LOST_AFTER_MS } from "../../limits.ts";
import { CLOSURE_CHECK_TIMEOUT_MS, CLOSURE_FILE_BYTES_MAX } from "../../limits-authority.ts";
import { toBytePath } from "../../worktree/byte-path.ts";
import { FileRoot } from "../../worktree/files/file-root.ts";
import { holdFile, statEntry } from "../../worktree/files/reading.ts";
import type { NewId } from "../ids.ts";
import type { CheckPlace } from "./check-place.ts";
import type { LedgerKey } from "./ledger-book.ts";

/** One look at a closure. */
export interface Sight {
  readonly fired: boolean;
  readonly exitCode: number | null;
  readonly evidence: string;
}

export interface CommandSightParts {
  readonly journal: Journal;
  readonly newId: NewId;
  readonly ensure: (key: LedgerKey) => Promise<CheckPlace>;
  /** Aborts when the daemon stops. */
  readonly stopping: AbortSignal;
}

type CommandCondition = Extract<ClosureCondition, { readonly kind: "command" }>;

/**
 * Runs the command and waits for its end; what it prints is nobody's. It is held by the kernel to scratch and the
 * envelope's own folders: a grant that it may end is none that it runs on. Throws what the engine and the journal throw.
 */
export async function seeCommand(
  parts: CommandSightParts,
  key: LedgerKey,
  name: string,
  when: CommandCondition,
  writable: readonly string[],
): Promise<Sight> {
  const place = await parts.ensure(key);
  return place.escorted(() => seen(parts, place, key, name, when, writable));
}

async function seen(
  parts: CommandSightParts,
  sandbox: CheckPlace,
  key: LedgerKey,
  name: string,
  when: CommandCondition,
  writable: readonly string[],
): Promise<Sight> {
  const { journal, newId } = parts;
  const segments = [{ classes: ["run"], rung: "rule", rule: "closure" }] as const;
  const held = sandbox.confine({ segments, approved: false, grants: [], writable });
  const exec = newId("exec");
  const command = shellQuote.quote([...when.argv]);
  const { project, worktree } = key;
  const entry = (event: "exec.started" | "exec.exited", data: object) =>
    ({ event, project, data: { worktree, exec, closure: name, ...data } }) as const;
  journal.append(entry("exec.started", { command, sandbox: sandbox.id, confinement: held.text }));
  const startedAt = performance.now();
  let exitCode: number | null = null;
  let timedOut = false;
  try {
    const cwd = when.cwd === "" ? worktree : join(worktree, when.cwd);
    const process = await sandbox.exec({
      command,
      cwd,
      stdin: false,
      confinement: held.confinement,
    });
    process.stdout.resume();
    process.stderr.resume();
    const kill = () => void process.kill("KILL").catch(() => undefined);
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, CLOSURE_CHECK_TIMEOUT_MS);
    parts.stopping.addEventListener("abort", kill, { once: true });
    if (parts.stopping.aborted) kill();
    try {
      const ended = await Promise.race([process.exited, never(CLOSURE_CHECK_TIMEOUT_MS)]);
      exitCode = timedOut ? null : ended.exitCode;
    } finally {
      clearTimeout(timer);
      parts.stopping.removeEventListener("abort", kill);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    journal.append(entry("exec.exited", { exitCode: null, failed: reason }));
    throw error;
  }
  const durationMs = Math.round(performance.now() - startedAt);
  journal.append(entry("exec.exited", { exitCode, timedOut, durationMs }));
  const evidence = timedOut ? "it ran out of time" : `exit ${exitCode ?? "by a signal"}`;
  return { fired: exitCode === when.exit, exitCode, evidence };
}

/** Rejects some time after the kill that a time-out brings: its end is not seen then. */
function never(ms: number): Promise<never> {
  return new Promise((_, reject) => {
    const error = new RecintoError(
      "engine-unreachable",
      "the check was killed, its end is not seen",
    );
    setTimeout(() => reject(error), ms + EXEC_LOST_AFTER_MS).unref();
  });
}

/** No link is followed, and nothing but a plain file is read. Never throws: what cannot be read has not been seen. */
export async function seeFile(worktree: string, path: string, test: FileTest): Promise<Sight> {
  const said = (fired: boolean, evidence: string): Sight => ({ fired, exitCode: null, evidence });
  let root: FileRoot | null = null;
  try {
    root = FileRoot.open(worktree);
    const at = toBytePath(path);
    const found = entryAt(root, at);
    if (test.kind === "exists") {
      return said(
        (found !== null) === test.exists,
        `${path} ${found === null ? "is not there" : "exists"}`,
      );
    }
    if (found === null) return said(false, `${path} is not there`);
    const held = await holdFile(root, at, CLOSURE_FILE_BYTES_MAX);
    if (held === null) return said(false, `${path} is not there`);
    return test.kind === "sha256"
      ? said(held.sha256 === test.hex, `${path} has the content ${held.sha256.slice(0, 12)}…`)
      : said(
          held.bytes?.includes(test.text) ?? false,
          `${path} was read for ${JSON.stringify(test.text)}`,
        );
  } catch (error) {
    return said(false, error instanceof Error ? error.message : String(error));
  } finally {
    root?.close();
  }
}

function entryAt(root: FileRoot, path: Parameters<typeof statEntry>[1]) {
  try {
    return statEntry(root, path);
  } catch (error) {
    // On the way there is a file or nothing: it does not exist. Anything else was not seen.
    if (error instanceof RecintoError && error.code === "file-not-found") return null;
    throw error;
  }
}

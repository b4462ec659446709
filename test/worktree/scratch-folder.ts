/** A real folder for a test, away from links, and waiting for what a watcher must say. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";

export function scratchFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "recinto-worktree-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Waits until `holds`, and fails with what `state` says when it does not come. */
export async function until(
  holds: () => boolean,
  state: () => unknown = () => "",
  waitMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`never came: ${JSON.stringify(state())}`);
    await sleep(5);
  }
}

/** A ceiling on what one command writes into its worktree, where the storage has no quota that could hold it. */
import { statfsSync } from "node:fs";
import { GROWTH_LOOK_MS } from "../limits.ts";
import { changedBytes } from "../worktree/changed-bytes.ts";
import { type Note, note } from "./escort.ts";

export interface GrowthWatch {
  /** Aborts when the command is over its ceiling. */
  readonly signal: AbortSignal;
  /** What the agent is told then; else nothing. */
  notes(): readonly Note[];
  close(): void;
}

/**
 * The disk's free space is cheap to ask for and everybody's, so it only says when to look: once as much is gone as the
 * command may write, the files it changed are counted.
 */
export function watchGrowth(of: {
  readonly worktree: string;
  readonly bytesMax: number;
}): GrowthWatch {
  const { worktree, bytesMax } = of;
  const over = new AbortController();
  // File times are the kernel's clock, which ticks in steps of up to 10 ms.
  const since = Date.now() - 20;
  const before = freeBytes(worktree);
  let looking = false;
  const look = async () => {
    if (before - freeBytes(worktree) < bytesMax) return;
    if ((await changedBytes(worktree, since, bytesMax)) > bytesMax) over.abort();
  };
  const timer = setInterval(() => {
    if (looking || over.signal.aborted) return;
    looking = true;
    look()
      .catch(() => undefined)
      .finally(() => {
        looking = false;
      });
  }, GROWTH_LOOK_MS);
  timer.unref();
  const reason = `disk-limit: the command wrote more than ${bytesMax} bytes into ${worktree} and was stopped (limits.worktreeGrowth)`;
  return {
    signal: over.signal,
    notes: () => (over.signal.aborted ? [note("disk_limit", reason, [worktree])] : []),
    close: () => clearInterval(timer),
  };
}

function freeBytes(folder: string): number {
  try {
    const { bfree, bsize } = statfsSync(folder);
    return bfree * bsize;
  } catch {
    return 0; // The worktree is gone: nothing grows there.
  }
}

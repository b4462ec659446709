/** How long the daemon takes to be ready on a journal of so many entries, against one on an empty journal. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { openJournal } from "../../daemon/journal/sqlite-journal.ts";
import type { NewEntry } from "../../daemon/journal/types.ts";
import { Recintod } from "../docker/recintod.ts";

export interface StartReport {
  readonly entries: number;
  readonly megabytes: number;
  /** Median of three starts. */
  readonly readyMs: number;
  readonly emptyReadyMs: number;
  /** null: the journal is too long to wait for it here. */
  readonly verifySeconds: number | null;
}

const STARTS = 3;
const VERIFIED_MAX = 2_000_000;

export async function measureStart(main: string, entries: number): Promise<StartReport> {
  const empty = new Recintod({ main });
  const full = new Recintod({ main });
  try {
    const path = join(full.base, "state/journal.sqlite");
    fill(path, entries);
    const emptyReadyMs = await medianStart(empty);
    const readyMs = await medianStart(full);
    const verifySeconds = entries > VERIFIED_MAX ? null : await verified(full, entries);
    const megabytes = Math.round(statSync(path).size / 2 ** 20);
    return { entries, megabytes, readyMs, emptyReadyMs, verifySeconds };
  } finally {
    await empty.close();
    await full.close();
  }
}

async function verified({ admin }: Recintod, entries: number): Promise<number> {
  const before = performance.now();
  const result = await admin.verifyJournal();
  if (!result.ok || result.entries < entries) throw new Error(JSON.stringify(result));
  return Math.round((performance.now() - before) / 100) / 10;
}

async function medianStart(daemon: Recintod): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const before = performance.now();
    await daemon.start();
    times.push(performance.now() - before);
    // As after a crash: what was open is taken over by the next.
    await daemon.stop("SIGKILL");
  }
  await daemon.start();
  return Math.round(times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] as number);
}

/** A long life: commands with their verdicts, some refusals, some questions, and a few of each left open. */
function fill(path: string, entries: number): void {
  const journal = openJournal(path, { now: Date.now });
  let exec = 0;
  const where = { project: "web", session: "s-1", uid: 61_001 };
  const key = { project: "web", worktree: "/srv/web/.worktrees/dev", uid: 61_001 };
  while (journal.count() < entries) {
    const batch: NewEntry[] = [];
    while (batch.length < 3_000) {
      const action = `a-${++exec}`;
      const command = `cd src && grep -rn 'name${exec}' . | head -50`;
      const rules = [{ text: command, verdict: "allow", rung: "scope", rule: "scope/read" }];
      const data = {
        action,
        command,
        cwd: key.worktree,
        verdict: "allow",
        rules,
        roots: ["/srv/web"],
      };
      batch.push(
        { event: "proposed_action.created", ...where, data },
        { event: "exec.started", ...where, data: { action, exec: `x-${exec}`, sandbox: "box" } },
      );
      if (exec % 10_000 !== 0) {
        batch.push({
          event: "exec.exited",
          ...where,
          data: { action, exec: `x-${exec}`, exitCode: 0 },
        });
      }
      if (exec % 100 === 0) {
        const state = { total: exec / 100, consecutive: {} };
        batch.push({ event: "denials.changed", ...where, data: { ...key, state } });
      }
    }
    journal.appendSoon(batch.slice(0, entries - journal.count()));
  }
  journal.close();
}

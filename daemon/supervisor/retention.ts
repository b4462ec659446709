/** How long the record is kept: now and then the daemon drops what is older than the config says. */
import type { Journal } from "../journal/types.ts";
import { JOURNAL_PRUNE_EVERY_MS } from "../limits-journal.ts";
import type { Log } from "./ports.ts";

const DAY_MS = 24 * 60 * 60_000;

export interface Retention {
  readonly journal: Pick<Journal, "pruneBefore">;
  /** null: everything is kept. */
  readonly days: number | null;
  readonly now: () => number;
  readonly log: Log;
}

/** As long as the process lives. What cannot be dropped now is dropped later: the record is only longer than it need be. */
export function keepRecordFor({ journal, days, now, log }: Retention): void {
  if (days === null) return;
  const prune = async () => {
    try {
      const dropped = await journal.pruneBefore(now() - days * DAY_MS);
      if (dropped > 0) log.info({ dropped, days }, "old entries of the journal were dropped");
    } catch (error) {
      log.warn({ error }, "old entries of the journal could not be dropped");
    }
  };
  setInterval(() => void prune(), JOURNAL_PRUNE_EVERY_MS).unref();
  void prune();
}

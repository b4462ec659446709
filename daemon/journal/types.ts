/** What the journal holds: one line for everything decided and done, chained by hash. */
import type { StandingKind } from "./standing.ts";

/** The events of today. Data are plain JSON; times are Unix milliseconds. */
export type JournalEvent =
  | "daemon.started"
  | "daemon.stopped"
  | "session.opened"
  | "session.closed"
  | "proposed_action.created"
  | "approval.requested"
  | "approval.answered"
  | "approval.timed_out"
  | "approval.cancelled"
  /** A command took it up: from here on it is spent, whatever becomes of the command. */
  | "approval.used"
  /** It was approved and no command took it up in time. */
  | "approval.lapsed"
  | "rule.saved"
  | "rule.revoked"
  | "rules.reloaded"
  | "session.rules"
  | "policy.trusted"
  | "policy.distrusted"
  | "policy.not_trusted"
  | "exec.started"
  | "exec.exited"
  | "exec.lost"
  | "job.left"
  | "job.ended"
  | "job.signalled"
  | "file.done"
  | "file.failed"
  | "action.refused"
  | "egress.opened"
  | "egress.closed"
  | "egress.refused"
  | "contract.set"
  | "phase.changed"
  | "epoch.bumped"
  | "grant.requested"
  | "grant.granted"
  | "grant.refused"
  | "grant.used"
  | "grant.stale"
  | "grant.closing"
  | "grant.closed"
  | "denials.changed"
  | "denials.reset"
  | "sandbox.created"
  | "sandbox.started"
  | "sandbox.stopped"
  | "sandbox.removed"
  | "hazard.found"
  | "hazard.gone"
  | "hazard.accepted"
  | "hazard.forgotten"
  | "watcher.degraded"
  | "git.import.intended"
  | "git.imported"
  | "git.left"
  | "git.undone"
  | "protected.restored"
  | "protected.accepted"
  | "project.added"
  | "project.removed"
  | "profiles.reloaded"
  | "settings.refused"
  /** Entries up to `through` are not kept any more; `hash` is the last one's, from which the chain goes on. */
  | "journal.pruned"
  /** An admin kept what could be verified of a broken journal; the rest was put aside. */
  | "journal.repaired";

export interface JournalEntry {
  readonly seq: number;
  readonly at: number;
  readonly event: JournalEvent;
  readonly project: string | null;
  readonly session: string | null;
  /** Who caused it: a peer uid, or null for the daemon itself. */
  readonly uid: number | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** SHA-256, hex, over the previous hash and this entry's canonical JSON. */
  readonly hash: string;
}

export interface NewEntry {
  readonly event: JournalEvent;
  readonly project?: string | null;
  readonly session?: string | null;
  readonly uid?: number | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EntryQuery {
  readonly afterSeq?: number;
  readonly project?: string;
  /** Entries of any of these sessions. */
  readonly sessions?: readonly string[];
  readonly events?: readonly JournalEvent[];
  readonly sinceMs?: number;
  /** At most this many, the oldest first; JOURNAL_READ_DEFAULT when absent. */
  readonly limit?: number;
  /** The newest `limit` instead of the oldest (still in order). */
  readonly newest?: boolean;
}

export interface VerifyResult {
  readonly ok: boolean;
  /** Up to which entry it was walked: all that were ever written, when it is whole. */
  readonly entries: number;
  /** Up to this entry nothing is kept; 0: all is. */
  readonly pruned: number;
  /** Hash of the last entry: kept elsewhere, it also shows a chain that was rewritten as a whole. */
  readonly head: string;
  readonly firstBroken?: { readonly seq: number; readonly reason: string };
}

/** Append-only. `append` returns once the entry is on disk, and throws `journal-failed` when it cannot be. */
export interface Journal {
  append(entry: NewEntry): JournalEntry;
  /** Several that belong together: all or none, one sync to disk. */
  appendAll(entries: readonly NewEntry[]): readonly JournalEntry[];
  /**
   * The same without waiting for the disk: on record when it returns, also if this process is killed then. It is safe
   * from a loss of power after JOURNAL_SYNC_SOON_MS, or once `synced` resolves or anything was appended by the calls
   * above. What an effect waits for must be synced before the effect.
   */
  appendSoon(entries: readonly NewEntry[]): readonly JournalEntry[];
  /** Resolves when all that was appended before the call is on disk; rejects with `journal-failed`. */
  synced(): Promise<void>;
  read(query: EntryQuery): readonly JournalEntry[];
  /** The entries by which something of this kind stands now, oldest first: no more are read than there are. */
  standing(kind: StandingKind): readonly JournalEntry[];
  /** Reads the whole journal in batches, without holding it in memory. */
  verify(): VerifyResult;
  /** The same, letting other work go on between batches. */
  verifyInSteps(): Promise<VerifyResult>;
  /**
   * Drops the entries from before this time, and says so in the record, from which the chain goes on; resolves with how
   * many. What stands is kept.
   */
  pruneBefore(at: number): Promise<number>;
  /** Called after each append, in order. Returns how to stop. */
  subscribe(listener: (entry: JournalEntry) => void): () => void;
  /** How many entries there are, without reading them. */
  count(): number;
  close(): void;
}

/** A question as the journal keeps it whole, and read back: what was shown, what it is bound to, how long it has left. */
import type { JournalEntry } from "../journal/types.ts";
import { APPROVAL_UNUSED_MAX_MS } from "../limits.ts";
import type { AuthorityInfo, PendingApproval } from "./types.ts";

export const LAPSED = `no command took it up within ${APPROVAL_UNUSED_MAX_MS / 60_000} minutes`;

export interface KeptQuestion {
  readonly approval: PendingApproval;
  readonly key: string | null;
  /** Until it times out, or until an approval that no command has used lapses. */
  readonly leftMs: number;
}

/** For the entry `approval.requested`; project, session and uid are the entry's own. */
export function questionData(
  approval: PendingApproval,
  key: string | null,
): Readonly<Record<string, unknown>> {
  const { id, session: _s, project: _p, uid: _u, state: _, ...shown } = approval;
  const timeoutMs = approval.expiresAt - approval.createdAt;
  return { ...shown, approval: id, key, timeoutMs, reason: approval.verdict.reason };
}

/**
 * null: the entry does not hold it (an older daemon wrote it). No clock prolongs it: never more is left than it had, and
 * `now` never goes back.
 */
export function keptQuestion(
  { session, project, uid, data }: JournalEntry,
  answer: JournalEntry | null,
  now: number,
): KeptQuestion | null {
  const { approval: id, key, timeoutMs, reason: _, ...shown } = data;
  const { createdAt, expiresAt, verdict, facts } = shown as Partial<PendingApproval>;
  if (createdAt === undefined || expiresAt === undefined || typeof timeoutMs !== "number") {
    return null;
  }
  if (verdict === undefined || facts === undefined || session === null || uid === null) return null;
  const asked = { ...shown, id, session, project, uid } as unknown as PendingApproval;
  const known = typeof key === "string" ? key : null;
  if (answer === null) {
    const leftMs = Math.min(expiresAt - now, timeoutMs);
    return { approval: { ...asked, state: "pending" }, key: known, leftMs };
  }
  const approval: PendingApproval = {
    ...asked,
    state: "approved",
    answeredAt: answer.at,
    ...(answer.uid === null ? {} : { answeredBy: answer.uid }),
    authority: answer.data.authority as AuthorityInfo,
  };
  const leftMs = Math.min(answer.at + APPROVAL_UNUSED_MAX_MS - now, APPROVAL_UNUSED_MAX_MS);
  return { approval, key: known, leftMs };
}

/** What a daemon that ended without a word left open: taken over where it can go on, else closed truthfully on record. */
import type { Journal, JournalEntry, NewEntry } from "../journal/types.ts";
import { type KeptQuestion, keptQuestion, LAPSED } from "./kept-question.ts";

/** A session as it was opened. */
export interface KeptSession {
  readonly id: string;
  readonly project: string;
  readonly worktree: string;
  readonly uid: number;
  readonly gid: number;
  readonly openedAt: number;
}

export interface TakenOver {
  /** What is over, to be recorded together with the start. */
  readonly closing: readonly NewEntry[];
  readonly sessions: readonly KeptSession[];
  readonly questions: readonly KeptQuestion[];
}

const LOST = "the daemon ended while it ran; how it ended is not known";
const UNREACHABLE = "the daemon ended while it waited; nothing could run by an answer to it";

/** `now`: a clock that never goes back, so that what is over stays over. */
export function takeOver(journal: Journal, now: number): TakenOver {
  const closing: NewEntry[] = [
    ...journal
      .standing("exec")
      .map((entry) => ended(entry, "exec.lost", { ...idsOf(entry), reason: LOST })),
    ...journal
      .standing("background")
      .map((entry) => ended(entry, "job.ended", { ...idsOf(entry), reason: "lost" })),
  ];
  const sessions: KeptSession[] = [];
  for (const entry of journal.standing("session")) {
    const session = keptSession(entry);
    if (session !== null) sessions.push(session);
    else closing.push(ended(entry, "session.closed", { reason: "it cannot be read back" }));
  }
  const live = new Set(sessions.map(({ id }) => id));
  const answers = new Map(
    journal.standing("approval").map((entry) => [String(entry.data.approval), entry]),
  );
  const questions: KeptQuestion[] = [];
  for (const entry of journal.standing("question")) {
    const answer = answers.get(String(entry.data.approval)) ?? null;
    const kept = live.has(entry.session ?? "") ? keptQuestion(entry, answer, now) : null;
    // A connection that waited for its host ended with the daemon.
    const reachable = kept !== null && kept.approval.host === undefined;
    if (reachable && kept.leftMs > 0) questions.push(kept);
    else closing.push(over(entry, answer, reachable));
  }
  return { closing, sessions, questions };
}

/** Imports of commits that were begun and whose outcome nobody recorded. */
export function openImports(journal: Journal): readonly JournalEntry[] {
  return journal.standing("import");
}

function over(entry: JournalEntry, answer: JournalEntry | null, reachable: boolean): NewEntry {
  const ids = idsOf(entry);
  if (answer !== null) {
    return ended(entry, "approval.lapsed", {
      ...ids,
      reason: reachable ? LAPSED : UNREACHABLE,
    });
  }
  return reachable
    ? ended(entry, "approval.timed_out", { ...ids, reason: "nobody answered in time" })
    : ended(entry, "approval.cancelled", { ...ids, reason: UNREACHABLE });
}

function keptSession({ session, project, uid, at, data }: JournalEntry): KeptSession | null {
  const { worktree, gid, openedAt = at } = data;
  if (session === null || project === null || uid === null) return null;
  if (typeof worktree !== "string" || typeof gid !== "number") return null;
  return { id: session, project, worktree, uid, gid, openedAt: Number(openedAt) };
}

function idsOf({ data }: JournalEntry): Readonly<Record<string, unknown>> {
  const { action, exec, approval } = data;
  return { action, exec, approval };
}

function ended(
  { project, session }: JournalEntry,
  event: NewEntry["event"],
  data: Readonly<Record<string, unknown>>,
): NewEntry {
  return { event, project, session, data };
}

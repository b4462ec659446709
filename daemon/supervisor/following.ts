/** Journal entries and approvals as they come, for readers who may be slow or leave. */
import { RecintoError } from "../errors.ts";
import type { EntryQuery, Journal, JournalEntry } from "../journal/types.ts";
import { WATCH_BACKLOG_MAX } from "../limits.ts";
import type { Approvals } from "./approvals.ts";
import { Channel } from "./channel.ts";
import { joinSignals } from "./joined-signal.ts";
import type { ProjectDesk } from "./project-desk.ts";
import type { Sessions } from "./sessions.ts";
import type { Caller, PendingApproval } from "./types.ts";

/** What the query gives now, then every later entry that fits it. Nothing is queued: the journal itself is. */
export async function* followEntries(
  journal: Journal,
  query: EntryQuery,
  signal: AbortSignal,
): AsyncGenerator<JournalEntry> {
  let wake: () => void = () => undefined;
  let news = true;
  const notice = () => {
    news = true;
    wake();
  };
  const unsubscribe = journal.subscribe(notice);
  signal.addEventListener("abort", notice, { once: true });
  try {
    const head = journal.count();
    const first = journal.read(query);
    yield* first;
    const { limit: _, newest, ...later } = query;
    let afterSeq = newest ? head : (first.at(-1)?.seq ?? query.afterSeq ?? 0);
    while (!signal.aborted) {
      const next = journal.read({ ...later, afterSeq });
      yield* next;
      afterSeq = next.at(-1)?.seq ?? afterSeq;
      if (next.length > 0) continue;
      news = false;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (news || signal.aborted) resolve();
      });
    }
  } finally {
    unsubscribe();
    signal.removeEventListener("abort", notice);
  }
}

/** What waits now, then every change. A reader more than WATCH_BACKLOG_MAX changes behind is cut off with `busy`. */
export async function* watchApprovals(
  approvals: Approvals,
  mine: (approval: PendingApproval) => boolean,
  signal: AbortSignal,
): AsyncGenerator<PendingApproval> {
  const channel = new Channel<PendingApproval>(WATCH_BACKLOG_MAX);
  const stop = approvals.subscribe((approval) => {
    if (!mine(approval)) return;
    if (channel.full) {
      channel.end(new RecintoError("busy", "too many changes for this reader; watch again"));
    } else void channel.push(approval);
  });
  const end = () => channel.end();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    yield* approvals.pending().filter(mine);
    yield* channel;
  } finally {
    stop();
    signal.removeEventListener("abort", end);
  }
}

/** A stream that ends with the first of these: its reader goes, or the daemon. */
export async function* untilStop<T>(
  signals: readonly AbortSignal[],
  stream: (until: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const until = joinSignals(...signals);
  try {
    yield* stream(until.signal);
  } finally {
    until.release();
  }
}

/** What of a query this caller may see. Throws `unknown-project` for an admin who names one that never was. */
export function seenBy(
  caller: Caller,
  query: EntryQuery,
  projects: Pick<ProjectDesk, "onRecord">,
  sessions: Pick<Sessions, "visibleTo">,
): EntryQuery {
  if (caller.socket.kind === "admin") return projects.onRecord(query);
  const own = sessions.visibleTo(caller).map(({ id }) => id);
  const { sessions: asked = own } = query;
  return { ...query, sessions: asked.filter((id) => own.includes(id)) };
}

/** What a daemon that ended without a word left open in the journal, closed truthfully at the next start. */
import type { Journal, JournalEntry, JournalEvent, NewEntry } from "../journal/types.ts";

/** What opens something, the field that names it, what may close it, and what closes it here. */
const OPENINGS: readonly {
  readonly event: JournalEvent;
  readonly id: (entry: JournalEntry) => unknown;
  readonly closedBy: readonly JournalEvent[];
  readonly close: JournalEvent;
  readonly reason: string;
}[] = [
  {
    event: "exec.started",
    id: ({ data }) => data.exec,
    closedBy: ["exec.exited", "exec.lost"],
    close: "exec.lost",
    reason: "the daemon ended while it ran; how it ended is not known",
  },
  {
    event: "approval.requested",
    id: ({ data }) => data.approval,
    closedBy: ["approval.answered", "approval.timed_out", "approval.cancelled"],
    close: "approval.cancelled",
    reason: "the daemon ended while it waited; nobody answered it",
  },
  {
    event: "session.opened",
    id: ({ session }) => session,
    closedBy: ["session.closed"],
    close: "session.closed",
    reason: "the daemon ended while it was open",
  },
];

/** Entries of the journal read at a time. */
const PAGE = 1_000;

/** The entries that close what is open; each earlier start has closed what was before it. */
export function closingEntries(journal: Journal): readonly NewEntry[] {
  const [lastStart] = journal.read({ events: ["daemon.started"], newest: true, limit: 1 });
  const open = new Map<string, NewEntry>();
  const events = OPENINGS.flatMap(({ event, closedBy }) => [event, ...closedBy]);
  for (const entry of entriesAfter(journal, lastStart?.seq ?? 0, events)) note(open, entry);
  return [...open.values()];
}

/** Imports of commits that were begun and whose outcome nobody recorded, since the last start. */
export function openImports(journal: Journal): readonly JournalEntry[] {
  const [lastStart] = journal.read({ events: ["daemon.started"], newest: true, limit: 1 });
  const open = new Map<unknown, JournalEntry>();
  const events = ["git.import.intended", "git.imported", "git.left"] as const;
  for (const entry of entriesAfter(journal, lastStart?.seq ?? 0, events)) {
    if (entry.event === "git.import.intended") open.set(entry.data.action, entry);
    else open.delete(entry.data.action);
  }
  return [...open.values()];
}

function* entriesAfter(
  journal: Journal,
  seq: number,
  events: readonly JournalEvent[],
): Generator<JournalEntry> {
  for (let afterSeq = seq; ; ) {
    const page = journal.read({ afterSeq, events, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    afterSeq = last.seq;
  }
}

function note(open: Map<string, NewEntry>, entry: JournalEntry): void {
  for (const { event, id, closedBy, close, reason } of OPENINGS) {
    const key = `${event} ${String(id(entry))}`;
    if (entry.event === event) {
      const { project, session } = entry;
      const { action, exec, approval } = entry.data;
      const data = { action, exec, approval, reason };
      open.set(key, { event: close, project, session, data });
    } else if (closedBy.includes(entry.event)) open.delete(key);
  }
}

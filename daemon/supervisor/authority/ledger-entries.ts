/** What the ledger reports, as entries of the journal; and the command that a restart plays again. */
import type { LedgerCommand, LedgerEvent } from "../../authority/ledger-types.ts";
import type { NewEntry } from "../../journal/types.ts";

/** Who caused a step. */
export interface By {
  /** null: the daemon itself. */
  readonly uid: number | null;
  readonly session: string | null;
}

export interface StepEntryData {
  readonly worktree: string;
  /** The ledger's command, with the first entry of its step: a ledger is what its commands made of it. */
  readonly step?: LedgerCommand;
  readonly [key: string]: unknown;
}

/** One for each event, in order. */
export function stepEntries(
  { project, worktree }: { readonly project: string; readonly worktree: string },
  command: LedgerCommand,
  events: readonly LedgerEvent[],
  { uid, session }: By,
  more: Readonly<Record<string, unknown>>,
): readonly NewEntry[] {
  return events.map((event, index) => ({
    event: event.type,
    project,
    session,
    uid,
    data: {
      worktree,
      ...dataOf(event),
      ...(index === 0 ? { ...more, step: command } : {}),
    } satisfies StepEntryData,
  }));
}

function dataOf(event: LedgerEvent): Readonly<Record<string, unknown>> {
  if (event.type === "grant.closing" || event.type === "grant.closed") {
    const { type: _, cause, ...data } = event;
    const back = "renewal" in data ? { renewal: data.renewal.text } : {};
    return { ...data, cause: cause.text, kind: cause.kind, ...back };
  }
  if (event.type !== "grant.granted") {
    const { type: _, ...data } = event;
    return data;
  }
  const { handle, rule, effect, paths, hosts, commands, reason, by, epoch } = event.grant;
  const { expiresAt, usesLeft, phases, closes } = event.grant;
  const endings = closes.map(({ name }) => name);
  const resource = { paths, hosts, commands };
  return {
    handle,
    rule,
    effect,
    ...resource,
    reason,
    by,
    epoch,
    expiresAt,
    usesLeft,
    phases,
    endings,
  };
}

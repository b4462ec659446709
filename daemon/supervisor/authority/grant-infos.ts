/** Grants of a ledger as people and programs are shown them, wherever in their life they are. Pure. */
import { endingText } from "../../authority/interface.ts";
import type { Grant, LedgerState } from "../../authority/ledger-types.ts";
import { renewalOf } from "../../authority/renewal.ts";
import { NO_RESOURCE } from "../../authority/types.ts";
import type { GrantInfo } from "./authority-calls.ts";

interface Ledger {
  readonly project: string;
  readonly worktree: string;
  readonly state: LedgerState;
}

/** Those that wait, live or close, in this order. */
export function grantInfos(ledger: Ledger, now: number): readonly GrantInfo[] {
  const { pending, grants } = ledger.state;
  return [...pending, ...grants].flatMap(({ handle }) => grantInfo(ledger, handle, now) ?? []);
}

/** null: this ledger never had it, or has forgotten it. */
export function grantInfo(
  { project, worktree, state }: Ledger,
  handle: string,
  now: number,
): GrantInfo | null {
  const at = { project, worktree, handle };
  const grant = state.grants.find((each) => each.handle === handle);
  if (grant !== undefined) return { ...at, ...ofGrant(grant, state, now) };
  const none = { by: null, grantedAt: null, expiresAt: null, usesLeft: null, running: [] };
  const asking = state.pending.find((each) => each.handle === handle);
  if (asking !== undefined) {
    const { rule, reason, paths, hosts, commands, uses } = asking;
    const declared = state.contract?.grants.find(({ name }) => name === rule);
    return {
      ...at,
      ...none,
      state: "pending",
      rule,
      effect: declared?.effect ?? null,
      reason,
      paths,
      hosts,
      commands,
      usesLeft: uses,
      endsWith: [],
      cause: null,
      renewal: "it waits for a person",
    };
  }
  const closed = state.closed.find((each) => each.handle === handle);
  if (closed === undefined) return null;
  const { rule, cause } = closed;
  const renewal = renewalOf(state, rule).text;
  const ended = { state: "closed", rule, effect: null, reason: "", ...NO_RESOURCE } as const;
  return { ...at, ...none, ...ended, endsWith: [], cause: cause.text, renewal };
}

function ofGrant(grant: Grant, state: LedgerState, now: number) {
  const { effect, rule, reason, by, paths, hosts, commands } = grant;
  const { grantedAt, expiresAt, usesLeft, running, closes, phases, cause } = grant;
  const over = grant.state === "live" && expiresAt <= now;
  const leaving = phases.length === 0 ? [] : [`the phase is no longer ${phases.join(" or ")}`];
  return {
    state: over ? ("closing" as const) : grant.state,
    rule,
    effect,
    reason,
    by,
    paths,
    hosts,
    commands,
    grantedAt,
    expiresAt,
    usesLeft,
    running,
    endsWith: [...closes.map(endingText), ...leaving],
    cause: cause?.text ?? (over ? "its time is over" : null),
    renewal: renewalOf(state, rule).text,
  };
}

/** How a right that ended comes back, and what is said to who presents a handle that is not live (C6, C7). */
import { ruleNamed } from "./draft.ts";
import type { CloseCause, LedgerState, Renewal } from "./ledger-types.ts";

export function renewalOf(state: LedgerState, ruleName: string | null): Renewal {
  if (ruleName === null) {
    return { by: "person", text: "a person gave it: propose the action again and one is asked" };
  }
  const rule = ruleNamed(state, ruleName);
  if (rule === undefined) return { by: "nobody", text: "the contract has no such rule" };
  if (!inPhase(rule.phases, state.phase)) {
    const text = `it comes back in the phase ${rule.phases.join(" or ")}, which the orchestrator enters`;
    return { by: "phase", text };
  }
  const person = rule.approval === "person" || state.spent.some(({ rule }) => rule === ruleName);
  return person
    ? { by: "person", text: `request ${ruleName} again: a person decides` }
    : { by: "request", text: `request ${ruleName} again` };
}

export function inPhase(phases: readonly string[], phase: string | null): boolean {
  return phases.length === 0 || (phase !== null && phases.includes(phase));
}

export interface Stale {
  readonly reason: string;
  readonly renewal?: Renewal;
}

/** Why a handle cannot be used at `now`; null when it can. */
export function staleness(state: LedgerState, handle: string, now: number): Stale | null {
  const grant = state.grants.find((each) => each.handle === handle);
  if (grant !== undefined) {
    const time = Math.max(now, state.now);
    if (grant.state === "live" && grant.expiresAt > time) return null;
    const ttl: CloseCause = { kind: "ttl", text: "its time is over" };
    const cause = grant.cause ?? (grant.state === "spent" ? USED_UP : ttl);
    return ended(cause, renewalOf(state, grant.rule));
  }
  const closed = state.closed.find((each) => each.handle === handle);
  // The way back is told as it is now: the phase may have moved on since it closed.
  if (closed !== undefined) return ended(closed.cause, renewalOf(state, closed.rule));
  if (state.pending.some((each) => each.handle === handle)) {
    return { reason: "it waits for a person: it is not granted yet" };
  }
  return { reason: "this session was never given it: request a rule of its interface" };
}

export const USED_UP: CloseCause = { kind: "uses", text: "its uses are used up" };

function ended(cause: CloseCause, renewal: Renewal): Stale {
  return { reason: `${cause.text}; ${renewal.text}`, renewal };
}

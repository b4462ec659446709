/** The ends of a right: trusted events, time, people, and the agent's own release; never what an agent claims (C5). */
import { GRANTS_CLOSED_KEPT_MAX } from "../limits-authority.ts";
import {
  beginClosing,
  DONE,
  type Draft,
  emit,
  grantOf,
  NOTHING,
  refusal,
  restoreRule,
  ruleNamed,
} from "./draft.ts";
import { durationText } from "./durations.ts";
import type { CloseCause, LedgerCommand, Outcome } from "./ledger-types.ts";
import { inPhase, renewalOf, staleness } from "./renewal.ts";

type Command<T extends LedgerCommand["type"]> = Extract<LedgerCommand, { readonly type: T }>;

/** Ends what is over at the state's time. */
export function expire(draft: Draft): void {
  for (const grant of draft.state.grants) {
    if (grant.expiresAt > draft.state.now) continue;
    const text = `its ${durationText(grant.expiresAt - grant.grantedAt)} are over`;
    beginClosing(draft, grant, { kind: "ttl", text });
  }
}

export function closureFired(draft: Draft, command: Command<"closureFired">): Outcome {
  const { closure, handle, evidence } = command;
  const ended = draft.state.grants.filter(
    (grant) =>
      grant.state !== "closing" &&
      (handle === undefined || grant.handle === handle) &&
      grant.closes.some(({ name }) => name === closure),
  );
  const cause: CloseCause = { kind: "closure", text: `${closure} fired: ${evidence}` };
  for (const grant of ended) beginClosing(draft, grant, cause);
  return ended.length === 0 ? NOTHING : DONE;
}

export function phaseChanged(draft: Draft, { phase, by }: Command<"phaseChanged">): Outcome {
  const { state } = draft;
  const phases = state.contract?.phases ?? [];
  if (!phases.includes(phase)) {
    const there = phases.length === 0 ? "none is declared" : `there are ${phases.join(", ")}`;
    return refusal("unknown-phase", `there is no phase ${phase.slice(0, 64)}: ${there}`);
  }
  const from = state.phase;
  if (phase === from) return NOTHING;
  state.phase = phase;
  emit(draft, { type: "phase.changed", from, to: phase });
  for (const rule of state.contract?.grants ?? []) {
    const entered = inPhase(rule.phases, phase) && !inPhase(rule.phases, from);
    if (entered) restoreRule(draft, rule.name);
  }
  for (const grant of state.grants) {
    const fired = grant.closes.find(({ when }) => when.kind === "phase" && when.phase === phase);
    if (fired !== undefined) {
      const text = `${fired.name} fired: ${by} entered the phase ${phase}`;
      beginClosing(draft, grant, { kind: "closure", text });
    } else if (!inPhase(grant.phases, phase)) {
      const text = `${by} moved on from the phase ${from} to ${phase}`;
      beginClosing(draft, grant, { kind: "phase", text });
    }
  }
  for (const { handle, rule } of state.pending) {
    if (inPhase(ruleNamed(state, rule)?.phases ?? [], phase)) continue;
    state.pending = state.pending.filter((each) => each.handle !== handle);
    const reason = `the phase is ${phase} now, and ${rule} is not there in it`;
    emit(draft, { type: "grant.refused", handle, reason });
  }
  return DONE;
}

export function revoke(draft: Draft, { handle, by, reason }: Command<"revoke">): Outcome {
  const why = reason === "" ? "" : `: ${reason}`;
  return end(draft, handle, { kind: "revoked", text: `${by} revoked it${why}` });
}

/** A request that still waits is withdrawn by it. */
export function release(draft: Draft, { handle }: Command<"release">): Outcome {
  const { state } = draft;
  if (state.pending.some((each) => each.handle === handle)) {
    state.pending = state.pending.filter((each) => each.handle !== handle);
    emit(draft, { type: "grant.refused", handle, reason: "the agent withdrew it" });
    return DONE;
  }
  return end(draft, handle, { kind: "released", text: "the agent released it" });
}

function end(draft: Draft, handle: string, cause: CloseCause): Outcome {
  const { state } = draft;
  const grant = grantOf(state, handle);
  if (grant === undefined || grant.state === "closing") {
    const stale = staleness(state, handle, state.now);
    return refusal("stale", `the handle ${handle} is not live: ${stale?.reason}`, stale?.renewal);
  }
  beginClosing(draft, grant, cause);
  return DONE;
}

export function closingDone(draft: Draft, { handle }: Command<"closingDone">): Outcome {
  const { state } = draft;
  const grant = grantOf(state, handle);
  if (grant?.state !== "closing" || grant.cause === null) {
    return refusal("not-closing", `${handle} is not closing`);
  }
  const { rule, cause, closingAt } = grant;
  const renewal = renewalOf(state, rule);
  const closed = { handle, rule, closedAt: state.now, cause, renewal };
  state.grants = state.grants.filter((each) => each !== grant);
  state.closed = [...state.closed, closed].slice(-GRANTS_CLOSED_KEPT_MAX);
  const closingMs = state.now - (closingAt ?? state.now);
  emit(draft, { type: "grant.closed", handle, cause, renewal, closingMs });
  return DONE;
}

/** A ledger's state while one command changes it: the only mutable thing in the ledger, and never seen outside a step. */
import { GRANT_AUDIT_KEPT_MAX } from "../limits-authority.ts";
import type {
  AuditEntry,
  CloseCause,
  Grant,
  LedgerEvent,
  LedgerState,
  Outcome,
  RefusalCode,
  Renewal,
} from "./ledger-types.ts";
import type { GrantRule } from "./types.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface Draft {
  readonly state: Mutable<LedgerState>;
  readonly events: LedgerEvent[];
}

export const DONE: Outcome = { ok: true, result: "done" };
export const NOTHING: Outcome = { ok: true, result: "nothing" };

export function refusal(code: RefusalCode, reason: string, renewal?: Renewal): Outcome {
  return { ok: false, code, reason, ...(renewal === undefined ? {} : { renewal }) };
}

export function emit({ state, events }: Draft, event: LedgerEvent): void {
  events.push(event);
  const entry = { at: state.now, event: event.type, ...told(event) } satisfies AuditEntry;
  state.audit = [...state.audit, entry].slice(-GRANT_AUDIT_KEPT_MAX);
}

/** What the audit says of an event (C7): why a grant is there, what ended it, how it comes back. */
function told(event: LedgerEvent): Pick<AuditEntry, "handle" | "text"> {
  switch (event.type) {
    case "grant.requested":
      return { handle: event.handle, text: `${event.rule}: ${event.reason}` };
    case "grant.granted": {
      const { handle, rule, by, reason } = event.grant;
      return { handle, text: `${rule ?? "besides the contract"}, by ${by}: ${reason}` };
    }
    case "grant.refused":
    case "grant.stale":
      return { handle: event.handle, text: event.reason };
    case "grant.used":
      return { handle: event.handle, text: event.invocation };
    case "grant.closing":
      return { handle: event.handle, text: event.cause.text };
    case "grant.closed":
      return { handle: event.handle, text: `${event.cause.text}; ${event.renewal.text}` };
    case "phase.changed":
      return { handle: null, text: `${event.from ?? "no phase"} → ${event.to}` };
    case "contract.set":
      return { handle: null, text: event.task ?? "none" };
    case "epoch.bumped":
      return { handle: null, text: String(event.epoch) };
  }
}

export function ruleNamed(state: LedgerState, name: string | null): GrantRule | undefined {
  return state.contract?.grants.find((rule) => rule.name === name);
}

export function grantOf(state: LedgerState, handle: string): Grant | undefined {
  return state.grants.find((grant) => grant.handle === handle);
}

export function replace({ state }: Draft, changed: Grant): void {
  state.grants = state.grants.map((grant) => (grant.handle === changed.handle ? changed : grant));
}

/** From here on there is no new use; what runs has to be killed before it is closed. */
export function beginClosing(draft: Draft, grant: Grant, cause: CloseCause): void {
  if (grant.state === "closing") return;
  replace(draft, { ...grant, state: "closing", cause, closingAt: draft.state.now });
  if (grant.rule !== null && (cause.kind === "closure" || cause.kind === "revoked")) {
    markSpent(draft, grant.rule, cause);
  }
  emit(draft, { type: "grant.closing", handle: grant.handle, cause, running: grant.running });
}

/** Only a person or the phase brings the rule back: what the agent asks for reopens nothing (C5). */
export function markSpent({ state }: Draft, rule: string, cause: CloseCause): void {
  state.spent = [...state.spent.filter((each) => each.rule !== rule), { rule, cause }];
}

export function restoreRule({ state }: Draft, rule: string): void {
  state.spent = state.spent.filter((each) => each.rule !== rule);
  state.counts = state.counts.filter((each) => each.rule !== rule);
}

/** Uses that a counted rule still has; null where it is not counted. */
export function usesLeftOf(state: LedgerState, rule: GrantRule): number | null {
  if (rule.uses === null) return null;
  const used = state.counts.find((each) => each.rule === rule.name)?.used ?? 0;
  return Math.max(0, rule.uses - used);
}

/** What ends all grants of a ledger at once: another contract, and the end of the session they were given to. */
import { beginClosing, DONE, type Draft, emit, NOTHING } from "./draft.ts";
import type { CloseCause, LedgerCommand, Outcome } from "./ledger-types.ts";

type Command<T extends LedgerCommand["type"]> = Extract<LedgerCommand, { readonly type: T }>;

/** The epoch goes on: a handle of the old contract must not look new under the next. */
export function contractSet(draft: Draft, { contract, by }: Command<"contractSet">): Outcome {
  const { state } = draft;
  if (contract === null && state.contract === null) return NOTHING;
  const text = contract === null ? `${by} cleared the contract` : `${by} set another contract`;
  endAll(draft, { kind: "revoked", text });
  state.contract = contract;
  state.phase = contract?.phases[0] ?? null;
  state.spent = [];
  state.counts = [];
  emit(draft, { type: "contract.set", task: contract?.task ?? null, phase: state.phase });
  return DONE;
}

export function sessionEnded(draft: Draft, { reason }: Command<"sessionEnded">): Outcome {
  const { state } = draft;
  const held = state.grants.some((grant) => grant.state !== "closing");
  if (!held && state.pending.length === 0) return NOTHING;
  endAll(draft, { kind: "released", text: reason });
  return DONE;
}

function endAll(draft: Draft, cause: CloseCause): void {
  const { state } = draft;
  for (const grant of state.grants) beginClosing(draft, grant, cause);
  for (const { handle } of state.pending) {
    emit(draft, { type: "grant.refused", handle, reason: cause.text });
  }
  state.pending = [];
}

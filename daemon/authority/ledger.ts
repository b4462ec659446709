/** One session's authority as a state machine (C2–C7): a command in, the next state, its events and an answer out. Pure. */
import { closingDone, closureFired, expire, phaseChanged, release, revoke } from "./closing.ts";
import { DONE, type Draft, emit } from "./draft.ts";
import {
  LEDGER_VERSION,
  type LedgerCommand,
  type LedgerState,
  type Outcome,
  type Step,
} from "./ledger-types.ts";
import { approve, give, refuse, request } from "./opening.ts";
import { contractSet, sessionEnded } from "./replacing.ts";
import type { Contract } from "./types.ts";
import { finish, invoke } from "./using.ts";

/** What a session starts with: the envelope and nothing else. `now`: Unix milliseconds. */
export function newLedger(session: string, contract: Contract | null, now: number): LedgerState {
  return {
    version: LEDGER_VERSION,
    session,
    contract,
    epoch: 1,
    phase: contract?.phases[0] ?? null,
    now,
    pending: [],
    grants: [],
    closed: [],
    spent: [],
    counts: [],
    audit: [],
  };
}

/**
 * Never throws: a refusal is the step's outcome. What is over at the command's time ends before the command is looked
 * at, so no order of ticks and uses lets a late use through. The given state is left as it is.
 */
export function step(before: LedgerState, command: LedgerCommand): Step {
  const now = Number.isFinite(command.now) ? Math.max(before.now, command.now) : before.now;
  const draft: Draft = { state: { ...before, now }, events: [] };
  expire(draft);
  const outcome = apply(draft, command);
  const replaced = draft.events.some(({ type }) => type === "contract.set");
  if (replaced || shown(draft.state) !== shown(before)) {
    draft.state.epoch = before.epoch + 1;
    emit(draft, { type: "epoch.bumped", epoch: draft.state.epoch });
  }
  return { state: draft.state, events: draft.events, outcome };
}

function apply(draft: Draft, command: LedgerCommand): Outcome {
  switch (command.type) {
    case "request":
      return request(draft, command);
    case "approve":
      return approve(draft, command);
    case "refuse":
      return refuse(draft, command);
    case "give":
      return give(draft, command);
    case "invoke":
      return invoke(draft, command);
    case "finish":
      return finish(draft, command);
    case "closureFired":
      return closureFired(draft, command);
    case "phaseChanged":
      return phaseChanged(draft, command);
    case "tick":
      return DONE;
    case "revoke":
      return revoke(draft, command);
    case "release":
      return release(draft, command);
    case "contractSet":
      return contractSet(draft, command);
    case "sessionEnded":
      return sessionEnded(draft, command);
    case "closingDone":
      return closingDone(draft, command);
  }
}

/** What an interface is about: when this changes, the epoch does. */
function shown({ phase, grants, spent }: LedgerState): string {
  const live = grants.filter(({ state }) => state === "live").map(({ handle }) => handle);
  return JSON.stringify([phase, live, spent.map(({ rule }) => rule).sort()]);
}

/** Uses of live handles: counted exactly, all handles of an invocation or none (C4, C6). */
import { GRANT_HANDLE_CHARS_MAX, GRANT_INVOCATIONS_MAX } from "../limits-authority.ts";
import {
  beginClosing,
  DONE,
  type Draft,
  emit,
  grantOf,
  markSpent,
  NOTHING,
  refusal,
  replace,
  ruleNamed,
  usesLeftOf,
} from "./draft.ts";
import type { Grant, LedgerCommand, Outcome } from "./ledger-types.ts";
import { staleness, USED_UP } from "./renewal.ts";

type Command<T extends LedgerCommand["type"]> = Extract<LedgerCommand, { readonly type: T }>;

/** `invoke` runs under the caller's lock, in the same turn as the start: what it allows has started, or nothing has. */
export function invoke(draft: Draft, command: Command<"invoke">): Outcome {
  const { state } = draft;
  const { invocation, epoch } = command;
  const handles = [...new Set(command.handles)];
  if (handles.length === 0) return refusal("bad-value", "an invocation presents a handle");
  if (invocation === "" || invocation.length > GRANT_HANDLE_CHARS_MAX) {
    return refusal(
      "bad-value",
      `an invocation is named by 1 to ${GRANT_HANDLE_CHARS_MAX} characters`,
    );
  }
  const running = state.grants.flatMap((grant) => grant.running);
  if (running.includes(invocation)) return refusal("bad-value", `${invocation} runs already`);
  if (new Set(running).size >= GRANT_INVOCATIONS_MAX) {
    return refusal("too-many", `${GRANT_INVOCATIONS_MAX} invocations run already: wait for one`);
  }
  const grants: Grant[] = [];
  for (const handle of handles) {
    const stale = staleness(state, handle, state.now);
    if (stale !== null) {
      emit(draft, { type: "grant.stale", handle, reason: stale.reason });
      return refusal("stale", `the handle ${handle} is not live: ${stale.reason}`, stale.renewal);
    }
    const grant = grantOf(state, handle) as Grant;
    if (epoch !== undefined && (epoch < grant.epoch || epoch > state.epoch)) {
      const reason = `${handle} is in the interface since epoch ${grant.epoch}, not in that of ${epoch}: read the interface again`;
      emit(draft, { type: "grant.stale", handle, reason });
      return refusal("not-yet-visible", reason);
    }
    grants.push(grant);
  }
  for (const grant of grants) use(draft, grant, invocation);
  return DONE;
}

function use(draft: Draft, grant: Grant, invocation: string): void {
  const { state } = draft;
  const { handle } = grant;
  const usesLeft = grant.usesLeft === null ? null : grant.usesLeft - 1;
  const running = [...grant.running, invocation];
  // What runs by the last use may end in peace; there is no other use, and the interface shows it no more.
  const after = usesLeft === 0 ? ("spent" as const) : grant.state;
  replace(draft, { ...grant, usesLeft, running, state: after });
  emit(draft, { type: "grant.used", handle, invocation, usesLeft });
  const rule = ruleNamed(state, grant.rule);
  if (rule === undefined || rule.uses === null) return;
  const used = rule.uses - (usesLeftOf(state, rule) ?? 0) + 1;
  state.counts = [
    ...state.counts.filter((each) => each.rule !== rule.name),
    { rule: rule.name, used },
  ];
  if (used >= rule.uses) markSpent(draft, rule.name, USED_UP);
}

export function finish(draft: Draft, { invocation }: Command<"finish">): Outcome {
  const grants = draft.state.grants.filter(({ running }) => running.includes(invocation));
  for (const grant of grants) {
    const running = grant.running.filter((each) => each !== invocation);
    const rest = { ...grant, running };
    replace(draft, rest);
    if (rest.state === "spent" && running.length === 0) beginClosing(draft, rest, USED_UP);
  }
  return grants.length === 0 ? NOTHING : DONE;
}

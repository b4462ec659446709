/** Requests, and what a person says to them: how a right comes into being (C2, C3). */
import {
  GRANT_HANDLE_CHARS_MAX,
  GRANT_REASON_CHARS_MAX,
  GRANT_TTL_MAX_MS,
  GRANT_USES_MAX,
  GRANTS_LIVE_MAX,
  GRANTS_PENDING_MAX,
} from "../limits-authority.ts";
import { parseHostPattern } from "../policy/host-patterns.ts";
import { DONE, type Draft, emit, refusal, restoreRule, ruleNamed, usesLeftOf } from "./draft.ts";
import { durationText } from "./durations.ts";
import type {
  Grant,
  LedgerCommand,
  LedgerState,
  Narrowing,
  Outcome,
  PendingGrant,
} from "./ledger-types.ts";
import { inPhase, renewalOf } from "./renewal.ts";
import { beyond, deniedBy, parsePathPattern, parseWritePath } from "./resources.ts";
import { type GrantRule, NO_RESOURCE, type Resource } from "./types.ts";

type Command<T extends LedgerCommand["type"]> = Extract<LedgerCommand, { readonly type: T }>;

export function request(draft: Draft, command: Command<"request">): Outcome {
  const { state } = draft;
  const { handle, reason } = command;
  const said = (outcome: Outcome): Outcome => {
    if (!outcome.ok) emit(draft, { type: "grant.refused", handle, reason: outcome.reason });
    return outcome;
  };
  const wrong = badHandle(state, handle) ?? badReason(reason);
  if (wrong !== null) return said(wrong);
  const rule = ruleNamed(state, command.rule);
  if (rule === undefined) return said(unknownRule(state, command.rule));
  const narrowed = narrow(rule, command.narrow ?? {}, state.contract?.deny ?? NO_RESOURCE);
  if (narrowed.refused !== undefined) return said(narrowed.refused);
  const not = notNow(state, rule);
  if (not !== null) return said(not);
  const { name } = rule;
  const asking: PendingGrant = { handle, rule: name, reason, requestedAt: state.now, ...narrowed };
  emit(draft, { type: "grant.requested", handle, rule: name, reason });
  if (rule.approval === "person" || state.spent.some((each) => each.rule === name)) {
    if (state.pending.length >= GRANTS_PENDING_MAX) {
      return said(refusal("too-many", `${GRANTS_PENDING_MAX} requests wait for a person already`));
    }
    state.pending = [...state.pending, asking];
    return { ok: true, result: "pending" };
  }
  open(draft, fromRule(state, asking, rule, `the contract ${state.contract?.task}`));
  return { ok: true, result: "granted" };
}

export function approve(draft: Draft, command: Command<"approve">): Outcome {
  const { state } = draft;
  const { handle, by, ttlMs, closes = [], thisPhase = false } = command;
  const asking = state.pending.find((each) => each.handle === handle);
  if (asking === undefined) return refusal("not-pending", `no request waits as ${handle}`);
  if (by === "") return refusal("bad-value", "an approval names who gave it");
  if (ttlMs !== undefined && !(isTime(ttlMs) && ttlMs <= asking.ttlMs)) {
    return refusal("bad-value", `${ttlMs} ms is not within ${durationText(asking.ttlMs)}`);
  }
  if (thisPhase && state.phase === null) {
    return refusal(
      "bad-value",
      "no phase could end it, the worktree has none: name a ttl or a closure",
    );
  }
  const rule = ruleNamed(state, asking.rule) as GrantRule;
  if (state.grants.length >= GRANTS_LIVE_MAX) return tooManyLive();
  state.pending = state.pending.filter((each) => each !== asking);
  restoreRule(draft, rule.name);
  const granted = fromRule(state, { ...asking, ttlMs: ttlMs ?? asking.ttlMs }, rule, by);
  const phases = thisPhase && state.phase !== null ? [state.phase] : granted.phases;
  const more = closes.filter(({ name }) => !granted.closes.some((each) => each.name === name));
  open(draft, { ...granted, phases, closes: [...granted.closes, ...more] });
  return { ok: true, result: "granted" };
}

export function refuse(draft: Draft, { handle, by, reason }: Command<"refuse">): Outcome {
  const { state } = draft;
  if (!state.pending.some((each) => each.handle === handle)) {
    return refusal("not-pending", `no request waits as ${handle}`);
  }
  state.pending = state.pending.filter((each) => each.handle !== handle);
  emit(draft, { type: "grant.refused", handle, reason: `${by} refused: ${reason}` });
  return DONE;
}

export function give(draft: Draft, command: Command<"give">): Outcome {
  const { state } = draft;
  const { handle, by, reason, effect, ttlMs, uses, closes = [], thisPhase = false } = command;
  const resource = readable(command.resource);
  const bad = (why: string) => refusal("bad-value", why);
  const wrong =
    badHandle(state, handle) ??
    badReason(reason) ??
    (by === "" ? bad("it names who gives it") : null);
  if (wrong !== null) return wrong;
  if (typeof resource === "string") return bad(resource);
  if (Object.values(resource).every((list) => list.length === 0)) return bad("it is on nothing");
  const unheld = effect === "write" ? unwritable(resource.paths) : null;
  if (unheld !== null) return bad(unheld);
  if (!(isTime(ttlMs) && ttlMs <= GRANT_TTL_MAX_MS)) {
    return bad(`a grant ends within ${durationText(GRANT_TTL_MAX_MS)}`);
  }
  if (uses !== undefined && !isCount(uses)) return bad(`${uses} is no number of uses`);
  if (thisPhase && state.phase === null)
    return bad("no phase could end it, the worktree has none: name a ttl or a closure");
  const denied = deniedBy(resource, state.contract?.deny ?? NO_RESOURCE);
  if (denied !== null) return refusal("denied", denied);
  if (state.grants.length >= GRANTS_LIVE_MAX) return tooManyLive();
  const asked = { handle, reason, ttlMs, uses: uses ?? null, ...resource };
  const phases = thisPhase && state.phase !== null ? [state.phase] : [];
  open(draft, grantOf(state, asked, { rule: null, effect, by, phases, closes }));
  return { ok: true, result: "granted" };
}

function open(draft: Draft, grant: Grant): void {
  draft.state.grants = [...draft.state.grants, grant];
  emit(draft, { type: "grant.granted", grant });
}

function fromRule(state: LedgerState, asking: PendingGrant, rule: GrantRule, by: string): Grant {
  const closes = state.contract?.closures.filter(({ name }) => rule.closes.includes(name)) ?? [];
  const left = usesLeftOf(state, rule);
  const uses = left === null ? asking.uses : Math.min(left, asking.uses ?? left);
  const { name, effect, phases } = rule;
  return grantOf(state, { ...asking, uses }, { rule: name, effect, by, phases, closes });
}

function grantOf(
  state: LedgerState,
  asked: Omit<PendingGrant, "rule" | "requestedAt">,
  rest: Pick<Grant, "rule" | "effect" | "by" | "phases" | "closes">,
): Grant {
  const { handle, reason, paths, hosts, commands, ttlMs, uses } = asked;
  const limits = rest.closes.flatMap(({ when }) => (when.kind === "ttl" ? [when.ms] : []));
  return {
    handle,
    ...rest,
    reason,
    paths,
    hosts,
    commands,
    // It is in the next interface, not in the one that was asked from (C3).
    epoch: state.epoch + 1,
    grantedAt: state.now,
    expiresAt: state.now + Math.min(ttlMs, ...limits),
    usesLeft: uses,
    running: [],
    state: "live",
    cause: null,
    closingAt: null,
  };
}

type Narrowed =
  | (Resource & {
      readonly ttlMs: number;
      readonly uses: number | null;
      readonly refused?: undefined;
    })
  | { readonly refused: Outcome };

/** The rule's resource with what the request leaves of it. An agent can only make it smaller. */
function narrow(rule: GrantRule, by: Narrowing, deny: Resource): Narrowed {
  const bad = (reason: string): Narrowed => ({ refused: refusal("bad-value", reason) });
  const { ttlMs = rule.ttlMs, uses = rule.uses } = by;
  for (const key of ["paths", "hosts", "commands"] as const) {
    if (by[key]?.length === 0) return bad(`${key} is empty: leave it out for all of the rule`);
  }
  const resource = readable({
    paths: by.paths ?? rule.paths,
    hosts: by.hosts ?? rule.hosts,
    commands: by.commands ?? rule.commands,
  });
  if (typeof resource === "string") return bad(resource);
  // G first (C1).
  const denied = deniedBy(resource, deny);
  if (denied !== null) return { refused: refusal("denied", denied) };
  const unheld = rule.effect === "write" ? unwritable(resource.paths) : null;
  if (unheld !== null) return bad(unheld);
  if (!isTime(ttlMs)) return bad(`${ttlMs} ms is no time`);
  if (uses !== null && !isCount(uses)) return bad(`${uses} is no number of uses`);
  const more =
    beyond(resource, rule) ??
    (ttlMs > rule.ttlMs ? `it lasts ${durationText(rule.ttlMs)} at most` : null) ??
    (uses !== null && rule.uses !== null && uses > rule.uses ? `it has ${rule.uses} uses` : null);
  if (more !== null) {
    const reason = `${rule.name} does not reach so far: ${more}`;
    return { refused: refusal("beyond-rule", reason) };
  }
  return { ...resource, ttlMs, uses };
}

/** The resource in its one spelling, or what of it cannot be read. */
function readable({ paths, hosts, commands }: Resource): Resource | string {
  const spelled: string[] = [];
  for (const path of paths) {
    const parsed = parsePathPattern(path);
    if (parsed.refused !== undefined) return `the path ${path} ${parsed.refused}`;
    spelled.push(parsed.path);
  }
  const named: string[] = [];
  for (const host of hosts) {
    const parsed = parseHostPattern(host);
    if (parsed.refused !== undefined) return `the host ${host} is refused: ${parsed.refused}`;
    named.push(parsed.pattern);
  }
  if (commands.some(([program]) => program === undefined || program === "")) {
    return "a command begins with the name of a program";
  }
  return { paths: spelled, hosts: named, commands };
}

function unwritable(paths: readonly string[]): string | null {
  for (const path of paths) {
    const { refused } = parseWritePath(path);
    if (refused !== undefined) return `the path ${path} ${refused}`;
  }
  return null;
}

/** Whole milliseconds, so that an end is later than its beginning. */
function isTime(ms: number): boolean {
  return Number.isSafeInteger(ms) && ms >= 1;
}

function isCount(uses: number): boolean {
  return Number.isInteger(uses) && uses >= 1 && uses <= GRANT_USES_MAX;
}

/** What stands against giving a rule now: its phase, and how many there are. */
function notNow(state: LedgerState, rule: GrantRule): Outcome | null {
  if (!inPhase(rule.phases, state.phase)) {
    const reason = `${rule.name} is there in the phase ${rule.phases.join(" or ")}, now it is ${state.phase}`;
    return refusal("wrong-phase", reason, renewalOf(state, rule.name));
  }
  if (rule.uses !== null) {
    // Two grants of one rule would each count for themselves.
    const held = state.grants.find((each) => each.rule === rule.name);
    const waits = state.pending.find((each) => each.rule === rule.name);
    const todo =
      held?.state === "live"
        ? `use or release ${held.handle}`
        : held !== undefined
          ? `wait until ${held.handle} has closed`
          : waits !== undefined
            ? `${waits.handle} waits for a person`
            : null;
    if (todo !== null) return refusal("too-many", `${rule.name} is held once at a time: ${todo}`);
  }
  return state.grants.length >= GRANTS_LIVE_MAX ? tooManyLive() : null;
}

function tooManyLive(): Outcome {
  return refusal("too-many", `${GRANTS_LIVE_MAX} grants are held already: release one`);
}

function unknownRule(state: LedgerState, name: string): Outcome {
  const names = state.contract?.grants.map((rule) => rule.name) ?? [];
  const there = names.length === 0 ? "nothing can be requested" : `there are ${names.join(", ")}`;
  return refusal("unknown-rule", `there is no rule ${name.slice(0, 64)}: ${there}`);
}

function badHandle({ pending, grants, closed }: LedgerState, handle: string): Outcome | null {
  if (handle === "" || handle.length > GRANT_HANDLE_CHARS_MAX) {
    return refusal("bad-value", `a handle has 1 to ${GRANT_HANDLE_CHARS_MAX} characters`);
  }
  const known = [...pending, ...grants, ...closed].some((each) => each.handle === handle);
  return known ? refusal("handle-used", "the handle was given before: make a new one") : null;
}

function badReason(reason: string): Outcome | null {
  if (reason.trim() !== "" && reason.length <= GRANT_REASON_CHARS_MAX) return null;
  return refusal("bad-value", `give a reason of 1 to ${GRANT_REASON_CHARS_MAX} characters`);
}

/** What an agent sees: exactly the authority it has now, and what changed since it last looked. */
import type { Standing } from "../policy/types.ts";
import { durationText } from "./durations.ts";
import { type StandingEntry, standingEnvelope } from "./envelope.ts";
import type { LedgerState } from "./ledger-types.ts";
import { inPhase, renewalOf } from "./renewal.ts";
import { type Closure, type GrantableEffect, NO_RESOURCE, type Resource } from "./types.ts";

export interface ShownGrant extends Resource {
  readonly handle: string;
  readonly rule: string | null;
  readonly effect: GrantableEffect;
  readonly reason: string;
  readonly expiresAt: number;
  /** null: not counted. */
  readonly usesLeft: number | null;
  /** What ends it before that, one phrase each. */
  readonly endsWith: readonly string[];
  /** How it comes back after it ended. */
  readonly renewal: string;
}

export interface RequestableRule extends Resource {
  readonly rule: string;
  readonly effect: GrantableEffect;
  readonly description: string;
  readonly ttlMs: number;
  /** What is left of a counted rule. */
  readonly uses: number | null;
  /** A person decides: since the rule says so, or since only a person renews it. */
  readonly approval: "none" | "person";
  readonly endsWith: readonly string[];
}

export interface AuthorityInterface {
  readonly session: string;
  readonly task: string | null;
  readonly epoch: number;
  readonly phase: string | null;
  /** What needs no handle. */
  readonly envelope: readonly StandingEntry[];
  readonly grants: readonly ShownGrant[];
  readonly requestable: readonly RequestableRule[];
  readonly pending: readonly string[];
  /** G: what nothing lifts. */
  readonly denied: Resource;
}

/** The interface at `now`, under the standing permission of the session's profile. */
export function interfaceOf(
  state: LedgerState,
  standing: Standing,
  now: number = state.now,
): AuthorityInterface {
  const { contract, phase } = state;
  const time = Math.max(now, state.now);
  return {
    session: state.session,
    task: contract?.task ?? null,
    epoch: state.epoch,
    phase,
    envelope: standingEnvelope(contract, standing),
    grants: state.grants
      .filter((grant) => grant.state === "live" && grant.expiresAt > time)
      .map((grant) => ({
        handle: grant.handle,
        rule: grant.rule,
        effect: grant.effect,
        paths: grant.paths,
        hosts: grant.hosts,
        commands: grant.commands,
        reason: grant.reason,
        expiresAt: grant.expiresAt,
        usesLeft: grant.usesLeft,
        endsWith: endings(grant.closes, grant.phases),
        renewal: renewalOf(state, grant.rule).text,
      })),
    requestable: (contract?.grants ?? [])
      .filter((rule) => inPhase(rule.phases, phase))
      .map((rule) => {
        const spent = state.spent.some((each) => each.rule === rule.name);
        const used = state.counts.find((each) => each.rule === rule.name)?.used ?? 0;
        const closes = contract?.closures.filter(({ name }) => rule.closes.includes(name)) ?? [];
        return {
          rule: rule.name,
          effect: rule.effect,
          paths: rule.paths,
          hosts: rule.hosts,
          commands: rule.commands,
          description: rule.description,
          ttlMs: rule.ttlMs,
          uses: rule.uses === null ? null : spent ? rule.uses : rule.uses - used,
          approval: spent ? "person" : rule.approval,
          endsWith: endings(closes, rule.phases),
        };
      }),
    pending: state.pending.map(({ handle }) => handle),
    denied: contract?.deny ?? NO_RESOURCE,
  };
}

function endings(closes: readonly Closure[], phases: readonly string[]): readonly string[] {
  const leaving = phases.length === 0 ? [] : [`the phase is no longer ${phases.join(" or ")}`];
  return [...closes.map(endingText), ...leaving];
}

/** What fires a closure, as a phrase. */
export function endingText({ name, when }: Closure): string {
  switch (when.kind) {
    case "command":
      return `${name}: \`${when.argv.join(" ")}\` exits with ${when.exit}`;
    case "phase":
      return `${name}: the phase ${when.phase} begins`;
    case "ttl":
      return `${name}: ${durationText(when.ms)} are over`;
    case "file": {
      const { path, test } = when;
      if (test.kind === "exists") return `${name}: ${path} ${test.exists ? "exists" : "is gone"}`;
      return test.kind === "sha256"
        ? `${name}: ${path} has the content ${test.hex.slice(0, 12)}…`
        : `${name}: ${path} holds ${JSON.stringify(test.text)}`;
    }
  }
}

export interface InterfaceDiff {
  readonly epoch: { readonly from: number; readonly to: number };
  readonly phase?: { readonly from: string | null; readonly to: string | null };
  readonly added: readonly ShownGrant[];
  /** Handles that are gone: presenting one is refused from now on. */
  readonly removed: readonly string[];
  /** Still there, with other uses left. */
  readonly changed: readonly ShownGrant[];
  readonly requestable: {
    readonly added: readonly RequestableRule[];
    readonly removed: readonly string[];
    readonly changed: readonly RequestableRule[];
  };
}

/** What is different in `after`; null when nothing is. */
export function diffInterfaces(
  before: AuthorityInterface,
  after: AuthorityInterface,
): InterfaceDiff | null {
  const grants = compare(before.grants, after.grants, ({ handle }) => handle);
  const rules = compare(before.requestable, after.requestable, ({ rule }) => rule);
  const { from, to } = { from: before.phase, to: after.phase };
  const parts = [grants, rules].flatMap(({ added, removed, changed }) => [
    ...added,
    ...removed,
    ...changed,
  ]);
  if (parts.length === 0 && from === to && before.epoch === after.epoch) return null;
  return {
    epoch: { from: before.epoch, to: after.epoch },
    ...(from === to ? {} : { phase: { from, to } }),
    ...grants,
    requestable: rules,
  };
}

function compare<T>(before: readonly T[], after: readonly T[], id: (each: T) => string) {
  const old = new Map(before.map((each) => [id(each), JSON.stringify(each)]));
  const ids = new Set(after.map(id));
  return {
    added: after.filter((each) => !old.has(id(each))),
    removed: before.map(id).filter((each) => !ids.has(each)),
    changed: after.filter((each) => {
      const was = old.get(id(each));
      return was !== undefined && was !== JSON.stringify(each);
    }),
  };
}

/** A ledger in the policy's words: live grants and stale handles for its ladder, and G as absolute denies. */
import type { Authority, LiveGrant, Rule } from "../policy/types.ts";
import type { Grant, LedgerState } from "./ledger-types.ts";
import { staleness } from "./renewal.ts";
import { absoluteGlobs } from "./resources.ts";
import type { Contract } from "./types.ts";

export interface Presentation {
  /** Absolute. */
  readonly worktree: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** Handles that the caller presents. Absent: all live ones count, for the daemon to pick from. */
  readonly presented?: readonly string[];
}

/** One that is not live makes the whole request stale (rung 2): the agent acts on an interface that is gone. */
export function toAuthority(state: LedgerState, presentation: Presentation): Authority {
  const { worktree, now, presented } = presentation;
  for (const handle of presented ?? []) {
    const stale = staleness(state, handle, now);
    if (stale !== null) return { grants: [], stale: { handle, reason: stale.reason } };
  }
  return {
    grants: presentedGrants(state, presentation).map((grant) => liveGrant(grant, worktree)),
  };
}

/** The live grants that a request may rest on: those it presents, or all. */
export function presentedGrants(
  state: LedgerState,
  { now, presented }: Omit<Presentation, "worktree">,
): readonly Grant[] {
  return state.grants.filter(
    ({ handle }) =>
      (presented === undefined || presented.includes(handle)) &&
      staleness(state, handle, now) === null,
  );
}

function liveGrant(grant: Grant, worktree: string): LiveGrant {
  const { handle, effect, hosts, commands } = grant;
  const paths = absoluteGlobs(grant.paths, worktree);
  return {
    id: handle,
    // Paths that cannot be said exactly leave nothing, not everything.
    effects:
      grant.paths.length > paths.length
        ? []
        : effect === "install" && hosts.length > 0
          ? ["install", "network"]
          : [effect],
    paths,
    hosts,
    commands,
  };
}

/** G as rules of the admin, whose denies are absolute. Its hosts are for the proxy, which sees every connection. */
export function denyRules({ task, deny }: Contract): readonly Rule[] {
  const justification = `the contract ${task} denies it`;
  const rule = (kind: string, tool: Rule["tool"], pattern: readonly string[]): Rule => ({
    id: `contract/deny-${kind}`,
    source: "admin",
    action: "deny",
    tool,
    pattern,
    justification,
  });
  return [
    ...deny.paths.flatMap((glob, index) => [
      rule(`read-${index + 1}`, "read", [glob]),
      rule(`write-${index + 1}`, "write", [glob]),
    ]),
    ...deny.commands.map((prefix, index) => rule(`command-${index + 1}`, "exec", [...prefix, "*"])),
  ];
}

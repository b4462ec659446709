/** What a session's grants and contract say about one proposed action: what the policy is told, and what of its verdict stays. */
import { writablePaths } from "../../authority/envelope.ts";
import { fitVerdict } from "../../authority/fit.ts";
import { newLedger } from "../../authority/ledger.ts";
import type { Grant, LedgerState } from "../../authority/ledger-types.ts";
import { denyRules, presentedGrants, toAuthority } from "../../authority/policy-input.ts";
import type { Contract } from "../../authority/types.ts";
import type {
  Authority,
  LiveGrant,
  Match,
  PolicySettings,
  Rule,
  Verdict,
} from "../../policy/types.ts";

/** What an agent says with an action about the authority that it acts on. */
export interface Presented {
  /** The grant it acts on; absent: the daemon picks one, or the profile wants one named. */
  readonly handle?: string;
  /** The interface it acts on. */
  readonly epoch?: number;
}

/** What an allowed action rests on besides its profile. */
export interface Rests {
  /** To be invoked under the lock that starts it. */
  readonly handles: readonly string[];
  readonly epoch?: number;
  readonly grants: readonly Grant[];
  /** The same in the policy's words. */
  readonly live: readonly LiveGrant[];
  /** What it may write in place of the worktree; null: there is no contract. */
  readonly writable: readonly string[] | null;
  readonly contract: Contract | null;
  /** Holds another verdict against the same, for what an action turns out to touch. */
  readonly fit: (verdict: Verdict) => Verdict;
}

export interface Binding {
  readonly authority: Authority;
  readonly rules: readonly Rule[];
  fit(verdict: Verdict, settings: PolicySettings): { verdict: Verdict; rests: Rests };
}

export interface BindInput {
  /** null: nothing was ever given there. */
  readonly state: LedgerState | null;
  readonly presented: Presented;
  /** Whether the daemon may pick a grant that covers the action by itself. */
  readonly choice: "pick" | "present";
  readonly worktree: string;
  readonly now: number;
}

/** null: no contract, no grants, and none presented: the profile alone decides, at no cost. */
export function bind({ state, presented, choice, worktree, now }: BindInput): Binding | null {
  const { handle, epoch } = presented;
  if (handle === undefined) {
    if (state === null) return null;
    if (state.contract === null && state.grants.length === 0) return null;
  }
  const ledger = state ?? newLedger("", null, now);
  const { contract } = ledger;
  const handles = presentedHandles(ledger, presented, choice);
  const presentation = { worktree, now, ...(handles === undefined ? {} : { presented: handles }) };
  const unseen = notShown(ledger, presented);
  const authority =
    unseen === null ? toAuthority(ledger, presentation) : { grants: [], stale: unseen };
  return {
    authority,
    rules: contract === null ? [] : denyRules(contract),
    fit(verdict, { scratch, kernelConfinement: held = true }) {
      const grants = presentedGrants(ledger, presentation);
      const fitting = { contract, grants, worktree, scratch, held };
      const fitted = fitVerdict(verdict, fitting);
      const ambiguous = fitted.ambiguous && handle === undefined;
      const allowed = fitted.verdict.verdict === "allow" && !ambiguous;
      // What is presented is acted on, needed or not: it gives its folders to a command that runs project code.
      const used = new Set(allowed ? fitted.handles : []);
      if (allowed && handle !== undefined) used.add(handle);
      const rest = grants.filter((grant) => used.has(grant.handle));
      return {
        verdict: ambiguous ? refusedAsAmbiguous(fitted.verdict, grants) : fitted.verdict,
        rests: {
          handles: [...used],
          ...(epoch === undefined ? {} : { epoch }),
          grants: rest,
          live: authority.grants.filter(({ id }) => used.has(id)),
          writable: writablePaths(contract, rest, worktree),
          contract,
          fit: (each) => fitVerdict(each, fitting).verdict,
        },
      };
    },
  };
}

/** undefined: all. */
function presentedHandles(
  { grants }: LedgerState,
  { handle, epoch }: Presented,
  choice: BindInput["choice"],
): readonly string[] | undefined {
  if (handle !== undefined) return [handle];
  if (choice === "present") return [];
  if (epoch === undefined) return undefined;
  // An action that was thought out over an older interface is not carried by what came later.
  return grants.filter((each) => each.state === "live" && each.epoch <= epoch).map(handleOf);
}

function handleOf({ handle }: Grant): string {
  return handle;
}

function notShown({ grants, epoch: current }: LedgerState, { handle, epoch }: Presented) {
  if (handle === undefined || epoch === undefined) return null;
  const grant = grants.find((each) => each.handle === handle);
  if (grant === undefined || (epoch >= grant.epoch && epoch <= current)) return null;
  const reason = `it is in the interface since epoch ${grant.epoch}, not in that of ${epoch}: read the interface again`;
  return { handle, reason };
}

function refusedAsAmbiguous(verdict: Verdict, grants: readonly Grant[]): Verdict {
  const names = grants.map(({ handle, rule }) => `${handle} (${rule ?? "given by a person"})`);
  const reason = "is covered by several live grants, and only one of them is meant";
  const match: Match = {
    rung: "stale-authority",
    rule: "handle/ambiguous",
    decision: "deny",
    reason,
  };
  const { rung, rule } = match;
  const { always: _, ...rest } = verdict;
  return {
    ...rest,
    verdict: "deny",
    roots: [],
    segments: verdict.segments.map((segment) => ({
      ...segment,
      verdict: "deny",
      rung,
      rule,
      reason,
      matches: [...segment.matches, match],
    })),
    reason: `it ${reason} (${rule})`,
    instead: `send it again with handle: ${names.join(" or ")}`,
  };
}

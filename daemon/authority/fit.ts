/** Holds a verdict of the policy against the contract it was made under, and says which grants it rests on (C1, C4). */
import { stricter } from "../policy/evaluate.ts";
import { namesHost } from "../policy/host-patterns.ts";
import { isWithin } from "../policy/paths.ts";
import type { Effect, Match, SegmentVerdict, Verdict } from "../policy/types.ts";
import type { Grant } from "./ledger-types.ts";
import { coversCommand, namesPath } from "./resources.ts";
import type { Contract, EnvelopeEntry } from "./types.ts";

export interface Fitting {
  readonly contract: Contract | null;
  /** The grants that the verdict was made with: those `presentedGrants` names. */
  readonly grants: readonly Grant[];
  readonly worktree: string;
  /** The sandbox's own folders, which no contract bounds. */
  readonly scratch: readonly string[];
  /** Whether the kernel, or the daemon itself, keeps what it does to the folders that contract and grants name. */
  readonly held: boolean;
}

export interface Fitted {
  readonly verdict: Verdict;
  /**
   * What an allowed command rests on: `invoke` these under the lock that starts it, so that its uses count and it dies
   * with them.
   */
  readonly handles: readonly string[];
  /** Another live grant would cover the same: only a presented handle says which one is meant. */
  readonly ambiguous: boolean;
}

/**
 * A host that G names is denied, and what profile, rules or scope allow beyond the envelope and the grants asks. A
 * session without a contract has all that its profile gives. The policy itself does not know contracts, so nothing may
 * run that did not come through here.
 */
export function fitVerdict(verdict: Verdict, fitting: Fitting): Fitted {
  const { contract, grants, held } = fitting;
  const rests = new Set<string>();
  let ambiguous = false;
  const segments = verdict.segments.map((segment): SegmentVerdict => {
    for (const { rung, rule } of segment.matches) {
      if (rung === "grant" && grants.some(({ handle }) => handle === rule)) rests.add(rule);
    }
    const match = contract === null ? null : denied(segment, contract);
    if (match !== null) return overruled(segment, match);
    if (segment.verdict !== "allow") return segment;
    for (const effect of segment.effects) {
      const cover = coverOf(effect, segment, fitting, rests);
      if (cover === null && contract !== null) return overruled(segment, beyond(effect, contract));
      if (contract !== null && !held && isLoose(effect, segment)) {
        return overruled(segment, unheld(effect, contract));
      }
      for (const handle of cover?.handles ?? []) rests.add(handle);
      ambiguous ||= cover?.ambiguous ?? false;
    }
    return segment;
  });
  const fitted = withSegments(verdict, segments, contract);
  if (fitted.verdict !== "allow") return { verdict: fitted, handles: [], ambiguous: false };
  return { verdict: fitted, handles: [...rests], ambiguous };
}

function denied({ hosts = [], verdict }: SegmentVerdict, { task, deny }: Contract): Match | null {
  const host = hosts.find((each) => namesHost(deny.hosts, each));
  if (host === undefined || verdict === "deny") return null;
  const reason = `reaches ${host}, which the contract ${task} denies`;
  return { rung: "absolute-deny", rule: "contract/deny-host", decision: "deny", reason };
}

/** It may write where its words do not say. */
function isLoose(effect: Effect, { paths }: SegmentVerdict): boolean {
  return (
    effect === "run" || (effect === "write" && !paths.some(({ access }) => access === "write"))
  );
}

function unheld(effect: Effect, { task }: Contract): Match {
  const reason = `may write beyond what the contract ${task} names: no kernel holds commands in this sandbox (${effect})`;
  return { rung: "default", rule: "contract/kernel", decision: "ask", reason };
}

function beyond(effect: Effect, { task }: Contract): Match {
  const reason = `is beyond the envelope of the contract ${task} (${effect})`;
  return { rung: "default", rule: `contract/${effect}`, decision: "ask", reason };
}

function overruled(segment: SegmentVerdict, match: Match): SegmentVerdict {
  const { decision, rung, rule, reason } = match;
  return {
    ...segment,
    verdict: decision,
    rung,
    rule,
    reason,
    matches: [...segment.matches, match],
  };
}

function withSegments(
  verdict: Verdict,
  segments: readonly SegmentVerdict[],
  contract: Contract | null,
): Verdict {
  if (contract === null) return verdict;
  if (segments.every((segment, index) => segment === verdict.segments[index])) {
    return namingRules(verdict, contract);
  }
  // *Always* would store a rule that the contract stands above anyway.
  const { always: _, ...rest } = verdict;
  const strictest = segments.map((segment) => segment.verdict).reduce(stricter);
  if (strictest === verdict.verdict) return { ...rest, segments };
  const deciding = segments.find((segment) => segment.verdict === strictest) as SegmentVerdict;
  return {
    ...rest,
    verdict: strictest,
    roots: [],
    segments,
    reason: `\`${deciding.text}\` ${deciding.reason} (${deciding.rule})`,
    instead: insteadOf(contract, deciding),
  };
}

/** Where it is the profile that asks, a grant settles it as well: the rules that could be requested are named. */
function namingRules(verdict: Verdict, contract: Contract): Verdict {
  const asking = verdict.segments.filter((segment) => segment.verdict === "ask");
  const [first] = asking;
  if (verdict.verdict !== "ask" || first === undefined) return verdict;
  if (asking.some(({ rung }) => rung !== "default")) return verdict;
  const rules = rulesFor(contract, first.effects);
  return rules === null ? verdict : { ...verdict, instead: rules };
}

function insteadOf(contract: Contract, { effects, rule, verdict }: SegmentVerdict): string {
  if (verdict === "deny") return "leave it out: nothing lifts what the contract denies";
  if (rule === "contract/kernel") return "use the file API, which keeps to what is named";
  return rulesFor(contract, effects) ?? "stay within the envelope that the interface shows";
}

/** null: the contract has none for these effects. */
function rulesFor(contract: Contract, effects: readonly Effect[]): string | null {
  const rules = contract.grants.filter(({ effect }) => effects.includes(effect));
  if (rules.length === 0) return null;
  return `request a grant: ${rules.map(({ name }) => name).join(" or ")}`;
}

type Cover = Pick<Fitted, "handles" | "ambiguous">;
const NEEDS_NONE: Cover = { handles: [], ambiguous: false };

/** What of envelope and grants covers one effect of a segment; null when something of it is covered by nothing. */
function coverOf(
  effect: Effect,
  segment: SegmentVerdict,
  { contract, grants, worktree, scratch }: Fitting,
  rests: ReadonlySet<string>,
): Cover | null {
  // Without a contract the profile's word was enough, and the grants that were needed are in the matches.
  if (contract === null) return NEEDS_NONE;
  // The sandbox's own network leads nowhere; the profile alone decides about it.
  if (effect === "network" && !segment.classes.includes("network")) return NEEDS_NONE;
  const begins = ({ commands }: EnvelopeEntry | Grant): boolean =>
    commands.length === 0 || commands.some((prefix) => coversCommand(prefix, segment.argv ?? []));
  const standing = contract.envelope.filter((each) => each.effect === effect && begins(each));
  const held = grants.filter(
    (each) =>
      (each.effect === effect || (each.effect === "install" && effect === "network")) &&
      begins(each),
  );
  if (effect === "network") {
    const { hosts = [] } = segment;
    if (hosts.length === 0) return null;
    return choose(
      hosts.map((host) => held.filter((grant) => namesHost(grant.hosts, host))),
      rests,
    );
  }
  const names = ({ paths }: EnvelopeEntry | Grant, path: string, real: string): boolean =>
    paths.length === 0 || (namesPath(paths, worktree, path) && namesPath(paths, worktree, real));
  // A worktree below a scratch folder, /tmp say, is none of the sandbox's own.
  const own = (path: string) =>
    !isWithin(path, worktree) && scratch.some((root) => isWithin(path, root));
  const touched = segment.paths
    .filter(({ access }) => (effect === "read" || effect === "write" ? access === effect : true))
    .map(({ path, real = path }) => ({ path, real }));
  const bounded = touched.filter(({ path, real }) => !(own(path) && own(real)));
  // What touches no path, or the sandbox's own folders alone, still has to be of an effect that is there.
  if (bounded.length === 0) {
    const sandboxOnly = touched.length > 0 && (effect === "read" || effect === "write");
    return standing.length > 0 || sandboxOnly ? NEEDS_NONE : choose([held], rests);
  }
  const open = bounded.filter(
    ({ path, real }) => !standing.some((each) => names(each, path, real)),
  );
  return choose(
    open.map(({ path, real }) => held.filter((grant) => names(grant, path, real))),
    rests,
  );
}

/** One grant for each need: one that is in use already, else the first. */
function choose(needs: readonly (readonly Grant[])[], rests: ReadonlySet<string>): Cover | null {
  const handles = new Set<string>();
  let ambiguous = false;
  for (const candidates of needs) {
    const chosen =
      candidates.find(({ handle }) => rests.has(handle) || handles.has(handle)) ?? candidates[0];
    if (chosen === undefined) return null;
    handles.add(chosen.handle);
    ambiguous ||= candidates.length > 1;
  }
  return { handles: [...handles], ambiguous };
}

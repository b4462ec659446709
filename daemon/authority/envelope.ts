/** The authority a session has without a handle: its profile's standing permission, narrowed by its contract's envelope (C1). */
import { stricter } from "../policy/evaluate.ts";
import type {
  Effect,
  Match,
  SegmentVerdict,
  Standing,
  StandingClass,
  Verdict,
} from "../policy/types.ts";
import { namesHost } from "./host-patterns.ts";
import type { Grant } from "./ledger-types.ts";
import { absoluteGlobs, coversCommand, folderOf, namesPath } from "./resources.ts";
import { STANDING_CLASSES } from "./standing-classes.ts";
import type { Contract, GrantableEffect, Resource } from "./types.ts";

/** Part of the standing authority, with the classes of action that the profile allows of it. */
export interface StandingEntry extends Resource {
  readonly effect: GrantableEffect;
  readonly classes: readonly StandingClass[];
}

const STANDING_EFFECTS = ["read", "write", "run", "git-write", "network"] as const;

/**
 * Without a contract all that the profile allows; with one, what both allow. The contract never adds: an entry that the
 * profile asks about is not in it.
 */
export function standingEnvelope(
  contract: Contract | null,
  standing: Standing,
): readonly StandingEntry[] {
  const everything = STANDING_EFFECTS.map((effect) => ({
    effect,
    paths: [],
    hosts: [],
    commands: [],
  }));
  return (contract?.envelope ?? everything).flatMap((entry) => {
    const classes = STANDING_CLASSES[entry.effect].filter((cls) => standing[cls] === "allow");
    return classes.length === 0 ? [] : [{ ...entry, classes }];
  });
}

export interface Fitting {
  readonly contract: Contract | null;
  /** The grants that the verdict was made with: those `toAuthority` gave. */
  readonly grants: readonly Grant[];
  readonly worktree: string;
  /** The sandbox's own folders, which no contract bounds. */
  readonly scratch: readonly string[];
}

/**
 * Holds a verdict against the contract: a host that G names is denied, and what profile, rules or scope allow beyond its
 * envelope and the grants asks. A session without a contract has all that its profile gives. The policy itself does not
 * know contracts, so nothing that runs under one may skip this.
 */
export function fitVerdict(verdict: Verdict, fitting: Fitting): Verdict {
  const { contract } = fitting;
  if (contract === null) return verdict;
  const segments = verdict.segments.map((segment): SegmentVerdict => {
    const match = against(segment, contract, fitting);
    if (match === null) return segment;
    const { decision, rung, rule, reason } = match;
    return {
      ...segment,
      verdict: decision,
      rung,
      rule,
      reason,
      matches: [...segment.matches, match],
    };
  });
  if (segments.every((segment, index) => segment === verdict.segments[index])) return verdict;
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

/** What the contract has against a segment, when that is stricter than what was decided. */
function against(segment: SegmentVerdict, contract: Contract, fitting: Fitting): Match | null {
  const { task, deny } = contract;
  const denied = segment.hosts?.find((host) => namesHost(deny.hosts, host));
  if (denied !== undefined && segment.verdict !== "deny") {
    const reason = `reaches ${denied}, which the contract ${task} denies`;
    return { rung: "absolute-deny", rule: "contract/deny-host", decision: "deny", reason };
  }
  if (segment.verdict !== "allow") return null;
  const missing = segment.effects.find((effect) => !fits(effect, segment, contract, fitting));
  if (missing === undefined) return null;
  const reason = `is beyond the envelope of the contract ${task} (${missing})`;
  return { rung: "default", rule: `contract/${missing}`, decision: "ask", reason };
}

function insteadOf(contract: Contract, { effects, verdict }: SegmentVerdict): string {
  if (verdict === "deny") return "leave it out: nothing lifts what the contract denies";
  const rules = contract.grants.filter(({ effect }) => effects.includes(effect));
  if (rules.length === 0) return "stay within the envelope that the interface shows";
  return `request a grant: ${rules.map(({ name }) => name).join(" or ")}`;
}

function fits(
  effect: Effect,
  segment: SegmentVerdict,
  contract: Contract,
  { grants, worktree, scratch }: Fitting,
): boolean {
  // The sandbox's own network leads nowhere; the profile alone decides about it.
  if (effect === "network" && !segment.classes.includes("network")) return true;
  const own = (path: string) =>
    scratch.some((root) => path === root || path.startsWith(`${root}/`));
  const paths = segment.paths.filter(({ access, path, real }) => {
    const concerns = effect === "read" || effect === "write" ? access === effect : true;
    return concerns && !(own(path) && own(real ?? path));
  });
  const held = [...contract.envelope, ...grants].filter(
    (entry) =>
      (entry.effect === effect || (entry.effect === "install" && effect === "network")) &&
      beginsAs(entry.commands, segment.argv),
  );
  if (held.length === 0) return false;
  if (effect === "network") {
    const { hosts = [] } = segment;
    return hosts.length > 0 && hosts.every((host) => held.some((e) => namesHost(e.hosts, host)));
  }
  return paths.every(({ path, real }) =>
    held.some(
      (entry) =>
        entry.paths.length === 0 ||
        [path, real ?? path].every((each) => namesPath(entry.paths, worktree, each)),
    ),
  );
}

function beginsAs(commands: Resource["commands"], argv: readonly string[] | undefined): boolean {
  if (commands.length === 0) return true;
  return argv !== undefined && commands.some((prefix) => coversCommand(prefix, argv));
}

/**
 * Absolute paths that a command with a write or run effect may write, for the kernel: the worktree's folders and files
 * that envelope and the grants in use name. null: the whole worktree, since there is no contract.
 */
export function writablePaths(fitting: Fitting): readonly string[] | null {
  const { contract, grants, worktree } = fitting;
  if (contract === null) return null;
  const writes = [...contract.envelope, ...grants].filter(({ effect }) => effect === "write");
  const paths = writes.flatMap((entry) => entry.paths.map((path) => folderOf(path) ?? path));
  return absoluteGlobs([...new Set(paths)], worktree).map((path) => path.replace(/\/$/, ""));
}

/** The authority a session has without a handle: its profile's standing permission, narrowed by its contract's envelope (C1). */
import type { Effect, SegmentVerdict, Standing, StandingClass, Verdict } from "../policy/types.ts";
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
 * Holds a verdict against the contract: what profile, rules or scope allow beyond its envelope and the grants asks. A
 * session without a contract has all that its profile gives. The policy itself does not know contracts, so nothing that
 * runs under one may skip this.
 */
export function fitVerdict(verdict: Verdict, fitting: Fitting): Verdict {
  const { contract } = fitting;
  if (contract === null) return verdict;
  const segments = verdict.segments.map((segment): SegmentVerdict => {
    if (segment.verdict !== "allow") return segment;
    const missing = segment.effects.find((effect) => !fits(effect, segment, contract, fitting));
    if (missing === undefined) return segment;
    const reason = `is beyond the envelope of the contract ${contract.task} (${missing})`;
    const match = {
      rung: "default",
      rule: `contract/${missing}`,
      decision: "ask",
      reason,
    } as const;
    const { rung, rule } = match;
    return { ...segment, verdict: "ask", rung, rule, reason, matches: [...segment.matches, match] };
  });
  const first = segments.find((segment, index) => segment !== verdict.segments[index]);
  if (first === undefined) return verdict;
  // *Always* would store a rule that the contract stands above anyway.
  const { always: _, ...rest } = verdict;
  if (verdict.verdict !== "allow") return { ...rest, segments };
  return {
    ...rest,
    verdict: "ask",
    roots: [],
    segments,
    reason: `\`${first.text}\` ${first.reason} (${first.rule})`,
    instead: insteadOf(contract, first),
  };
}

function insteadOf(contract: Contract, { effects }: SegmentVerdict): string {
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

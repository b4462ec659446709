/** Rungs 7 to 9: what grants, profile and scope let a segment do, and else everything that stands against it. */

import { REASONS_PER_RULE_MAX } from "../limits.ts";
import type { Description } from "./catalogue/description.ts";
import { coveringGrant, namesCommand } from "./grants.ts";
import { isWithin } from "./paths.ts";
import { rulePermits } from "./rules.ts";
import { cwdObjections, type Located, type Objection, type Scope } from "./scope.ts";
import { lacksKernel, standingAllows } from "./standing.ts";
import type { ActionClass, Effect, EvaluateInput, Match, Rule, SegmentVerdict } from "./types.ts";
import type { SegmentView } from "./view.ts";

export interface JudgedUse {
  readonly effect: Effect;
  readonly located: Located;
  /** Classes that the profile does not allow by itself. */
  readonly missing: readonly ActionClass[];
  readonly objections: readonly Objection[];
  /** The grant that covers what scope and profile do not. */
  readonly grant: string | null;
}

/** Each use of the description against profile, scope and grants. */
export function judgeUses(
  view: SegmentView,
  { settings, authority }: EvaluateInput,
  scope: Scope,
): readonly JudgedUse[] {
  const follows = (index: number): readonly Objection[] =>
    view.description.uses[index]?.follows === true ? followed(scope, view, index) : [];
  return view.description.uses.map((use, index): JudgedUse => {
    const located = view.located[index] as Located;
    const missing = located.needs.filter((cls) => !standingAllows(settings, cls));
    const objections = [...located.objections, ...follows(index)];
    const grant =
      missing.length > 0 || objections.length > 0
        ? coveringGrant(view, index, authority.grants)
        : null;
    return { effect: use.effect, located, missing, objections, grant: grant?.id ?? null };
  });
}

/** A verb that follows the links it meets leaves the project by any of them, so all of them must be known. */
function followed(scope: Scope, view: SegmentView, index: number): readonly Objection[] {
  if (scope.escapingKnown) {
    const touched = view.located[index]?.touched ?? [];
    const link = scope.escaping.find((path) => touched.some((each) => isWithin(path, each.path)));
    if (link === undefined) return [];
    return [{ rule: "scope/leaving-link", reason: `follows ${link}, which leaves the project` }];
  }
  return [
    {
      rule: "scope/follows-links",
      reason: "follows the links it meets, and it is not known where they lead",
    },
  ];
}

/** Whether the rule that won may allow the segment. */
export function permits(
  view: SegmentView,
  winner: Rule,
  judged: readonly JudgedUse[],
  scope: Scope,
): boolean {
  if (cwdObjections(view.segment, scope).length > 0) return false;
  const uses = judged.map(({ effect, located, missing, objections }, index) => ({
    effect,
    touched: located.touched,
    standing: missing.length === 0,
    beside: /^(?:redirect|-)/.test(view.description.uses[index]?.via ?? ""),
    inScope: objections.length === 0,
    onlyOutside: objections.every(({ rule }) => rule.startsWith("scope/outside-")),
  }));
  return rulePermits(winner, view, uses, liftsBeyondVerb(view.description));
}

/** What lifts the automatic allow besides that nothing is known about the verb. */
function liftsBeyondVerb({ known, lifts }: Description): readonly string[] {
  return known ? lifts : lifts.filter((lift) => !lift.endsWith("is not in the catalogue"));
}

/** Rungs 7, 8 and 9: what a grant or the scope allows, else everything that stands against it. */
export function permission(
  view: SegmentView,
  judged: readonly JudgedUse[],
  { settings, authority }: EvaluateInput,
  scope: Scope,
): readonly Match[] {
  const { description } = view;
  const against: Match[] = [];
  const said = new Map<string, Set<string>>();
  const asks = (rule: string, reason: string): void => {
    const reasons = said.get(rule) ?? new Set();
    said.set(rule, reasons);
    if (reasons.has(reason) || reasons.size >= REASONS_PER_RULE_MAX) return;
    reasons.add(reason);
    against.push({ rung: "default", rule, decision: "ask", reason });
  };
  const grants = new Set<string>();
  const named = authority.grants.find((grant) => namesCommand(grant, view));
  const beyond = liftsBeyondVerb(description);
  for (const lift of named === undefined ? description.lifts : []) {
    if (beyond.includes(lift)) asks("catalogue/lift", lift);
    else if (!standingAllows(settings, "unknown")) asks("catalogue/unknown", lift);
  }
  for (const { missing, objections, grant } of judged) {
    if (grant !== null) {
      grants.add(grant);
      continue;
    }
    for (const { rule, reason } of objections) asks(rule, reason);
    for (const cls of missing) {
      if (lacksKernel(settings, cls)) asks(`confinement/${cls}`, KERNEL_REASON);
      else asks(`profile/${cls}`, CLASS_REASON[cls]);
    }
  }
  for (const { rule, reason } of cwdObjections(view.segment, scope)) asks(rule, reason);
  if (against.length > 0) return against;
  if (grants.size > 0) {
    return [...grants].map((id) => ({
      rung: "grant",
      rule: id,
      decision: "allow",
      reason: `the grant ${id} covers it`,
    }));
  }
  const strongest = SCOPE_ORDER.find((cls) => judged.some((u) => u.located.needs.includes(cls)));
  const roots = rootsOf(judged, view, scope);
  return [
    {
      rung: "scope",
      rule: `scope/${strongest ?? "read"}`,
      decision: "allow",
      reason: `${description.form || "it"} stays in ${roots.join(" and ")}`,
    },
  ];
}

const SCOPE_ORDER: readonly ActionClass[] = [
  "unknown",
  "git-write",
  "run",
  "write",
  "scratch",
  "loopback",
  "build",
  "read",
];

const KERNEL_REASON =
  "rests on the kernel to keep it where it was judged to stay, which this sandbox cannot do";

const CLASS_REASON: Readonly<Record<ActionClass, string>> = {
  read: "reads, which this profile asks about",
  build: "builds or tests, which this profile asks about",
  run: "runs project code, which this profile asks about",
  write: "writes in the worktree, which this profile asks about",
  scratch: "uses the sandbox's scratch folders, which this profile asks about",
  "git-write": "changes the repository, which this profile asks about",
  loopback: "connects inside the sandbox, which this profile asks about",
  network: "reaches the network, which always takes a grant or an approval",
  engine: "talks to a container engine or cluster, which does not exist in the sandbox",
  install: "installs packages, which always takes a grant or an approval",
  process: "signals or changes processes",
  privilege: "changes rights or users",
  unknown: "does something that is not known",
};

/** The roots that hold what the segment touches; the one its folder lies in when it touches nothing. */
function rootsOf(
  judged: readonly JudgedUse[],
  { segment }: SegmentView,
  scope: Scope,
): readonly string[] {
  const roots = judged.flatMap((use) => use.located.touched.flatMap(({ root }) => root ?? []));
  if (roots.length > 0) return [...new Set(roots)];
  const all = [...scope.readRoots, ...scope.scratch];
  const holding = (segment.cwds ?? []).flatMap(
    (cwd) => all.find((root) => isWithin(cwd, root)) ?? [],
  );
  return [...new Set(holding)];
}

/** The roots that authorised an allowed segment (A7). */
export function authorisingRoots(
  verdict: SegmentVerdict,
  view: SegmentView,
  scope: Scope,
): readonly string[] {
  if (verdict.verdict !== "allow") return [];
  const roots = verdict.paths.flatMap(({ root }) => root ?? []);
  return roots.length > 0 ? roots : rootsOf([], view, scope);
}

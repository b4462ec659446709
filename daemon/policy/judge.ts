/** Judges one segment: every rung of the ladder is asked, every answer is kept, the strictest wins (design §4). */
import type { Description } from "./catalogue/description.ts";
import { ceilingMatches } from "./ceilings.ts";
import { denialKey, escalated, isBlocked } from "./denials.ts";
import { coveringGrant, namesCommand } from "./grants.ts";
import { applyRules, rulePermits } from "./rules.ts";
import { safetyMatches } from "./safety.ts";
import { cwdObjections, type Located, locate, type Objection, type Scope } from "./scope.ts";
import type { Problem, Segment } from "./shell/segment.ts";
import { lacksKernel, standingAllows } from "./standing.ts";
import type {
  ActionClass,
  Decision,
  Effect,
  EvaluateInput,
  Match,
  Rung,
  SegmentVerdict,
  TouchedPath,
} from "./types.ts";
import { argvsOf, placesOf, plainVerb, type SegmentView } from "./view.ts";

/** A segment seen through the catalogue and the scope. */
export function viewOf(
  segment: Segment,
  segments: readonly Segment[],
  description: Description,
  scope: Scope,
): SegmentView {
  const argvs = argvsOf(segment.words);
  const located = description.uses.map((use) => locate(use, segment, description.form, scope));
  return {
    segment,
    segments,
    description,
    verb: plainVerb(argvs[0]?.[0] ?? ""),
    argvs,
    located,
    places: placesOf(located),
  };
}

/** Of several equally strict answers, the one that is named first. */
const RANK: Readonly<Record<Rung, number>> = {
  "absolute-deny": 0,
  "stale-authority": 1,
  denials: 2,
  understand: 3,
  ceiling: 4,
  safety: 5,
  rule: 6,
  grant: 7,
  scope: 8,
  default: 9,
};

/** `problems` are those of the whole text; `earlier` the segments before this one, which may have moved the branch. */
export function judgeSegment(
  view: SegmentView,
  input: EvaluateInput,
  scope: Scope,
  problems: readonly Problem[],
  earlier: readonly SegmentView[],
): SegmentVerdict {
  const { settings, facts, rules, authority } = input;
  const matches: Match[] = [...understandMatches(view, problems)];

  const outcome = applyRules(view, rules.rules, settings.worktree);
  matches.push(...outcome.absolute);
  if (authority.stale !== undefined) {
    const { handle, reason } = authority.stale;
    const why = `the handle ${handle} is not valid: ${reason}`;
    matches.push({ rung: "stale-authority", rule: "handle", decision: "deny", reason: why });
  }
  matches.push(...ceilingMatches(view, settings, facts, earlier));
  matches.push(...safetyMatches(view));
  matches.push(...outcome.matches);

  const judged = judgeUses(view, input, scope);
  const ruled = outcome.winner?.action === "allow" && permits(view, outcome.winner, judged);
  if (!ruled) matches.push(...permission(view, judged, input, scope));

  const winner = outcome.winner?.id;
  const verdict = verdictOf(view, decide(matches, winner, ruled), matches);
  const before = matches.length;
  addDenials(verdict, input, matches);
  return matches.length === before ? verdict : { ...verdict, ...decide(matches, winner, ruled) };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function verdictOf(view: SegmentView, deciding: Deciding, matches: readonly Match[]) {
  const { segment, description, argvs, located } = view;
  // Built in place: this is the hottest object of a decision, and spreading it three times showed.
  const verdict: Mutable<SegmentVerdict> = {
    text: segment.text,
    form: description.form,
    cwds: segment.cwds ?? [],
    verdict: deciding.verdict,
    rung: deciding.rung,
    rule: deciding.rule,
    reason: deciding.reason,
    effects: unique(description.uses.map((use) => use.effect)),
    classes: unique(located.flatMap((each) => each.needs)),
    paths: distinct(located),
    matches,
  };
  const [argv] = argvs;
  if (argvs.length === 1 && argv?.every((word) => word !== null)) {
    verdict.argv = argv as readonly string[];
  }
  const hosts = description.uses.flatMap((use) => use.host ?? []);
  if (hosts.length > 0) verdict.hosts = unique(hosts);
  return verdict;
}

function unique<T>(values: readonly T[]): readonly T[] {
  return values.length < 2 ? values : [...new Set(values)];
}

function distinct(located: readonly Located[]): readonly TouchedPath[] {
  const paths: TouchedPath[] = [];
  for (const { touched } of located) {
    for (const each of touched) {
      if (!paths.some(({ path, access }) => path === each.path && access === each.access)) {
        paths.push(each);
      }
    }
  }
  return paths;
}

/** Rung 5. The class of action depends on what the other rungs say, so the tracker is asked last. */
function addDenials(
  verdict: SegmentVerdict,
  { settings, facts, denials }: EvaluateInput,
  matches: Match[],
): void {
  const limits = settings.denials;
  const key = Object.keys(denials.consecutive).length > 0 ? denialKey(verdict) : null;
  if (key !== null && isBlocked(denials, key, limits)) {
    const reason = `${key} was refused ${limits.consecutive} times in a row and is blocked; an admin can reset it`;
    matches.push({ rung: "denials", rule: `denials/${key}`, decision: "deny", reason });
  }
  if (escalated(denials, limits)) {
    const reason = `${denials.total} refusals in all: everything asks until an admin resets the count`;
    matches.push({ rung: "denials", rule: "denials/escalated", decision: "ask", reason });
  }
  if (facts.frozen === true) {
    const reason = "the session is frozen, since a link that leaves the project appeared";
    matches.push({ rung: "denials", rule: "denials/frozen", decision: "ask", reason });
  }
}

function understandMatches(view: SegmentView, whole: readonly Problem[]): readonly Match[] {
  return [...whole, ...view.segment.problems].map(({ code, message }) => ({
    rung: "understand",
    rule: `understand/${code}`,
    decision: "ask",
    reason: message,
  }));
}

interface JudgedUse {
  readonly effect: Effect;
  readonly located: Located;
  /** Classes that the profile does not allow by itself. */
  readonly missing: readonly ActionClass[];
  readonly objections: readonly Objection[];
  /** The grant that covers what scope and profile do not. */
  readonly grant: string | null;
}

function judgeUses(view: SegmentView, { settings, authority }: EvaluateInput, scope: Scope) {
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
    const link = scope.escaping.find((path) =>
      touched.some((each) => path === each.path || path.startsWith(`${each.path}/`)),
    );
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

function permits(
  view: SegmentView,
  winner: Parameters<typeof rulePermits>[0],
  judged: readonly JudgedUse[],
): boolean {
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
function permission(
  view: SegmentView,
  judged: readonly JudgedUse[],
  { settings, authority }: EvaluateInput,
  scope: Scope,
): readonly Match[] {
  const { description } = view;
  const against: Match[] = [];
  const asks = (rule: string, reason: string): void => {
    if (!against.some((match) => match.rule === rule && match.reason === reason)) {
      against.push({ rung: "default", rule, decision: "ask", reason });
    }
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
    (cwd) => all.find((root) => cwd === root || cwd.startsWith(`${root}/`)) ?? [],
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

type Deciding = Pick<SegmentVerdict, "verdict" | "rung" | "rule" | "reason">;

/** The strictest of all matches; of several, the one on the highest rung. Rules that lost to another do not decide. */
function decide(matches: readonly Match[], winner: string | undefined, ruled: boolean): Deciding {
  let found = NOTHING;
  for (const match of matches) {
    const { rung, rule, decision } = match;
    if (rung === "rule" && (rule !== winner || (decision === "allow" && !ruled))) continue;
    const step = STRICTNESS[decision] - STRICTNESS[found.decision];
    if (found === NOTHING || step > 0 || (step === 0 && RANK[rung] < RANK[found.rung])) {
      found = match;
    }
  }
  const { rung, rule, reason, decision } = found;
  return { verdict: decision, rung, rule, reason };
}

const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

const NOTHING: Match = {
  rung: "default",
  rule: "default",
  decision: "ask",
  reason: "nothing allows it",
};

/** Judges one segment: every rung of the ladder is asked, every answer is kept, the strictest wins. */
import type { Description } from "./catalogue/description.ts";
import { ceilingMatches } from "./ceilings.ts";
import { denialKey, escalated, isBlocked } from "./denials.ts";
import { judgeUses, permission, permits } from "./permission.ts";
import { applyRules } from "./rules.ts";
import { safetyMatches } from "./safety.ts";
import { kindOf, type Located, locate, type Scope } from "./scope.ts";
import type { Problem, Segment } from "./shell/segment.ts";
import type { Decision, EvaluateInput, Match, Rung, SegmentVerdict, TouchedPath } from "./types.ts";
import { argvsOf, placesOf, plainVerb, type SegmentView } from "./view.ts";

/** A segment seen through the catalogue and the scope. */
export function viewOf(
  segment: Segment,
  segments: readonly Segment[],
  description: Description,
  scope: Scope,
): SegmentView {
  const argvs = argvsOf(segment.words);
  const kind = kindOf(description);
  const located = description.uses.map((use) => locate(use, segment, kind, scope));
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
    const why = `names the handle ${handle}, which is not valid: ${reason}`;
    matches.push({ rung: "stale-authority", rule: "handle", decision: "deny", reason: why });
  }
  matches.push(...ceilingMatches(view, settings, facts, earlier));
  matches.push(...safetyMatches(view));
  matches.push(...outcome.matches);

  const judged = judgeUses(view, input, scope);
  const ruled = outcome.winner?.action === "allow" && permits(view, outcome.winner, judged, scope);
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
  const paths = new Map<string, TouchedPath>();
  for (const { touched } of located) {
    for (const each of touched) {
      const key = `${each.access} ${each.path}`;
      if (!paths.has(key)) paths.set(key, each);
    }
  }
  return [...paths.values()];
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

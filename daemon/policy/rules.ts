/** Rules from every source: which match a segment, which one wins, and what an allowing one may cover (B1, rungs 1 and 6). */
import type { Use } from "./catalogue/description.ts";
import { absolutePattern, mayOverlap } from "./glob-overlap.ts";
import { coversPath, matches } from "./globs.ts";
import { isWithin } from "./paths.ts";
import type { Match, Rule, RuleSource, TouchedPath } from "./types.ts";
import { type Argv, plainVerb, type SegmentView } from "./view.ts";

/** Higher wins. What the admin wrote stands above what a session, a project or a user wrote. */
const PRECEDENCE: Readonly<Record<RuleSource, number>> = {
  admin: 4,
  session: 3,
  project: 2,
  user: 1,
  builtin: 0,
};

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

export interface RuleOutcome {
  /** Denies of the admin: rung 1. */
  readonly absolute: readonly Match[];
  /** Every other rule that matched, rung 6, the winner among them. */
  readonly matches: readonly Match[];
  /** Of the highest source that matches, the strictest. */
  readonly winner: Rule | null;
}

/** Holds every rule against a segment. Paths in rules are relative to the worktree. */
export function applyRules(
  view: SegmentView,
  rules: readonly Rule[],
  worktree: string,
): RuleOutcome {
  const absolute: Match[] = [];
  const found: Match[] = [];
  let winner: Rule | null = null;
  for (const rule of rules) {
    if (!ruleMatches(rule, view, worktree)) continue;
    if (rule.source === "admin" && rule.action === "deny") {
      absolute.push(matchOf(rule, "absolute-deny"));
      continue;
    }
    found.push(matchOf(rule, "rule"));
    if (winner === null || outranks(rule, winner)) winner = rule;
  }
  return { absolute, matches: found, winner };
}

function outranks(rule: Rule, other: Rule): boolean {
  const step = PRECEDENCE[rule.source] - PRECEDENCE[other.source];
  return step > 0 || (step === 0 && STRICTNESS[rule.action] > STRICTNESS[other.action]);
}

function matchOf(rule: Rule, rung: "absolute-deny" | "rule"): Match {
  const reason = rule.justification ?? `${rule.source} rule: ${rule.action} ${describeRule(rule)}`;
  return { rung, rule: rule.id, decision: rule.action, reason };
}

/** A rule as people write it. */
export function describeRule(rule: Rule): string {
  return rule.tool === "exec" ? rule.pattern.join(" ") : `${rule.tool} ${rule.pattern.join(" ")}`;
}

function ruleMatches(rule: Rule, view: SegmentView, worktree: string): boolean {
  if (rule.tool !== "exec") return pathRuleMatches(rule, view, worktree);
  // An allow must match every way the words may read; an ask or a deny, any.
  if (rule.action === "allow") return view.argvs.every((argv) => wordsMatch(rule, argv));
  const { wrappers } = view.segment;
  return view.argvs.some(
    (argv) =>
      wordsMatch(rule, argv) || wrappers.some((wrapper) => wordsMatch(rule, [wrapper, ...argv])),
  );
}

/**
 * A pattern against words: each token one word, wildcards inside a token allowed, a last `*` any rest. For an allow a
 * word that is not known matches only that rest; otherwise it may be anything.
 */
function wordsMatch(rule: Rule, argv: Argv): boolean {
  const { pattern } = rule;
  const open = pattern.at(-1) === "*";
  const fixed = open ? pattern.length - 1 : pattern.length;
  if (argv.length < fixed || (!open && argv.length > fixed)) return false;
  if (argv.length === 0) return false;
  const exact = rule.action === "allow";
  for (let i = 0; i < fixed; i++) {
    const word = argv[i] as string | null;
    const token = pattern[i] as string;
    if (word === null) {
      if (exact) return false;
    } else if (!(i === 0 ? verbMatches(token, word, exact) : tokenMatches(token, word, exact))) {
      return false;
    }
  }
  return true;
}

function verbMatches(token: string, verb: string, exact: boolean): boolean {
  if (tokenMatches(token, verb, exact) || tokenMatches(token, plainVerb(verb), exact)) return true;
  return !exact && tokenMatches(token, verb.slice(verb.lastIndexOf("/") + 1), exact);
}

function tokenMatches(token: string, word: string, exact: boolean): boolean {
  return matches(token, word, { wide: true, exact });
}

function pathRuleMatches(rule: Rule, view: SegmentView, worktree: string): boolean {
  const globs = pathGlobs(rule, worktree);
  const touched = view.located
    .flatMap((located) => located.touched)
    .filter((each) => each.access === rule.tool);
  if (rule.action === "allow") {
    return touched.length > 0 && touched.every((each) => coveredBy(globs, each));
  }
  return (
    touched.some(({ path, real }) =>
      [path, real ?? path].some((each) => globs.some((glob) => mayCover(glob, each))),
    ) ||
    view.description.uses.some((use) =>
      mayExpandTo(use, rule.tool, view.segment.cwds ?? [worktree], globs),
    ) ||
    (rule.tool === "write" && changesAround(view, globs))
  );
}

function pathGlobs({ pattern }: Rule, worktree: string): readonly string[] {
  const globs = pattern.length === 0 ? ["**"] : pattern;
  return globs.map((glob) =>
    glob.startsWith("/") || glob.startsWith("**") ? glob : `${worktree}/${glob}`,
  );
}

function mayCover(glob: string, path: string): boolean {
  return matches(glob, path) || (glob.endsWith("/**") && matches(glob.slice(0, -3), path));
}

function coveredBy(globs: readonly string[], { path, real }: TouchedPath): boolean {
  return [path, real ?? path].every((each) => globs.some((glob) => coversPath(glob, each)));
}

/** Whether a wildcard in the command may stand for a path that a rule names: `cat .e*` under a deny of `.env`. */
function mayExpandTo(
  { path, effect }: Use,
  tool: Rule["tool"],
  cwds: readonly string[],
  globs: readonly string[],
): boolean {
  const value = path?.value;
  if (value?.kind !== "glob") return false;
  const last = value.pattern.slice(value.pattern.lastIndexOf("/") + 1);
  const named = globs.some((glob) => {
    const name = glob.slice(glob.lastIndexOf("/") + 1);
    if (/[*?[]/.test(name)) return false;
    return matches(last, name) && (!name.startsWith(".") || last.startsWith("."));
  });
  if (named || effect !== tool) return named;
  return cwds.some((cwd) => {
    const pattern = absolutePattern(value.pattern, cwd);
    return pattern !== null && globs.some((glob) => mayOverlap(pattern, glob));
  });
}

/** Whether a folder that changes as a whole holds what a rule names: moved, that has a name which no rule knows. */
function changesAround({ description, located }: SegmentView, globs: readonly string[]): boolean {
  const roots = globs.map((glob) => {
    const wild = glob.search(/[*?[]/);
    return wild < 0 ? glob : glob.slice(0, glob.lastIndexOf("/", wild));
  });
  const changed = description.uses.flatMap(({ effect, tree, via }, index) =>
    effect === "write" && via === "operand" && (tree === true || description.form === "git mv")
      ? [located[index]?.touched ?? []]
      : [],
  );
  // Its last operand is where the others go.
  const whole = description.form === "git mv" ? changed.slice(0, -1) : changed;
  return whole
    .flat()
    .some(({ path, real }) =>
      [path, real ?? path].some((each) =>
        roots.some((root) => root !== "" && isWithin(root, each)),
      ),
    );
}

/** What an allowing rule covers of one segment; see `rulePermits`. */
export interface UseToPermit {
  readonly effect: string;
  readonly touched: readonly TouchedPath[];
  /** The profile allows it by itself. */
  readonly standing: boolean;
  /** Comes from a redirect or an option, so that the verb that a rule names does not say it. */
  readonly beside: boolean;
  /** Everything that stands against it is that its paths lie outside the scope roots. */
  readonly onlyOutside: boolean;
  readonly inScope: boolean;
}

/**
 * Whether an allowing rule that won may allow the segment: its effects are those that were saved, and each path is in
 * scope or below an absolute prefix that the rule spells out. A wildcard names no path.
 */
export function rulePermits(
  rule: Rule,
  view: SegmentView,
  uses: readonly UseToPermit[],
  lifts: readonly string[],
): boolean {
  if (rule.action !== "allow") return false;
  const spelled = rule.pattern.every((token) => !/[*?[]/.test(token));
  if (lifts.length > 0 && !(spelled && rule.tool === "exec")) return false;
  if (rule.tool !== "exec" && !view.description.known) return false;
  const prefixes = rule.paths?.length ? rule.paths : absolutePrefixes(rule);
  return uses.every((use) => {
    // What a rule's words do not show, it does not allow: `git log *` is no leave to write by `--output`.
    const shown = spelled || rule.effects !== undefined || rule.tool !== "exec" || !use.beside;
    if (use.effect === "write" && !shown && !use.standing) return false;
    if (rule.effects !== undefined && !rule.effects.some((effect) => effect === use.effect)) {
      return false;
    }
    const below = use.touched.every(({ path, real }) =>
      [path, real ?? path].every((each) => prefixes.some((prefix) => isWithin(each, prefix))),
    );
    // A saved rule is bounded by its paths even inside the project.
    if (rule.paths !== undefined && rule.paths.length > 0) {
      return below && (use.inScope || use.onlyOutside);
    }
    return use.inScope || (use.onlyOutside && use.touched.length > 0 && below);
  });
}

/** Folders and files that the words of a pattern spell out absolutely, up to the first wildcard. */
function absolutePrefixes(rule: Rule): readonly string[] {
  return rule.pattern.flatMap((token) => {
    if (!token.startsWith("/")) return [];
    const wild = token.search(/[*?[]/);
    const literal = wild < 0 ? token : token.slice(0, token.lastIndexOf("/", wild));
    return literal === "" || literal.includes("..") ? [] : [literal.replace(/\/+$/, "")];
  });
}

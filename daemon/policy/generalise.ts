/** What *always* would store (A6): token prefixes of the segment that asked, bounded by its effects and paths. */
import { arityOf, neverOffered } from "./catalogue/arity.ts";
import type { Effect, PolicySettings, Rule, SavedRule, SegmentVerdict } from "./types.ts";

/** Widths offered at most, narrowest first. */
const WIDTHS_MAX = 3;

/** Effects that get a grant with an end, never a rule without one. */
const NEVER: readonly Effect[] = ["network", "install", "engine", "privilege", "process"];

/** Reasons that a rule can answer: the profile does not allow the class, the verb is not known, or it lies outside. */
const ANSWERABLE = /^(?:profile\/|catalogue\/unknown$|scope\/outside-(?:read|write)$|scope\/cwd$)/;

/**
 * Up to three widths of a rule that would let the same kind of command pass. Empty when more than one kind of segment
 * asked, or when the one that did may never be let through by a rule.
 */
export function generalise(
  segments: readonly SegmentVerdict[],
  settings: PolicySettings,
  rules: readonly Rule[] = [],
): readonly SavedRule[] {
  const asking = segments.filter(({ verdict }) => verdict === "ask");
  const [segment] = asking;
  if (segment === undefined || asking.some((each) => each.text !== segment.text)) return [];
  const { argv, effects, matches, rung } = segment;
  if (argv === undefined || argv.length === 0 || (rung !== "default" && rung !== "rule")) return [];
  if (neverOffered(argv)) return [];
  if (effects.some((effect) => NEVER.includes(effect))) return [];
  const answerable = matches.every(
    ({ rung: each, rule, decision }) =>
      decision === "allow" ||
      (each === "rule" && yields(rule, rules)) ||
      (each === "default" && ANSWERABLE.test(rule)),
  );
  if (!answerable) return [];
  const paths = bounds(segment, settings);
  const shortest = Math.min(Math.max(arityOf(argv), 1), argv.length);
  const prefixes: string[][] = [];
  for (let length = shortest; length <= argv.length && prefixes.length < WIDTHS_MAX; length++) {
    prefixes.unshift(argv.slice(0, length));
  }
  return prefixes.map((prefix) => ({ prefix, effects, paths }));
}

/** Whether a stored rule, which is the project's, outranks the rule with this id: it would be offered in vain else. */
function yields(id: string, rules: readonly Rule[]): boolean {
  return rules.every(
    (rule) => rule.id !== id || rule.source === "user" || rule.source === "builtin",
  );
}

/** The folders that the paths of a segment lie in, when some lie outside; empty: in scope. */
function bounds({ paths }: SegmentVerdict, { worktree }: PolicySettings): readonly string[] {
  const outside = paths.filter(({ root }) => root === null);
  if (outside.length === 0) return [];
  const inside = paths.some(({ root }) => root !== null) ? [worktree] : [];
  return [...new Set([...inside, ...outside.map(({ path, real }) => real ?? path)])];
}

/** A stored *always* as a rule: the prefix with any rest. */
export function ruleOfSaved(saved: SavedRule, id: string, source: Rule["source"]): Rule {
  return {
    id,
    source,
    action: "allow",
    tool: "exec",
    pattern: [...saved.prefix, "*"],
    effects: saved.effects,
    paths: saved.paths,
  };
}

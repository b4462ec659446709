/** Codex's rule files: `prefix_rule(pattern=["git", "status"], decision="allow", …)`, read as literals. Pure. */
import { matchesExample } from "../rule-examples.ts";
import type { Decision } from "../types.ts";
import { Import, type Imported, type ImportedRule } from "./imported.ts";
import { type Call, type Literal, readCalls } from "./starlark.ts";

const DECISIONS: ReadonlyMap<Literal | undefined, Decision> = new Map<
  Literal | undefined,
  Decision
>([
  [undefined, "allow"],
  ["allow", "allow"],
  ["prompt", "ask"],
  ["forbidden", "deny"],
]);

const KNOWN = new Set(["pattern", "decision", "justification", "match", "not_match"]);
/** Patterns that alternatives of words come to, at most. */
const PATTERNS_MAX = 64;

export function importCodex(text: string): Imported {
  const found = new Import();
  const { calls, unread } = readCalls(text);
  for (const { line, text: written, reason } of unread) found.leave(line, written, reason);
  for (const call of calls) {
    const why = importCall(found, call);
    if (why !== null) found.leave(call.line, shown(call), why);
  }
  return found.result;
}

/** Why the call is left out, or null. */
function importCall(found: Import, call: Call): string | null {
  const { line, name, named } = call;
  if (name !== "prefix_rule") return OTHERS[name] ?? `there is nothing like ${name} here`;
  const odd = Object.keys(named).find((key) => !KNOWN.has(key));
  if (odd !== undefined) return `${odd} is not known`;
  const action = DECISIONS.get(named.decision);
  if (action === undefined) return "decision must be allow, prompt or forbidden";
  const patterns = patternsOf(named.pattern);
  if (typeof patterns === "string") return patterns;
  const { justification } = named;
  const examples = { match: linesOf(named.match), notMatch: linesOf(named.not_match) };
  for (const words of patterns) {
    const said = typeof justification === "string" && justification.trim() !== "";
    const rule: ImportedRule = {
      action,
      tool: "exec",
      pattern: [...words, "*"],
      ...(said ? { justification } : {}),
    };
    found.add(withExamples(rule, examples), line, shown(call));
  }
  return null;
}

const OTHERS: Readonly<Record<string, string>> = {
  network_rule: "the network is opened by grants, for named hosts and with an end",
  host_executable: "a program has its name only where it lies in the image's own folders",
};

/** Enough of a call to find it again. */
function shown({ name, named }: Call): string {
  const [first] = Object.entries(named);
  const words = first === undefined ? "" : `${first[0]}=${JSON.stringify(first[1])}, …`;
  return `${name}(${words})`;
}

/** Each alternative of words as a pattern of its own, or why there is none. */
function patternsOf(pattern: Literal | undefined): readonly (readonly string[])[] | string {
  if (!Array.isArray(pattern) || pattern.length === 0) return "pattern must be a list of words";
  let patterns: string[][] = [[]];
  for (const word of pattern as readonly Literal[]) {
    const choices = Array.isArray(word) ? word : [word];
    const texts = choices.filter((choice) => typeof choice === "string" && choice !== "");
    if (texts.length !== choices.length || texts.length === 0) return "pattern must hold texts";
    if (texts.some((text) => /[*?[]/.test(text))) {
      return "*, ? and [ stand for themselves there and for any text here";
    }
    patterns = patterns.flatMap((before) => texts.map((text) => [...before, text]));
    if (patterns.length > PATTERNS_MAX) return `it comes to more than ${PATTERNS_MAX} patterns`;
  }
  return patterns;
}

/** Examples as command lines; a list of words is quoted into one. */
function linesOf(examples: Literal | undefined): readonly string[] {
  if (!Array.isArray(examples)) return [];
  return examples.flatMap((example: Literal) => {
    if (typeof example === "string") return [example];
    return Array.isArray(example) ? [example.map((word) => quoted(String(word))).join(" ")] : [];
  });
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The examples that this one of several patterns is about: all must hold where the file is read. */
function withExamples(
  rule: ImportedRule,
  { match, notMatch }: { readonly match: readonly string[]; readonly notMatch: readonly string[] },
): ImportedRule {
  const tried = { ...rule, id: "imported", source: "project" } as const;
  const own = match.filter((example) => matchesExample(tried, example));
  const others = notMatch.filter((example) => !matchesExample(tried, example));
  return {
    ...rule,
    ...(own.length === 0 ? {} : { match: own }),
    ...(others.length === 0 ? {} : { notMatch: others }),
  };
}

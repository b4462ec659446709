/** Rule files as text (B1): ChatCLI's JSON and our YAML, into rules, with every fault at its line and column. Pure. */
import { isMap, isScalar, isSeq, LineCounter, type Node } from "yaml";
import { RULE_FILE_RULES_MAX } from "../limits.ts";
import { readYaml } from "./read-yaml.ts";
import type { Decision, Rule, RuleSet, RuleSource } from "./types.ts";

export interface RuleFileProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type RulePlace = Pick<RuleFileProblem, "line" | "column">;

export interface ParsedRule extends Rule {
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

export interface ParsedRuleFile {
  readonly rules: readonly ParsedRule[];
  /** Where each rule stands, in the same order. */
  readonly places: readonly RulePlace[];
  /** False: the rules of lower sources do not hold (never the admin's denies, never safety). */
  readonly merge: boolean;
  /** Any problem makes the whole file count for nothing. */
  readonly problems: readonly RuleFileProblem[];
}

const ACTIONS: readonly string[] = ["allow", "ask", "deny"] satisfies Decision[];
const FILE_KEYS = ["rules", "merge"];
const RULE_KEYS = ["id", "pattern", "action", "tool", "justification", "match", "not_match"];
const PATTERN_CHARS_MAX = 4_096;

/** JSON is YAML, so one parser reads both formats and knows the place of every fault. */
export function parseRuleFile(text: string, source: RuleSource, name: string): ParsedRuleFile {
  const counter = new LineCounter();
  const document = readYaml(text, counter);
  const problems: RuleFileProblem[] = [];
  const at = (offset: number, message: string): void => {
    const { line, col } = counter.linePos(offset);
    problems.push({ line, column: col, message });
  };
  const fault = (node: unknown, message: string): void => {
    at((node as Node | null)?.range?.[0] ?? 0, message);
  };
  for (const error of document.errors) at(error.pos[0], error.message.split("\n", 1)[0] ?? "");
  const rules: ParsedRule[] = [];
  const places: RulePlace[] = [];
  const nothing = { rules: [], places: [], problems } as const;
  let merge = true;
  const { contents } = document;
  if (problems.length > 0) return { ...nothing, merge };
  if (!isMap(contents)) {
    fault(contents, "must be a map with the key rules");
    return { ...nothing, merge };
  }
  checkKeys(contents, FILE_KEYS, fault);
  const merging = contents.get("merge", true);
  if (merging !== undefined) {
    if (isScalar(merging) && typeof merging.value === "boolean") merge = merging.value;
    else fault(merging, "merge must be true or false");
  }
  const list = contents.get("rules", true);
  if (!isSeq(list)) fault(list ?? contents, "rules must be a list");
  else if (list.items.length > RULE_FILE_RULES_MAX)
    fault(list, `more than ${RULE_FILE_RULES_MAX} rules`);
  else {
    list.items.forEach((item, index) => {
      const rule = readRule(item, source, name, index + 1, fault);
      if (rule === null) return;
      // The verdict tells rules apart by their ids.
      if (rules.some(({ id }) => id === rule.id)) fault(item, `two rules have the id ${rule.id}`);
      rules.push(rule);
      const { line, col } = counter.linePos((item as Node).range?.[0] ?? 0);
      places.push({ line, column: col });
    });
  }
  return problems.length > 0 ? { ...nothing, merge } : { rules, places, merge, problems };
}

type Fault = (node: unknown, message: string) => void;

function checkKeys(map: { items: readonly { key: unknown }[] }, known: string[], fault: Fault) {
  for (const { key } of map.items) {
    const name = isScalar(key) ? String(key.value) : "?";
    if (!known.includes(name)) fault(key, `unknown key ${name}; there are ${known.join(", ")}`);
  }
}

function readRule(
  item: unknown,
  source: RuleSource,
  file: string,
  number: number,
  fault: Fault,
): ParsedRule | null {
  if (!isMap(item)) {
    fault(item, "a rule must be a map with pattern and action");
    return null;
  }
  checkKeys(item, RULE_KEYS, fault);
  const text = (key: string): string | undefined => {
    const node = item.get(key, true);
    if (node === undefined) return undefined;
    if (isScalar(node) && typeof node.value === "string" && node.value.trim() !== "") {
      return node.value;
    }
    fault(node, `${key} must be text that is not empty`);
    return undefined;
  };
  const texts = (key: string): readonly string[] => {
    const node = item.get(key, true);
    if (node === undefined) return [];
    const values = isSeq(node) ? node.items : [];
    const read = values.flatMap((each) =>
      isScalar(each) && typeof each.value === "string" ? [each.value] : [],
    );
    if (!isSeq(node) || read.length !== values.length)
      fault(node, `${key} must be a list of texts`);
    return read;
  };
  const action = text("action");
  if (action === undefined || !ACTIONS.includes(action)) {
    fault(item.get("action", true) ?? item, `action must be one of ${ACTIONS.join(", ")}`);
    return null;
  }
  const patternNode = item.get("pattern", true);
  const parsed = isSeq(patternNode)
    ? { words: texts("pattern"), chatcli: false, tool: null }
    : readPattern(text("pattern"));
  if (parsed === null || parsed.words.length === 0) {
    fault(patternNode ?? item, "a rule needs a pattern such as `git push *`");
    return null;
  }
  if (parsed.words.join(" ").length > PATTERN_CHARS_MAX) {
    fault(patternNode, `the pattern is longer than ${PATTERN_CHARS_MAX} characters`);
    return null;
  }
  const tool = text("tool") ?? parsed.tool ?? "exec";
  if (tool !== "exec" && tool !== "read" && tool !== "write") {
    fault(item.get("tool", true) ?? patternNode, `there is no tool ${tool}; exec, read or write`);
    return null;
  }
  const justification = text("justification");
  return {
    id: `${file}/${text("id") ?? number}`,
    source,
    action: action as Decision,
    tool,
    pattern: parsed.chatcli ? withRest(parsed.words, tool) : parsed.words,
    ...(justification === undefined ? {} : { justification }),
    match: texts("match"),
    notMatch: texts("not_match"),
  };
}

interface Pattern {
  readonly words: readonly string[];
  /** Written as ChatCLI writes it, where a pattern is a prefix. */
  readonly chatcli: boolean;
  readonly tool: string | null;
}

/** `@coder exec rm *`, `exec rm *`, `rm *`; the tool's own options (`--cmd`, `--file`) say nothing. */
function readPattern(text: string | undefined): Pattern | null {
  if (text === undefined) return null;
  const words = text.trim().split(/\s+/);
  const chatcli = words[0] === "@coder";
  if (chatcli) words.shift();
  const named = /^(?:exec|read|write)$/.test(words[0] ?? "");
  if (!chatcli && !named) return { words, chatcli: false, tool: null };
  const tool = words.shift() ?? "exec";
  const rest = words.filter((word) => word !== "--cmd" && word !== "--file" && word !== "--dir");
  return { words: rest.length === 0 ? ["*"] : rest, chatcli, tool };
}

function withRest(words: readonly string[], tool: string): readonly string[] {
  if (tool !== "exec") return words.map((word) => (word === "*" ? "**" : word));
  return words.at(-1) === "*" ? words : [...words, "*"];
}

/** Highest source first. */
const SOURCES: readonly RuleSource[] = ["admin", "session", "project", "user", "builtin"];

/**
 * One rule set from several files. A file with `merge: false` replaces the rules of every lower source; what the admin
 * wrote is never replaced.
 */
export function mergeRuleFiles(
  files: readonly {
    readonly source: RuleSource;
    readonly rules: readonly Rule[];
    readonly merge: boolean;
  }[],
): RuleSet {
  const kept: Rule[] = [];
  let closed = false;
  for (const source of SOURCES) {
    const here = files.filter((file) => file.source === source);
    if (closed && source !== "admin") continue;
    kept.push(...here.flatMap((file) => file.rules));
    if (source !== "admin" && here.some((file) => !file.merge)) closed = true;
  }
  return { rules: kept };
}

/** Describes a command written as text and tells the result in short lines, for tables of cases. */

import { describe } from "../../../daemon/policy/catalogue/describe.ts";
import type { Description, Use } from "../../../daemon/policy/catalogue/description.ts";
import type { Segment, Word, WordValue } from "../../../daemon/policy/shell/segment.ts";

/** Words of a line with plain quotes only. `<?>` is an unknown word, `x<?>` one that begins with x, `<#>` a number. */
export function wordsOf(line: string): Word[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g)].map(([text]) => {
    const value = text.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, "$1$2$3");
    return { text, value: wordValue(value, text), quoted: text !== value };
  });
}

function wordValue(value: string, text: string): WordValue {
  if (value === "<#>") return { kind: "number" };
  if (value.endsWith("<?>"))
    return { kind: "unknown", prefix: value.slice(0, -3), many: false, why: "test" };
  if (value === text && /[*?]|\[.+\]/.test(value)) {
    const literal = value.slice(0, value.search(/[*?[]/));
    const base = literal.slice(0, literal.lastIndexOf("/") + 1);
    return { kind: "glob", pattern: value, base, dashed: /^[-*?[]/.test(value) };
  }
  return { kind: "literal", value };
}

export function segmentOf(words: readonly Word[], more: Partial<Segment> = {}): Segment {
  return {
    index: 0,
    text: words.map((word) => word.text).join(" "),
    words,
    env: [],
    redirects: [],
    cwds: ["/p"],
    stdin: { kind: "inherit" },
    pipedTo: null,
    wrappers: [],
    context: [],
    problems: [],
    ...more,
  };
}

export function describeWords(words: readonly Word[], more: Partial<Segment> = {}): Description {
  const segment = segmentOf(words, more);
  return describe({ segment, segments: [segment], localBins: undefined });
}

/**
 * One line for each use and lift: `read README.md`, `read src tree`, `write x`, `read . cwd`, `lift …`;
 * an unknown verb adds `unknown verb`.
 */
export function told(line: string): string[] {
  return tellDescription(describeWords(wordsOf(line)));
}

export function tellDescription(description: Description): string[] {
  return [
    ...(description.known ? [] : ["unknown verb"]),
    ...description.uses.map(toldUse),
    ...description.lifts.map((lift) => `lift ${lift}`),
  ];
}

function toldUse(use: Use): string {
  const path = use.path === undefined ? undefined : toldWord(use.path);
  const marks = [
    use.cwd && "cwd",
    use.tree && "tree",
    use.follows && "follows",
    use.code && "code",
  ];
  return [use.class, path, use.host, ...marks].filter(Boolean).join(" ");
}

function toldWord({ value }: Word): string {
  if (value.kind === "literal") return value.value;
  if (value.kind === "glob") return value.pattern;
  if (value.kind === "listed") return `listed(${value.bases.join(",")})`;
  return value.kind === "unknown" ? `?${value.prefix}` : value.kind;
}

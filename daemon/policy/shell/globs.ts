/** Filename patterns: where what they match can lie, and matching of plain texts for `${x%…}`. */

import type { WordValue } from "./segment.ts";
import { unknown } from "./values.ts";

export const GLOB_CHARACTERS = /[*?[]/;

/** Literal text as it stands in a pattern. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?[\]\\]/g, "\\$&");
}

/** A component that could match `..` where bash is older than 5.2 or `globskipdots` is off. */
const MAY_CLIMB = /^\.(?:\[|[*?.]*$)/;

/**
 * An unquoted word whose text is `pattern`: what it expands to lies below its literal folders, as long as nothing
 * behind the first wildcard climbs.
 */
export function globValue(pattern: string): WordValue {
  const components = pattern.split("/");
  const first = components.findIndex((component) => /(?<!\\)[*?[]/.test(component));
  const literals = components.slice(0, first).map(unescapeGlob);
  const rest = components.slice(first);
  if (rest.includes("..")) return unknown("a pattern that climbs", true, literals.join("/"));
  const climbs = rest.filter((component) => MAY_CLIMB.test(component)).length;
  const folders = [...literals, ...Array<string>(climbs).fill("..")];
  const base = folders.length === 1 && folders[0] === "" ? "/" : folders.join("/");
  const dashed = pattern.startsWith("-") || (first === 0 && /^[*?[]/.test(pattern));
  return { kind: "glob", pattern, base, dashed };
}

export function unescapeGlob(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}

/** Longest pattern and text that are matched here; beyond it the result counts as unknown. */
const MATCHED_CHARS_MAX = 512;

/** `pattern` as a regular expression source, or null when it has more than `*` and `?` in it. */
function regexSource(pattern: string): string | null {
  if (pattern.length > MATCHED_CHARS_MAX || pattern.includes("[")) return null;
  // More stars than this could take long to match.
  if (pattern.split("*").length > 5) return null;
  let source = "";
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? "";
    if (character === "*") source += "[^]*";
    else if (character === "?") source += "[^]";
    else if (character === "\\") {
      at += 1;
      source += (pattern[at] ?? "\\").replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    } else source += character.replace(/[.+^${}()|\]\\/]/g, "\\$&");
  }
  return source;
}

/** `${text#pattern}`, `##`, `%`, `%%`; null when it cannot be computed here. */
export function removeMatch(text: string, operator: string, pattern: string): string | null {
  const source = regexSource(pattern);
  if (source === null || text.length > MATCHED_CHARS_MAX) return null;
  const matcher = new RegExp(`^${source}$`, "u");
  const longest = operator.length === 2;
  const head = operator.startsWith("#");
  for (let step = 0; step <= text.length; step++) {
    const length = longest ? text.length - step : step;
    const part = head ? text.slice(0, length) : text.slice(text.length - length);
    if (matcher.test(part)) {
      return head ? text.slice(length) : text.slice(0, text.length - length);
    }
  }
  return text;
}

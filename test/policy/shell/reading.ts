/** Shows what was understood in a few words a segment, so that tests can compare whole command lines. */

import type { Segment, Word, WordValue } from "../../../daemon/policy/shell/segment.ts";
import { understand } from "../../../daemon/policy/shell/understand.ts";

export const CONTEXT = { cwd: "/w", home: "/home/a", env: { LANG: "C" }, toplevel: "/w" };

/** `a.txt`, `{a|b}`, `*.c` as `glob(*.c)`, listed names as `<src>`, numbers as `#1`, unknown as `?` behind its prefix. */
export function showValue(value: WordValue): string {
  switch (value.kind) {
    case "literal":
      return /^[^\s"{}<>#?]+$/.test(value.value) ? value.value : JSON.stringify(value.value);
    case "oneOf":
      return `{${value.values.join("|")}}`;
    case "glob":
      return `glob(${value.pattern} in ${value.base || "."}${value.dashed ? ", dashed" : ""})`;
    case "listed": {
      const { many, dashed, split, empty } = value;
      const flags = Object.entries({ many, dashed, split, empty }).filter(([, on]) => on);
      return `<${[value.bases.join(","), ...flags.map(([name]) => name)].join(" ")}>`;
    }
    case "number":
      return `#${value.sample ?? ""}`;
    case "unknown":
      return `${value.prefix}?${value.many ? "*" : ""}${value.sample === undefined ? "" : `~${value.sample}`}`;
  }
}

function show({ words, cwds }: Segment): string {
  const text = words.map(({ value }: Word) => showValue(value)).join(" ");
  const place = cwds === null ? "?" : [...cwds].sort().join(" or ");
  return place === "/w" ? text : `${text} @ ${place}`;
}

/** Every segment of a command that has no problem at all. */
export function segments(command: string): string[] {
  const problems = codes(command);
  if (problems.length > 0) throw new Error(`problems in ${command}: ${problems.join(", ")}`);
  return understand(command, CONTEXT).segments.map(show);
}

/** Every segment, whatever the problems. */
export function allSegments(command: string): string[] {
  return understand(command, CONTEXT).segments.map(show);
}

/** The words of the last segment. */
export function last(command: string): string {
  return segments(command).at(-1) ?? "";
}

/** Codes of all problems. */
export function codes(command: string): string[] {
  const { problems, segments: all } = understand(command, CONTEXT);
  return [...new Set([...problems, ...all.flatMap((one) => one.problems)].map(({ code }) => code))];
}

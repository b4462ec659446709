/** Texts that are hard on a YAML parser end as documents with errors, each at its place. */

import { expect, test } from "vitest";
import { LineCounter } from "yaml";
import { YAML_NESTING_MAX } from "../../daemon/limits.ts";
import { readYaml } from "../../daemon/policy/read-yaml.ts";
import { parseRuleFile } from "../../daemon/policy/rule-files.ts";

function errors(text: string): [line: number, col: number, message: string][] {
  const lines = new LineCounter();
  return readYaml(text, lines).errors.map(({ pos, message }) => {
    const { line, col } = lines.linePos(pos[0]);
    return [line, col, message];
  });
}

test("brackets deeper than anybody nests are refused where it begins, and not parsed at all", () => {
  const text = `a: 1\nb: ${"[".repeat(100_000)}\nc: {`;
  expect(errors(text)).toEqual([
    [2, 4 + YAML_NESTING_MAX, `nested deeper than ${YAML_NESTING_MAX}`],
  ]);
  expect(errors(`a: ${"[".repeat(YAML_NESTING_MAX)}${"]".repeat(YAML_NESTING_MAX)}`)).toEqual([]);
  expect(errors(`a: [${"[], {}, ".repeat(10_000)}]`)).toEqual([]);
});

test("nesting by indentation ends as an error too, whatever it does to the parser's stack", () => {
  const text = Array.from({ length: 3_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n");
  expect(() => errors(text)).not.toThrow();
});

test("a key that is there twice is an error at the second one, in maps of every kind", () => {
  expect(errors("a: 1\nb:\n  c: 1\n  c: 2\na: {d: 1, d: 2}")).toEqual([
    [5, 1, "Map keys must be unique"],
    [4, 3, "Map keys must be unique"],
    [5, 11, "Map keys must be unique"],
  ]);
  expect(errors('{"a": 1, a: 2}')).toHaveLength(1);
  expect(errors("a: 1\nb: 1\nc: {a: 1}")).toEqual([]);
});

test("B8: a rule file cannot hide a rule behind a key of the same name", () => {
  const text = "rules: []\nrules:\n  - {pattern: ls, action: allow, justification: x}\n";
  expect(parseRuleFile(text, "project", "r")).toMatchObject({
    rules: [],
    problems: [{ line: 2, column: 1 }],
  });
});

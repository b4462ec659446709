/** The option grammar: clusters, attached and separate values, abbreviations, `--`, and words that are not sure. */

import { expect, test } from "vitest";
import { parseOptions } from "../../../daemon/policy/catalogue/options.ts";
import { optionTable, textOf } from "../../../daemon/policy/catalogue/spec.ts";
import type { Word } from "../../../daemon/policy/shell/segment.ts";
import { wordsOf } from "./told.ts";

const table = optionTable({
  flags: "-a -b -n= -i=? --all --number= --color=? --colour=? --both -long --dry-run",
  writes: "-o= --output=",
  lifts: { "never ends": "-f --follow" },
});

interface Rules {
  digits?: boolean;
  strict?: boolean;
  oneDash?: boolean;
  anyArgs?: boolean;
}

function parsed(
  words: string | readonly Word[],
  rules: Rules = {},
): [string[], string[], string[]] {
  const list = typeof words === "string" ? wordsOf(words) : words;
  const result = parseOptions(list, {
    table,
    digits: false,
    strict: false,
    oneDash: false,
    anyArgs: false,
    ...rules,
  });
  const show = (word: Word): string => textOf(word) ?? `(${word.text})`;
  return [
    result.options.map(({ name, value }) => (value === null ? name : `${name} ${show(value)}`)),
    result.operands.map(show),
    [...result.problems],
  ];
}

test.each<[string, [string[], string[], string[]], Rules?]>([
  ["-ab x", [["-a", "-b"], ["x"], []]],
  ["-abn5 x", [["-a", "-b", "-n 5"], ["x"], []]],
  ["-n 5 x", [["-n 5"], ["x"], []]],
  ["-an -b", [["-a", "-n -b"], [], []]],
  ["-n", [[], [], ["option -n without its value"]]],
  ["-i x", [["-i"], ["x"], []]],
  ["-i.bak", [["-i .bak"], [], []]],
  ["-ai.bak", [["-a", "-i .bak"], [], []]],
  ["-ia", [["-i a"], [], []]],
  ["--number=5 --number 6 x", [["--number 5", "--number 6"], ["x"], []]],
  ["--number=", [["--number "], [], []]],
  ["--num=5", [["--number 5"], [], []]],
  ["--color --color=always x", [["--color", "--color always"], ["x"], []]],
  ["--col", [["--color"], [], []]],
  ["--o=x", [["--output x"], [], []]],
  ["--a", [["--all"], [], []]],
  ["--all=x", [[], [], ["option --all takes no value"]]],
  ["--nope", [[], [], ["unknown option --nope"]]],
  ["--nope=/etc/passwd", [[], [], ["unknown option --nope"]]],
  ["-ax", [["-a"], [], ["unknown option -x"]]],
  ["x -a y --all z", [["-a", "--all"], ["x", "y", "z"], []]],
  ["x -- -a --all", [[], ["x", "-a", "--all"], []]],
  ["-n -- x", [["-n --"], ["x"], []]],
  ["- -a", [["-a"], ["-"], []]],
  ["-50 x", [[], ["x"], []], { digits: true }],
  ["-5a x", [["-a"], ["x"], []], { digits: true }],
  ["-50", [[], [], ["unknown option -5"]]],
  ["-a x -b", [["-a"], ["x", "-b"], []], { strict: true }],
  [
    "-long -all -number=5 -output x y",
    [["-long", "--all", "--number 5", "--output x"], ["y"], []],
    { oneDash: true },
  ],
  ["-ox y", [["-o x"], ["y"], []], { oneDash: true }],
  ["-ab", [[], [], ["unknown option -ab"]], { oneDash: true }],
  ["'' x", [[], ["", "x"], []]],
])("%s", (line, want, rules) => {
  expect(parsed(line, rules)).toEqual(want);
});

const unknown = (
  prefix: string,
  more: Partial<Extract<Word["value"], { kind: "unknown" }>> = {},
): Word => ({
  text: `${prefix}$x`,
  value: { kind: "unknown", prefix, many: false, why: "test", ...more },
  quoted: true,
});

test("a word that could be an option without our knowing is a problem, unless nothing could do harm", () => {
  expect(parsed([unknown("")])).toEqual([[], ["($x)"], ["$x may be an option"]]);
  expect(parsed([unknown("-")])).toEqual([[], ["(-$x)"], ["-$x may be an option"]]);
  expect(parsed([unknown("--")])).toEqual([[], ["(--$x)"], ["--$x may be any option"]]);
  expect(parsed([unknown("")], { anyArgs: true })).toEqual([[], ["($x)"], []]);
  expect(parsed([unknown("x")])).toEqual([[], ["(x$x)"], []]);
  expect(parsed([...wordsOf("--"), unknown("")])).toEqual([[], ["($x)"], []]);
});

test("a value that is not known belongs to its option", () => {
  expect(parsed([unknown("-n")])).toEqual([["-n (-n$x)"], [], []]);
  expect(parsed([unknown("--number=")])).toEqual([["--number (--number=$x)"], [], []]);
  expect(parsed([...wordsOf("-n"), unknown("")])).toEqual([["-n ($x)"], [], []]);
  expect(parsed([unknown("-a")])).toEqual([["-a"], [], ["-a$x may be any option"]]);
});

test("a word that may be several is a problem wherever it stands before `--`", () => {
  const several = unknown("", { many: true });
  expect(parsed([...wordsOf("-n"), several])[2]).toEqual(["$x may be more than the value of -n"]);
  expect(parsed([unknown("-n", { many: true })])[2]).toEqual(["-n$x may be several words"]);
});

test("a sample stands for a word whose digits alone are not known", () => {
  expect(parsed([unknown("-", { sample: "-n5" })])).toEqual([["-n (-$x)"], [], []]);
  expect(parsed([unknown("", { sample: "/tmp/a" })])).toEqual([[], ["($x)"], []]);
});

test("a glob after an option gives it one word and the others to the operands", () => {
  expect(parsed("--number src/*")).toEqual([["--number (src/*)"], ["(src/*)"], []]);
  expect(parsed("--number *")).toEqual([
    ["--number (*)"],
    ["(*)"],
    ["* may be more than the value of --number"],
  ]);
  expect(parsed("--number=*.ts")).toEqual([["--number (--number=*.ts)"], [], []]);
});

test("an abbreviation of options that differ is refused", () => {
  const two = optionTable({ flags: "--output-all", writes: "--output=" });
  const result = parseOptions(wordsOf("--out=x"), {
    table: two,
    digits: false,
    strict: false,
    oneDash: false,
    anyArgs: false,
  });
  expect(result.problems).toEqual(["ambiguous option --out"]);
});

test("an option that a form lists twice is an error of the catalogue", () => {
  expect(() => optionTable({ flags: "-a", writes: "-a=" })).toThrow("option -a= is listed twice");
});

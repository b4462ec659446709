/** Every simple command anywhere is a segment (A8, B6, B8). */

import { describe, expect, test } from "vitest";
import { understand } from "../../../daemon/policy/shell/understand.ts";
import { CONTEXT, segments } from "./reading.ts";

describe("constructs of bash", () => {
  const cases: Record<string, string[]> = {
    "ls -la": ["ls -la"],
    "a | b |& c": ["a", "b", "c"],
    "a && b || c; d & e\nf": ["a", "b", "c", "d", "e", "f"],
    "(a; b) | { c; }": ["a", "b", "c"],
    "! a; time -p b": ["a", "b"],
    "if a; then b; elif c; then d; else e; fi": ["a", "b", "c", "d", "e"],
    "while a; do b; done; until c; do d; done": ["a", "b", "c", "d"],
    "for ((i = 0; i < 3; i++)); do a $i; done": ["a #1"],
    "case $(a) in $(b)) c ;; *) d ;; esac": ["a", "b", "c", "d"],
    "select x in a b; do c; done": ["c"],
    "echo $(a) `b \\`c\\``": ["a", "c", "b ?*", "echo ?* ?*"],
    "diff <(a) >(b)": ["a", "b", "diff /dev/fd/?~/dev/fd/63 /dev/fd/?~/dev/fd/63"],
    "cat <<E\n$(a) `b`\nE": ["a", "b", "cat"],
    "cat <<'E'\n$(a)\nE": ["cat"],
    'cat <<< "$(a)"': ["a", "cat"],
    "cat <<A <<B; d\nx $(a)\nA\n$(b)\nB\nc": ["a", "b", "cat", "d", "c"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not JavaScript.
    'echo ${x:-$(a)} "${y:=`b`}" ${z/$(c)/$(d)} ${w:+"$(e)"}': [
      "a",
      "b",
      "c",
      "d",
      "e",
      "echo ?* ? ?* ?*",
    ],
    "x=$(a) y[1]=$(b) c; z=$(d)": ["a", "b", "c", "d"],
    "arr=($(a) x)": ["a"],
    "[[ -n $(a) && ( b == $(c) ) ]]": ["a", "c", "[[ -n ? && ( b == ? ) ]]"],
    "cat < $(a) > $(b)": ["a", "b", "cat"],
    "export X=$(a)": ["a", "export X=?"],
    "f() { a; }; b": ["b", "a"],
  };
  for (const [command, expected] of Object.entries(cases)) {
    test(JSON.stringify(command), () => expect(segments(command)).toEqual(expected));
  }
});

describe("functions", () => {
  test("a body is read at each call, with the arguments of the call", () => {
    expect(segments('f() { cat "$1" $#; }; f a; f "b c"')).toEqual([
      "f a",
      "cat a #1",
      'f "b c"',
      'cat "b c" #1',
    ]);
  });
  test("a name that shadows a program means the function from then on", () => {
    expect(segments("ls; ls() { rm -rf src; }; ls; command ls")).toEqual([
      "ls",
      "ls",
      "rm -rf src",
      "ls",
    ]);
  });
  test("a call is marked as represented by other segments, unless it may be a program", () => {
    const inner = (command: string): unknown[] =>
      understand(command, CONTEXT).segments.map((one) => [one.text, one.inner ?? false]);
    expect(inner("f() { a; }; f")).toEqual([
      ["f", true],
      ["a", false],
    ]);
    expect(inner("if x; then f() { a; }; fi; f").slice(1)).toEqual([
      ["f", false],
      ["a", false],
      ["f", false],
    ]);
  });
  test("locals end with the call, other variables and the folder do not", () => {
    expect(
      segments("X=o Y=o; f() { local X=i; Y=i; cd d && a $X; }; f && b $X $Y").slice(-2),
    ).toEqual(["a i @ /w/d", "b o i @ /w or /w/d"]);
  });
  test("`return` ends the body only", () => {
    expect(segments("f() { cd d || return; a; }; f; b").slice(-2)).toEqual([
      "a @ /w/d",
      "b @ /w or /w/d",
    ]);
  });
});

describe("pipes and standard input", () => {
  const shape = (command: string): unknown[] =>
    understand(command, CONTEXT).segments.map(({ words, stdin, pipedTo }) => [
      words[0]?.text ?? "",
      stdin.kind === "pipe" ? [...stdin.from] : stdin.kind,
      pipedTo,
    ]);
  test("each stage knows who writes to it and who reads from it", () => {
    expect(shape("a | { b; c; } | d")).toEqual([
      ["a", "inherit", 1],
      ["b", [0], 3],
      ["c", [0], 3],
      ["d", [1, 2], null],
    ]);
  });
  test("files, text, nothing, and the background's nothing", () => {
    expect(shape("a < f; b <<< x; c < /dev/null; d & e < <(g)")).toEqual([
      ["a", "file", null],
      ["b", "text", null],
      ["c", "null", null],
      ["d", "null", null],
      ["g", "inherit", null],
      ["e", [4], null],
    ]);
  });
  test("a redirect of a compound command is a segment without words, and everything inside reads from it", () => {
    const { segments: all } = understand("{ a; b; } < in > out", CONTEXT);
    expect(
      all.map(({ words, redirects, stdin }) => [words.length, redirects.length, stdin.kind]),
    ).toEqual([
      [0, 2, "file"],
      [1, 0, "file"],
      [1, 0, "file"],
    ]);
  });
});

describe("redirects", () => {
  const redirects = (command: string): unknown[] =>
    (understand(command, CONTEXT).segments.at(-1)?.redirects ?? []).map(
      ({ kind, fd, both, target }) => [kind, fd, both, target?.text ?? null],
    );
  test("kinds, descriptors and targets", () => {
    expect(redirects("a < i > o >> p 2> e >| c <> rw 3< t &> b &>> ab >& w")).toEqual([
      ["read", 0, false, "i"],
      ["write", 1, false, "o"],
      ["append", 1, false, "p"],
      ["write", 2, false, "e"],
      ["write", 1, false, "c"],
      ["readwrite", 0, false, "rw"],
      ["read", 3, false, "t"],
      ["write", 1, true, "b"],
      ["append", 1, true, "ab"],
      ["write", 1, true, "w"],
    ]);
  });
  test("duplicates, and a descriptor that a variable names", () => {
    expect(redirects("a 2>&1 <&3 4>&- {v}> f")).toEqual([
      ["dup", 2, false, "1"],
      ["dup", 0, false, "3"],
      ["dup", 4, false, "-"],
      ["write", null, false, "f"],
    ]);
  });
  test("a target that is not one sure word is not known", () => {
    const value = understand("a > {b,c}", CONTEXT).segments[0]?.redirects[0]?.target?.value;
    expect(value?.kind).toBe("unknown");
  });
});

describe("assignments", () => {
  const env = (command: string): unknown[] =>
    understand(command, CONTEXT).segments.map(({ text, words, env: all }) => [
      words.length === 0 ? "" : text,
      ...all.map(({ name, exported }) => (exported ? `${name}!` : name)),
    ]);
  test("alone they are a segment only where something would see them", () => {
    expect(env("X=1; Y=$X; PATH=/x; LANG=x; IFS=,; ls")).toEqual([
      ["", "PATH!"],
      ["", "LANG!"],
      ["", "IFS"],
      ["ls"],
    ]);
  });
  test("before a command they are its environment, and of everything a shell in it starts", () => {
    expect(env("A=1 B=2 bash -c 'a; C=3 b'")).toEqual([
      ["a", "A!", "B!"],
      ["C=3 b", "A!", "B!", "C!"],
    ]);
  });
  test("`export` carries what it exports", () => {
    expect(env('X=1; export X "Y=2" Z=3; declare -x V=4 W')).toEqual([
      ['export X "Y=2" Z=3', "Z!", "X!", "Y!"],
      ["declare -x V=4 W", "V!", "W!"],
    ]);
  });
});

/** Words are decoded once, as bash would (B3, B8). */

import { describe, expect, test } from "vitest";
import { understand } from "../../../daemon/policy/shell/understand.ts";
import { CONTEXT, codes, last, segments } from "./reading.ts";

function all(cases: Record<string, string>): void {
  for (const [words, expected] of Object.entries(cases)) {
    test(words, () => expect(last(`v ${words}`)).toBe(expected === "" ? "v" : `v ${expected}`));
  }
}

describe("quotes and escapes", () =>
  all({
    "'a b' \"c d\" e\\ f": '"a b" "c d" "e f"',
    "a'b'\"c\"\\d": "abcd",
    "$'\\x72m' $'\\162\\155' $'a\\tb' $'\\u0041'": 'rm rm "a\\tb" A',
    "$'a\\0b' c": "a c",
    "a\\\nb": "ab",
    '"a\\\nb\\$c\\d"': "ab$c\\d",
    "'' \"\" a''": '"" "" a',
    "'*' \\* \"?\" [ \\[a]": '* * "?" [ [a]',
    "'$x' \\$x": "$x $x",
  }));

describe("verbs are decoded too", () => {
  for (const verb of [
    "r\\m",
    "'rm'",
    'r"m"',
    "$'\\x72m'",
    "r\\\nm",
    "r$@m",
    "{rm,-rf,src}",
    "$(echo rm)",
  ]) {
    test(verb, () => expect(last(`${verb} -x`)).toMatch(/^rm (?:-rf src )?-x$/));
  }
  test("a verb that is not sure is a problem", () => {
    for (const verb of ["$cmd", "/bin/r?", "r$(x)m", '"$(x)"', "$((1))"]) {
      expect([verb, codes(`${verb} -rf src`)]).toEqual([verb, ["unknown-verb"]]);
    }
  });
  test("a verb that is one of several is read as each of them", () => {
    expect(segments("for t in ls 'rm'; do $t x; done")).toEqual(["ls x", "rm x"]);
  });
});

describe("braces", () =>
  all({
    "{a,b}": "a b",
    "x{a,b}y{1..3}": "xay1 xay2 xay3 xby1 xby2 xby3",
    "{a,b{c,d}}": "a bc bd",
    "{01..3} {3..1} {1..9..4} {-1..1} {a..c} {c..a..2}": "01 02 03 3 2 1 1 5 9 -1 0 1 a b c c a",
    "a{,b} {,}": "a ab",
    "{a} {} {a,b {a..} a{b,c}}": "{a} {} {a,b {a..} ab} ac}".replaceAll(/\S*[{}]\S*/g, (one) =>
      JSON.stringify(one),
    ),
    "{'a,b',c} {a\\,b,c} \"{a,b}\"": 'a,b c a,b c "{a,b}"',
    "{a,$(x)b} ${z}{p,q}": "a ?* ?* ?*",
    "{1..100000}": "?*",
    "{a..Z}": "?*",
    "{#,x}": '"#" x',
  }));

describe("tilde", () =>
  all({
    "~ ~/x ~/'a b' a~": '/home/a /home/a/x "/home/a/a b" a~',
    '\'~\' \\~ ~"/x" "~/x"': "~ ~ ~/x ~/x",
    "~root ~+ ~-/x": "? ? ?",
    "of=~/x --of=~/x": "of=/home/a/x --of=~/x",
  }));

describe("patterns", () =>
  all({
    "*.c src/*.c": "glob(*.c in ., dashed) glob(src/*.c in src)",
    "/etc/p*/x /*": "glob(/etc/p*/x in /etc) glob(/* in /)",
    "./*": "glob(./* in .)",
    // Before bash 5.2 these match `..` too.
    ".* .git* src/.?": "glob(.* in ..) glob(.git* in .) glob(src/.? in src/..)",
    "*/../x a/../*.c": "?* glob(a/../*.c in a/..)",
    "'a b'/*": "glob(a b/* in a b)",
    "a[b a[1] [!a]x": "a[b glob(a[1] in .) glob([!a]x in ., dashed)",
    "[$x]": "?*",
    "-*": "glob(-* in ., dashed)",
  }));

describe("process substitutions", () => {
  test("a word is marked only when it is nothing else", () => {
    const marks = (command: string): unknown[] =>
      understand(command, CONTEXT)
        .segments.at(-1)
        ?.words.map(({ process }) => process) ?? [];
    expect(marks("v <(a) >(b)")).toEqual([undefined, "<", ">"]);
    for (const touching of [
      "v <(a)/../x",
      "v x<(a)",
      "v <(a)<(b)",
      "v X=<(a)",
      "X=<(a)/x v",
      "for f in x<(a); do v; done",
      "v < <(a)/x",
    ]) {
      expect([touching, ...codes(touching)]).toContain("parse-error");
    }
  });
});

describe("expansions", () =>
  all({
    "$? $# $$ ${#x} $((1+2)) $RANDOM": "#1 #1 #1 #1 #1 #1",
    '$x "$x" a$x "/tmp/$x"': "?* ? a?* /tmp/?",
    '$1 "$1" $@ "$@" "$*"': '"" ""',
    "$HOME $PWD/x $LANG": "/home/a /w/x C",
    "f$?.txt /tmp/x$$ -n$#": "#f1.txt /tmp/x?~/tmp/x1 -n?~-n1",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not JavaScript.
    '"EXIT=${PIPESTATUS[0]}"': "#EXIT=1",
    "$!": "?*",
    "${x@Q} ${x:1:2} ${x^^}": "? ? ?".replaceAll("?", "?*"),
  }));

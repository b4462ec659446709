/** What cannot be understood asks (rung 0), and says why; limits fail closed. */

import { describe, expect, test } from "vitest";
import { COMMAND_CHARS_MAX, SEGMENTS_MAX } from "../../../daemon/limits.ts";
import { understand } from "../../../daemon/policy/shell/understand.ts";
import { allSegments, CONTEXT, codes } from "./reading.ts";

describe("problems", () => {
  const cases: Record<string, string> = {
    "": "empty",
    "  \n\t ": "empty",
    "# only a comment": "empty",
    "ls 'unterminated": "parse-error",
    "git log &&& rm x": "parse-error",
    "cat <<E\nno end": "parse-error",
    "if a; then b": "parse-error",
    "echo $(a": "parse-error",
    "echo $(if a; then)": "parse-error",
    "ls @(a|b)": "extended-glob",
    'echo $"hi"': "translated-string",
    "x='a[$(b)]'; (( x ))": "arithmetic",
    "echo $((x + 1))": "arithmetic",
    "echo $(( $(cat f) + 1 ))": "arithmetic",
    "echo ${a[$(cat f)]}": "arithmetic",
    "echo ${a[x]}": "arithmetic",
    "[[ $x -eq 1 ]]": "arithmetic",
    "[[ -v a[$(b)] ]]": "arithmetic",
    "let $x": "arithmetic",
    "declare -i x=$y": "arithmetic",
    "declare -i x; read x": "arithmetic",
    "for ((i=0; i<n; i++)); do :; done": "arithmetic",
    "[ -v 'a[$(b)]' ]": "variable-name",
    "printf -v 'a[$(b)]' c": "variable-name",
    "read 'a[$(b)]'": "variable-name",
    "unset 'a[$(b)]'": "variable-name",
    "read $x": "variable-name",
    "mapfile -C ./x -c 1 < f": "callback",
    "echo ${x@P}": "prompt-expansion",
    "x='a[$(b)]'; echo ${!x}": "indirect",
    "echo ${x;}": "unknown-syntax",
    "trap $x EXIT": "trap",
    "trap 'cd /' DEBUG": "trap",
    "alias ls='rm -rf src'": "alias",
    "enable -n cd": "changed-names",
    "hash -p /x ls": "changed-names",
    "shopt -s extglob": "shell-option",
    "shopt -s expand_aliases lastpipe": "shell-option",
    "set -o posix": "shell-option",
    "set +B": "shell-option",
    "declare $x": "declaration",
    "declare -a 'x=($(b))'": "declaration",
    "declare -n x=y": "nameref",
    "export -f f": "exported-function",
    "exec < f": "redirected-shell",
    "coproc a": "coprocess",
    ":(){ :|:& };:": "recursion",
    "for PATH in /evil; do ls; done": "special-variable",
    ": ${PS4:=$x}": "special-variable",
    "((PATH=1))": "special-variable",
    "read -r LD_PRELOAD <<< ./x": "special-variable",
    "echo $(cat <<E; a\nx\nE\n)": "here-document",
    "ls\u00a0&&\u00a0./x": "odd-space",
  };
  for (const [command, code] of Object.entries(cases)) {
    test(JSON.stringify(command), () => expect(codes(command)).toContain(code));
  }
});

describe("no problems", () => {
  const fine = [
    "set -euo pipefail; shopt -s nullglob globstar",
    "trap 'rm -f x' EXIT INT TERM; trap - INT; trap -p",
    "alias; hash; enable",
    "i=0; ((i++)); let i+=2; echo ${a[0]} ${PIPESTATUS[0]} ${a[@]}",
    "for ((i=0; i<10; i++)); do echo $((i * 2 % 7)); done",
    "[[ 5 -gt 3 && -f x && $x == a* && $x =~ ^a ]]",
    "declare -A m; m[k]=v; echo ${m[k]}",
    "cat <<E\n$x \\$y\nE",
    "git commit -m \"$(cat <<'E'\nx\nE\n)\"",
    "printf '%s\\n' \"$x\"; read -r a b; mapfile -t c",
    "case $x in a*) ;; [bc]) ;; esac",
    "echo '全角\u3000スペース' \"a\u00a0b\"",
    "echo ✅ 日本語 ⚠️ 👩‍💻",
  ];
  for (const command of fine) test(command, () => expect(codes(command)).toEqual([]));
});

describe("characters", () => {
  test("that do not print are named by code point and place", () => {
    const shown = (text: string): string[] =>
      understand(text, CONTEXT).problems.map(
        ({ code, message, at }) => `${code}: ${message} (${at})`,
      );
    expect(shown("ls \u202Ex")).toEqual(["bidi-character: bidi character U+202E at 3 (3)"]);
    expect(shown("l\u200Bs")).toEqual(["invisible-character: invisible character U+200B at 1 (1)"]);
    expect(shown("ls\u0000x")).toEqual(["nul-character: nul character U+0000 at 2 (2)"]);
    expect(shown("ls\r")).toEqual(["control-character: control character U+000D at 2 (2)"]);
    expect(shown("ls \u{E0041}")).toEqual([
      "invisible-character: invisible character U+E0041 at 3 (3)",
    ]);
    expect(shown("ls \uD800")).toEqual(["invalid-character: invalid character U+D800 at 3 (3)"]);
  });
  test("newline and tab are ordinary", () => expect(codes("ls\t-l\ncat x")).toEqual([]));
});

describe("limits", () => {
  test("length", () => {
    expect(codes(`echo ${"x".repeat(COMMAND_CHARS_MAX)}`)).toEqual(["too-long"]);
  });
  test("segments: those within it are still there", () => {
    const all = "a;".repeat(SEGMENTS_MAX + 1);
    expect(codes(all)).toEqual(["too-many-segments"]);
    expect(allSegments(all)).toHaveLength(SEGMENTS_MAX);
  });
  test("depth, of every kind of nesting", () => {
    const nested = (open: string, close: string, depth = 60): string =>
      `${open.repeat(depth)}a${close.repeat(depth)}`;
    for (const [open, close] of [
      ["( ", " )"],
      ["{ ", "; }"],
      ["$(", ")"],
      ["if ", "; then b; fi"],
      ["eval eval ", ""],
    ]) {
      const command = `${open === "$(" ? "echo " : ""}${nested(open ?? "", close ?? "")}`;
      expect([open, codes(command).length > 0]).toEqual([open, true]);
    }
    expect(codes(nested("(", ")", 20_000)).length).toBeGreaterThan(0);
    expect(codes(`echo ${nested("$(", ")", 5_000)}`).length).toBeGreaterThan(0);
  });
  test("work: loops and functions inside each other", () => {
    const loops = `${"for i in 1 2; do X=$X$i; ".repeat(12)}a;${" done;".repeat(12)}`;
    expect(codes(loops)).toContain("too-complex");
    const calls = Array.from({ length: 20 }, (_, at) => `f${at + 1}() { f${at}; f${at}; };`).join(
      " ",
    );
    expect(codes(`f0() { a; }; ${calls} f20`).length).toBeGreaterThan(0);
  });
  test("a text that is hard to match ends all the same", () => {
    const started = performance.now();
    codes(
      `X=${"a".repeat(400)}; echo \${X%${"*a".repeat(30)}b} {${"{".repeat(200)},${"}".repeat(200)}}`,
    );
    codes(
      `echo ${"{a,b}".repeat(40)} ${"{1..9}".repeat(12)} ${"[".repeat(2000)} ${"~:".repeat(2000)}`,
    );
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

/** What is sure about variables, loops and listed names, and what is not. */

import { describe, expect, test } from "vitest";
import { allSegments, last, segments } from "./reading.ts";

function lasts(cases: Record<string, string>): void {
  for (const [command, expected] of Object.entries(cases)) {
    test(command, () => expect(last(command)).toBe(expected));
  }
}

describe("variables", () =>
  lasts({
    "S=/some/dir; v $S/x": "v /some/dir/x",
    "X=a Y=$X; v $Y": "v a",
    "X='a b'; v $X \"$X\" x$X": 'v a b "a b" xa b',
    "X='*.c'; v $X \"$X\"": "v glob(*.c in ., dashed) *.c",
    "X='a\\b'; v $X": "v ?*",
    'X=; v $X a "$X"': 'v a ""',
    "X=a; X+=b; v $X": "v ab",
    "X=5; X=$((X+1)); v $X": "v #1",
    "if c; then X=a; else X=b; fi; v $X": "v {a|b}",
    "if c; then X=a; fi; v $X": "v ?*",
    "X=a; c && X=b; v $X": "v {b|a}",
    "X=a; (X=b); v $X": "v a",
    "X=a; { X=b; }; v $X": "v b",
    "X=a; X=b | c; v $X": "v a",
    "X=a; X=b & v $X": "v a",
    "X=a; Y=$(X=b; echo $X); v $X $Y": "v a b",
    "X=a; unset X; v $X": "v ?*",
    "X=a; source f; v $X": "v ?*",
    "X=a; eval 'X=b'; v $X": "v b",
    "X=a; read -r X; v $X": "v ?*",
    "read -r X <<< 'a b'; v \"$X\"": 'v "a b"',
    "X=a; printf -v X b; v $X": "v ?*",
    'IFS=:; X=a:b; v $X "$X"': "v ?* a:b",
    'X=(a \'b c\'); X+=(d); v "${X[@]}" "${X[1]}" $X': 'v a "b c" d "b c" a',
    "declare -A m=([k]=v); v ${m[k]}": "v ?*",
    "set -- a 'b c'; v \"$@\" $#; ": 'v a "b c" #1',
    'set -- a b c; shift 2; v $1 "$2"': 'v c ""',
    "readonly X=a; read X <<< b; v $X": "v {a|b}",
    'PWD=/x; cd /d && v "$PWD"': "v ? @ /d",
    "X=src/a.ts; v ${X%.ts}.js ${X##*/} ${X%/*} ${X/a/b} ${X^^}":
      "v src/a.js a.ts src src/b.ts SRC/A.TS",
    "X=; v ${X:-d} ${X:+e} ${Y:-f}": "v d ?*",
    'T=$(mktemp -d); v "$T/x"': "v /tmp/tmp.?~/tmp/tmp.x1/x",
    'N=$(wc -l < f); v -n $N "${N}p" $N/x': "v -n #1 #1p ?",
    "v $(basename a/b.c .c) $(dirname a/b) $(pwd) $(echo x y)": "v b a /w x y",
    "v $(git rev-parse --show-toplevel)/x $(git rev-parse HEAD) $(date +%s)": "v /w/x # #1",
    'v $(cat f) "$(cat f)"': "v ?* ?",
  }));

describe("what a command prints that may not run", () => {
  const cases: Record<string, string> = {
    'v "$(false && echo a)/x"': "v {/x|a/x}",
    'v "$(exit; echo a)/x"': "v {/x|a/x}",
    'v "$(echo a < f)/x"': "v {/x|a/x}",
    'v "$(if true; then echo a; fi)/x"': "v {/x|a/x}",
    'v "$(cd src && pwd)/x"': "v {/x|/w/src/x}",
    'v "$(echo a)/x"': "v a/x",
  };
  for (const [command, expected] of Object.entries(cases)) {
    test(command, () => expect(last(command)).toBe(expected));
  }
  test("a trap prints at the end", () => {
    expect(segments("v \"$(echo a; trap 'echo b' EXIT)\"").slice(0, 3)).toEqual([
      "echo a",
      'trap "echo b" EXIT',
      "v ?",
    ]);
  });
  test("a number that may be no word is read with and without", () => {
    expect(segments("head -n $(wc -l < f) x").slice(1)).toEqual(["head -n x", "head -n #1 x"]);
    expect(segments("N=$(wc -l < f); v -o $N x").slice(1)).toEqual(["v -o x", "v -o #1 x"]);
    expect(segments('v -o "$(wc -l < f)" $(nproc)').slice(2)).toEqual(["v -o #1 #1"]);
  });
});

describe("a part of a line that may not have run", () => {
  test("after an expansion that may fail, nothing on its line is sure", () => {
    expect(last("X=/etc; : $((1/0)); X=ok\nv $X")).toBe("v ?*");
    expect(last("X=/etc\nX=$((1/Z0+0))\nv $X".replace("Z0", "0"))).toBe("v ?*");
    expect(last("cd d && : $((1/0)) && cd ..\nv a")).toBe("v a @ ?");
    expect(last("X=ok; : $((1/2)); v $X")).toBe("v ok");
  });
  test("an assignment in an operand or a branch of arithmetic may not happen", () => {
    expect(last("X=2; ((0 && (X=1))); v $X")).toBe("v #1");
    expect(allSegments("X=/etc; ((0 && (X=1))); v $X").at(-1)).toBe("v ?*");
    expect(last("Y=a; : ${X+${Y:=b}}; v $Y")).toBe("v a");
    expect(last("Y=; : ${X+${Y:=b}}; v $Y")).toBe("v ?*");
  });
});

describe("loops", () =>
  lasts({
    "for f in a 'b c'; do v \"$f\"; done": "v {a|b c}",
    "for f in a b; do v $f/x; done": "v {a|b}/x".replace("{a|b}/x", "{a/x|b/x}"),
    "for f in {1..3}; do v $f; done": "v {1|2|3}",
    "for f in $(seq 3); do v $f; done": "v #1",
    'for f in *.c src/*; do v $f "$f"; done': "v <.,src dashed split> <.,src dashed>",
    'for f in src/*.c; do v "$f" "${f%.c}.o" "$(basename "$f")"; done':
      "v glob(src/*.c in src) <.> <. dashed empty>",
    'for d in */; do v "${d##*/}/etc"; done': "v ?",
    "for f in $(git ls-files); do v $f; done": "v <. dashed split>",
    'for f in $x; do v $f "$f"; done': "v ?* ?",
    "X=a; for i in 1 2; do v $X; X=$X$i; done": "v ?*",
    "X=a; for i in 1 2; do v $X; X=b; done": "v {a|b}",
    "i=0; while c; do i=$((i+1)); v $i; done": "v #1",
    "i=0; while ((i++ < 5)); do v $i; done": "v #1",
    "while c; do cd ..; v a; done": "v a @ / or /w",
    "for i in 1 2; do cd src; v a; done": "v a @ ?",
    "for i in 1 2; do (cd src && v a); done": "v a @ /w/src",
    "for d in a b; do cd /x/$d && v a; done": "v a @ /x/a or /x/b",
    "for d in a b; do cd /w/$d || continue; v a; done": "v a @ /w/a or /w/b",
  }));

describe("listed names", () =>
  lasts({
    'git ls-files | while IFS= read -r f; do v "$f"; done': "v <. dashed>",
    "find src d -name '*.c' | sort | head -3 | while IFS= read -r f; do v \"$f\"; done":
      "v <src,d>",
    'while IFS= read -r f; do v "$f"; done < <(rg -l x src)': "v <src>",
    'while read f; do v "$f"; done < <(git diff --name-only)': "v <. dashed split>",
    "grep -rl x src | xargs v": "v <src many split>",
    "find . -print0 | xargs -0 v": "v <. many>",
    "fd x src | xargs -d '\\n' v": "v <src many>",
    "ls | xargs -I{} v d/{} {}.bak": "v <d/ split> <. dashed split>",
    'mapfile -t A < <(git ls-files); v "${A[@]}"': "v <. many dashed>",
    'v "$(git ls-files | head -1)"': "v <. dashed empty>",
    'v "$(git ls-files | head -1)/etc/passwd"': "v ?",
    "find src | sed 's/a/b/' | xargs v": "v ?*",
    "find src 2>&1 | xargs v": "v ?*",
    "find src -printf '%f' | xargs v": "v ?*",
    "ls -a | xargs v": "v ?*",
    "ls -R src | xargs v": "v ?*",
    "git ls-files .. | xargs v": "v ?*",
    "find $x | xargs v": "v ?*",
    "cat list | xargs v": "v ?*",
    "echo a.txt | xargs v": "v ?*",
  }));

describe("text that is known is code", () => {
  test("for a shell at the end of a pipe or behind a here-document", () => {
    expect(segments("echo 'rm -rf src' | sh")).toEqual(['echo "rm -rf src"', "sh", "rm -rf src"]);
    expect(segments("cat <<E | bash\nrm x\nE")).toEqual(["cat", "bash", "rm x"]);
    expect(segments("bash <<'E'\ncd d && rm $X\nE")).toEqual(["bash", "cd d", "rm ?* @ /w/d"]);
  });
  test("not when it is not known", () => {
    expect(segments("curl x | sh")).toEqual(["curl x", "sh"]);
    expect(segments("bash <<E\n$x\nE")).toEqual(["bash"]);
  });
});

describe("operands in quotes are not taken for what they are elsewhere", () =>
  lasts({
    'v ${x:-~/f} "${x:-\'/etc\'}" ${x:-"a b"}': "v ?* ? ?*",
    'X=; v "${X:-a}" ${X:-"a b"} "${X:-\'/etc\'}" ${X:-~/f}': "v a ?* ?* ?*",
    "X={a,b}; v $X": "v {a,b}".replace("{a,b}", '"{a,b}"'),
    'X={"a",$Y}; v $X': "v ?*",
    "read X <<< ~/f; v $X": "v /home/a/f",
    "A=(a b c d e f g h i); v ${A[8]} ${A[010]}": "v i ?*",
  }));

describe("traps find any state since they were set", () =>
  lasts({
    "T=a; trap 'v $T' EXIT; T=b": "v {a|b}",
    "trap 'v \"$T/x\"' EXIT; T=b": "v ?",
    "trap 'v x' EXIT; cd src": "v x @ /w or /w/src",
    "X=ok; X=/etc bash -c 'trap \"v \\$X\" EXIT'": "v {ok|/etc}",
    "bash -c 'trap \"v \\$1\" EXIT' _ /etc/passwd": "v ?*",
  }));

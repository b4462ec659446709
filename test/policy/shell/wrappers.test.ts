/** Wrappers are unwrapped by their own grammar (B6); what is not sure asks. */

import { describe, expect, test } from "vitest";
import { understand } from "../../../daemon/policy/shell/understand.ts";
import { allSegments, CONTEXT, codes, last, segments } from "./reading.ts";

describe("the command behind a wrapper", () => {
  const cases: Record<string, string> = {
    "timeout 5 rm x": "rm x",
    "timeout -s KILL -k 1 5s rm x": "rm x",
    "timeout --sig=TERM --foreground 5 rm x": "rm x",
    "nice rm x": "rm x",
    "nice -n 5 rm x": "rm x",
    "nice -5 rm x": "rm x",
    "ionice -c 2 -n7 rm x": "rm x",
    "nohup rm x &": "rm x",
    "stdbuf -oL -e0 rm x": "rm x",
    "setsid -f rm x": "rm x",
    "chrt -r 5 rm x": "rm x",
    "taskset -c 0 rm x": "rm x",
    "/usr/bin/time -v rm x": "rm x",
    "command -p rm x": "rm x",
    "exec -a y rm x": "rm x",
    "env rm x": "rm x",
    "env -i -- A=b rm x": "rm x",
    "env -u A --unset B C=d rm x": "rm x",
    "/usr/bin/env timeout 5 nice rm x": "rm x",
    "env -- A=b timeout --preserve-status 5 bash -ec 'rm x'": "rm x",
    "bash -c 'rm x'": "rm x",
    "bash -lc 'rm x'": "rm x",
    "bash -o pipefail -c 'rm x'": "rm x",
    "bash +x --norc -c -- 'rm x'": "rm x",
    "sh -c 'rm x'": "rm x",
    "zsh -c 'rm x'": "rm x",
    "bash -c 'rm \"$1\" $0' a b": "rm b a",
    "bash -c 'rm \"$@\"' _ a 'b c'": 'rm a "b c"',
    "eval 'rm' x": "rm x",
    "trap 'rm x' EXIT": "rm x",
    "f() { a; }; trap f EXIT": "a",
    "xargs rm": "rm ?*",
    "xargs -n 1 -P4 rm -f": "rm -f ?*",
    "xargs -a list rm": "rm ?*",
    "seq 3 | xargs -I% rm x%": "rm #x1",
    "find . -exec rm {} \\;": "rm <.>",
    "find src d -type f -exec rm {} +": "rm <src,d many>",
    "find . -ok rm {}.bak ';'": "rm <.>",
    "find . -execdir rm {} \\;": "rm <.> @ ?",
    "find src -exec bash -c 'rm \"$1\"' _ {} \\;": "rm <src>",
    'find "$x" -exec rm {} \\;': "rm ?",
    "watch -n1 'rm x'": "rm x",
    "sudo -u root A=b rm x": "rm x",
    "flock -n l rm x": "rm x",
    "unshare -r rm x": "rm x",
  };
  for (const [command, expected] of Object.entries(cases)) {
    test(command, () => expect(last(command)).toBe(expected));
  }
  test("its wrappers are named, outermost first, and its environment and redirects go with it", () => {
    const [one] = understand("A=1 env B=2 timeout 5 bash -c 'x' > f", CONTEXT).segments.slice(-1);
    expect(one?.wrappers).toEqual(["env", "timeout", "bash"]);
    expect(one?.env.map(({ name }) => name)).toEqual(["A", "B"]);
    const [redirects] = understand("timeout 5 x > f", CONTEXT).segments;
    expect(redirects?.redirects.map(({ target }) => target?.text)).toEqual(["f"]);
  });
  test("`find` is a segment of its own, marked when its commands are segments too", () => {
    const [find, inner] = understand("find . -exec rm {} \\;", CONTEXT).segments;
    expect([find?.words.length, find?.delegated, inner?.wrappers]).toEqual([6, true, ["find"]]);
  });
  test("sudo and its like stay segments, with the command in them for the deny rules", () => {
    expect(segments("sudo rm x")).toEqual(["sudo rm x", "rm x"]);
  });
});

describe("wrappers that run nothing else are segments as they stand", () => {
  for (const command of [
    "env",
    "env A=b",
    "command -v ls",
    "nice",
    "exec 3> f",
    "taskset 1",
    "bash f.sh a",
    "bash",
    "ionice -c 2 -p 5",
  ]) {
    test(command, () => expect(segments(command)).toHaveLength(1));
  }
});

describe("what is not sure", () => {
  const cases: Record<string, string> = {
    "timeout $x rm x": "wrapper",
    "timeout --unknown 5 rm": "wrapper",
    "env -S 'rm x'": "wrapper",
    "xargs --process-slot-var=PATH rm": "wrapper",
    "find . $x -exec rm {} \\;": "wrapper",
    'bash -c "$x"': "code",
    "xargs -I{} bash -c 'rm {}'": "code",
    "find . -exec sh -c 'rm {}' \\;": "code",
    "bash -i -c ls": "shell-option",
    "bash --rcfile f": "shell-option",
    "bash -O extglob -c ls": "shell-option",
    "bash -o posix -c ls": "shell-option",
    "sh -c '[[ -f x ]]'": "dialect",
    "sh -c 'echo ok &>/dev/null rm'": "dialect",
    "dash -c 'ls {a,b}'": "dialect",
    "sh -c 'X=/etc :; cat $X/passwd'": "dialect",
    "sh -c 'dd of=~/x'": "dialect",
    "sh -c \"echo 'ls\\nrm x' | sh\"": "dialect",
    "zsh -c 'cd a b; ls'": "dialect",
    "bash -c - 'rm x'": "code",
    "zsh -c 'ls *(x)'": "dialect",
    "zsh -c 'ls $x'": "dialect",
    "zsh -c '=ls'": "dialect",
    'eval "$x"': "eval",
  };
  for (const [command, code] of Object.entries(cases)) {
    test(command, () => expect(codes(command)).toContain(code));
  }
  test("the code is read all the same, so that denied verbs are seen", () => {
    expect(allSegments("sh -c '[[ -f x ]] && rm x'").at(-1)).toBe("rm x");
  });
  test("variables that env took away are not known to the shell behind it", () => {
    expect(last("export X=a; env -u X bash -c 'v \"$X/b\"'")).toBe("v ?");
    expect(last("X=a; bash -c 'v \"$X/b\"'")).toBe("v ?");
    expect(last("export X=a; bash -c 'v \"$X/b\"'")).toBe("v a/b");
  });
});

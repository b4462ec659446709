/** Builtins of the shell: what keeps the shell's own state passes, what evaluates text or renames programs lifts. */

import { expect, test } from "vitest";
import { told } from "./told.ts";

const lifts = (line: string): string[] => told(line).filter((each) => each.startsWith("lift "));

test.each([
  "echo -n a <?> *",
  "echo --help",
  "printf '%s\\n' <?>",
  "printf -- '-%d%%n' 3",
  "printf -v line %s a",
  "true <?>",
  ": a",
  "test -n <?>",
  "test <?> = x",
  "[ <?> -gt 3 ]",
  "[ ! -f <?> ]",
  "[ <?> ]",
  "[ -n a -a -z b -o x != y ]",
  "[ -v name ]",
  "[[ <?> == a* ]]",
  "[[ <#> -gt 3 && -n <?> ]]",
  "[[ a =~ b ]]",
  "pwd -P",
  "type -a <?>",
  "which node",
  "command -v node",
  "command -V node",
  "hash -r",
  "alias",
  "set -euo pipefail",
  "set +x -o errexit",
  "set -- <?> a",
  "shopt -s nullglob",
  "declare -a list",
  "declare -i n",
  "local a=1 b=x",
  "readonly a=<?>",
  "export CI=1",
  "export NODE_ENV=test",
  "unset a b",
  "read -r a b",
  "read -r -d '' a",
  "mapfile -t lines",
  "exit <?>",
  "return 1",
  "shift 2",
  "wait",
  "jobs",
  "sleep <?>",
  "let n=1",
  "ulimit -n",
  "umask",
  "trap - EXIT",
  "trap '' INT",
  "times",
])("%s passes", (line) => {
  expect(told(line).filter((each) => !each.startsWith("read"))).toEqual([]);
});

test.each([
  ["printf <?>", "format"],
  ["printf -v 'a[$(id)]' x", "variable name"],
  ["printf -vPATH x", "attached"],
  ["printf -v PATH x", "PATH"],
  ["printf '%s%n' a PATH", "%n"],
  ["test -v 'a[$(id)]'", "evaluated"],
  ["[ -v <?> ]", "evaluated"],
  ["[ <?> a ]", "operator"],
  ["[[ <?> -eq 1 ]]", "evaluated"],
  ["[[ 'a[$(id)]' -eq 1 ]]", "evaluated"],
  ["[[ x -lt 1 ]]", "evaluated"],
  ["command rm -rf x", "runs"],
  ["hash -p ./x ls", "another program"],
  ["alias ls='rm -rf src'", "alias"],
  ["set -a", "option -a"],
  ["set -o allexport", "allexport"],
  ["set <?>", "option"],
  ["shopt -s expand_aliases", "expand_aliases"],
  ["shopt -so x", "set"],
  ["declare -n a=b", "stand"],
  ["declare -i n=x", "evaluates"],
  ["declare 'a[$(id)]=1'", "variable name"],
  ["declare PATH=.", "PATH"],
  ["local IFS=x", "IFS"],
  ["export PATH=./bin", "PATH"],
  ["export NODE_OPTIONS=--require=./x.js", "NODE_OPTIONS"],
  ["export LD_PRELOAD=./x.so", "LD_PRELOAD"],
  ["export BASH_ENV=<?>", "BASH_ENV"],
  ["export -f f", "functions"],
  ["declare -x GIT_DIR=x", "GIT_DIR"],
  ["unset -f f", "functions"],
  ["read PATH", "PATH"],
  ["read 'a[$(id)]'", "variable name"],
  ["mapfile -C ./x -c 1", "runs code"],
  ["let 'a[$(id)]=1'", "let evaluates"],
  ["let n++", "let evaluates"],
  ["jobs -x ./x", "option"],
  ["wait -n -p 'a[$(id)]'", "variable"],
  ["ulimit -n 10", "operand"],
  ["umask 0", "operand"],
  ["trap 'rm x' EXIT", "trap"],
  ["eval x", "not in the catalogue"],
  ["source x", "not in the catalogue"],
  ["exec x", "not in the catalogue"],
  ["enable -f ./x.so y", "not in the catalogue"],
])("%s lifts: %s", (line, why) => {
  expect(lifts(line).join("\n")).toContain(why);
});

test("what test looks at is read", () => {
  expect(told("[ -f a -a -d /etc -a b -nt c -a -n /x ]")).toEqual([
    "read a",
    "read /etc",
    "read b",
    "read c",
  ]);
  expect(told("[[ -e x && /etc -ef y ]]")).toEqual(["read x", "read /etc", "read y"]);
  expect(told("cd src")).toEqual(["read src"]);
  expect(told("pwd")).toEqual(["read cwd"]);
});

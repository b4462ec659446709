/** The words of a shell are read as bash reads them; what would change the reading of the code is refused, not dropped. */
import { spawnSync } from "node:child_process";
import shellQuote from "shell-quote";
import { expect, test } from "vitest";
import { commandLine, parseShellWords, type ShellCall } from "../../daemon/cli/shell-words.ts";

const code = (parts: Partial<Extract<ShellCall, { kind: "code" }>> = {}) => ({
  kind: "code",
  code: "ls",
  name: null,
  options: [],
  args: [],
  ...parts,
});

test.each<[string[], unknown]>([
  [["-c", "ls"], code()],
  [["-lc", "ls"], code()],
  [["-l", "-c", "ls"], code()],
  [["-ic", "ls"], code()],
  [["--login", "--norc", "--noprofile", "--noediting", "-c", "ls"], code()],
  [["-c", "-l", "ls"], code()],
  [["-c", "--", "ls"], code()],
  [["-c", "ls", "name", "a b", "-e"], code({ name: "name", args: ["a b", "-e"] })],
  [["-e", "-c", "ls"], code({ options: ["-e"] })],
  [["-ec", "ls"], code({ options: ["-e"] })],
  [["-c", "-e", "ls"], code({ options: ["-e"] })],
  [["-eux", "-o", "pipefail", "-c", "ls"], code({ options: ["-e", "-u", "-x", "-o", "pipefail"] })],
  [["-euxo", "pipefail", "-c", "ls"], code({ options: ["-e", "-u", "-x", "-o", "pipefail"] })],
  [["-oc", "errexit", "ls"], code({ options: ["-e"] })],
  [["-e", "+e", "+o", "pipefail", "-c", "ls"], code()],
  [["-c", ""], code({ code: "" })],
  [["script.sh", "-c", "x"], { kind: "file", file: "script.sh", options: [], args: ["-c", "x"] }],
  [["-x", "script.sh"], { kind: "file", file: "script.sh", options: ["-x"], args: [] }],
  [["--", "-f"], { kind: "file", file: "-f", options: [], args: [] }],
  [[], { kind: "stdin", interactive: false, options: [], args: [] }],
  [["-"], { kind: "stdin", interactive: false, options: [], args: [] }],
  [["-i"], { kind: "stdin", interactive: true, options: [], args: [] }],
  [["-s", "a", "b"], { kind: "stdin", interactive: false, options: [], args: ["a", "b"] }],
  [["--help"], { kind: "help" }],
  [["--version"], { kind: "version" }],
])("%j", (words, call) => expect(parseShellWords(words)).toEqual(call));

test.each([
  [["-c"], "-c: needs a command"],
  [["-o"], "-o: needs the name of an option"],
  [["-n", "-c", "ls"], "-n: is not an option that recinto-sh takes"],
  [["-r", "-c", "ls"], "-r: is not an option that recinto-sh takes"],
  [["-kc", "ls"], "-k: is not an option that recinto-sh takes"],
  [["+B", "-c", "ls"], "+B: is not an option that recinto-sh takes"],
  [["-H", "-c", "ls"], "-H: is not an option that recinto-sh takes"],
  [["-O", "extglob", "-c", "ls"], "-O: is not an option that recinto-sh takes"],
  [["-o", "posix", "-c", "ls"], "-o posix: is not an option that recinto-sh takes"],
  [["+o", "braceexpand", "-c", "ls"], "+o braceexpand: is not an option that recinto-sh takes"],
  [["--rcfile", "x", "-c", "ls"], "--rcfile: is not an option that recinto-sh takes"],
  [["--posix", "-c", "ls"], "--posix: is not an option that recinto-sh takes"],
])("%j is refused: %s", (words, message) =>
  expect(parseShellWords(words)).toEqual({ kind: "wrong", message }),
);

test("code alone is sent to the letter; what comes with it goes by a bash that has the same", () => {
  const line = (words: string[]) => {
    const call = parseShellWords(words);
    if (call.kind !== "code") throw new Error(call.kind);
    return commandLine(call, call.code, call.name, shellQuote.quote);
  };
  expect(line(["-lc", "ls  'a' # why"])).toBe("ls  'a' # why");
  expect(line(["-ec", "ls"])).toBe("bash -e -c ls /bin/bash");
  expect(line(["-c", 'ls "$1"', "sh", "a b"])).toBe(`bash -c 'ls "$1"' sh 'a b'`);
});

test.each([
  [["-c", 'printf "%s|" "$0" "$@"', "name", "", "a b", "it's", 'a"b', "$x", "a\nb", "é\\", "!!"]],
  [["-ec", "false; echo on"]],
  [["-euo", "pipefail", "-c", "false | true; echo on"]],
  [["-uc", 'echo "$nothing"']],
  [["-fc", "echo *"]],
  [["-C", "-c", "echo x >| /dev/null; echo $-"]],
])("%j comes to the same as bash called that way", (words) => {
  const call = parseShellWords(words);
  if (call.kind !== "code") throw new Error(call.kind);
  const text = commandLine(call, call.code, call.name, shellQuote.quote);
  const run = (given: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync("/bin/bash", given, { encoding: "utf8" });
    return { status, stdout, stderr };
  };
  expect(run(["-c", text])).toEqual(run(words));
});

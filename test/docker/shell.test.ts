/** `recinto-sh` beside a real bash: the same words come to the same output, errors and exit code, whoever starts it. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliOptions, type Ran, runProgram, SHELL_WORDS } from "../cli/run-cli.ts";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();
const AGENT_UID = 5_301;

/** Called as bash and as recinto-sh. */
const SAME: [string, string[], CliOptions?][] = [
  ["a plain command", ["-c", "echo out; echo err >&2; exit 7"]],
  ["a login shell", ["-lc", "echo $((6 * 7))"]],
  ["flags apart, code behind them", ["-l", "-c", "-e", "false; echo on"]],
  ["an interactive one that is given code", ["--norc", "--noprofile", "-c", "echo hi"]],
  ["errexit", ["-e", "-c", "echo a; false; echo b"]],
  ["errexit, nounset, pipefail", ["-euo", "pipefail", "-c", "true | false | true; echo on"]],
  ["nounset", ["-uc", 'echo "$nothing"; echo on']],
  ["xtrace", ["-x", "-c", "echo 'a b'"]],
  ["noglob", ["-fc", "echo *.txt"]],
  ["name and arguments", ["-c", 'printf "<%s>" "$0" "$@"; echo " $#"', "me", "", "a b", "it's $x"]],
  ["several lines and a heredoc", ["-c", 'x=1\ncat <<EOF\nx is $x\nEOF\necho "done"']],
  ["no such command", ["-c", "nothing-of-that-name"]],
  ["no such file", ["-c", "cat gone.txt"]],
  ["a folder as a command", ["-c", "./docs"]],
  ["a mistake in the code", ["-c", "echo a; if"]],
  ["code that ends itself by a signal", ["-c", "kill -TERM $$; sleep 5"]],
  ["a child that ends by a signal", ["-c", "(kill -TERM $BASHPID; sleep 5); echo $?"]],
  ["bytes that are no text", ["-c", "printf '\\377\\000\\n'"]],
  ["empty code", ["-c", ""]],
  ["a comment", ["-c", "# nothing"]],
  ["standard input for the command", ["-c", "sort -r"], { input: "a\nb\n" }],
  ["no standard input", ["-c", "cat; echo end"]],
  ["standard input that nobody reads", ["-c", "echo on"], { input: "x".repeat(300_000) }],
  ["a script on standard input", [], { input: "echo one\nfalse\necho $?\nexit 3\n" }],
  ["a script with arguments", ["-s", "a", "b c"], { input: 'printf "<%s>" "$@"\n' }],
  ["a script file", ["script.sh", "a b"]],
  ["a script file that is traced", ["-x", "./script.sh"]],
  ["a script file that is not there", ["gone.sh"]],
  ["the folder it is started in", ["-c", "pwd; ls"], { cwd: "docs" }],
  ["background jobs", ["-c", "sleep 0.1 & wait $!; echo $?"]],
  ["descriptors", ["-c", "exec 3>&1; echo three >&3; echo two 2>&1 1>&2 | cat"]],
  ["large output", ["-c", "seq 100000"]],
];

describe.skipIf(missing)("recinto-sh", () => {
  let daemon: Recintod;
  let project: TestProject;
  let program: string;
  beforeAll(async () => {
    daemon = new Recintod();
    await daemon.start();
    // What no catalogue knows runs confined, so that a name that does not exist gets as far as bash.
    writeFileSync(
      join(daemon.base, "profiles/shell.yaml"),
      "extends: dev\npolicy: {unknown: confine}\n",
    );
    project = await daemon.addProject("shell", AGENT_UID, "shell");
    void approveAll();
    give("script.sh", 'echo "script: $# $1"\nnothing-of-that-name\nexit 4\n');
    give("note.txt", "a note\n");
    // As an agent's configuration names its shell: one path.
    program = join(daemon.base, "bin/recinto-sh");
    mkdirSync(join(daemon.base, "bin"));
    const quoted = SHELL_WORDS.map((word) => `'${word}'`).join(" ");
    writeFileSync(program, `#!/bin/sh\nexec ${quoted} "$@"\n`);
    chmodSync(program, 0o755);
  });
  afterAll(() => daemon?.close());

  function give(name: string, text: string): void {
    const path = join(project.worktree, name);
    writeFileSync(path, text);
    chownSync(path, AGENT_UID, AGENT_UID);
  }

  /** What is left to ask about is not what is tested here. */
  async function approveAll(): Promise<void> {
    try {
      for await (const { id, state } of daemon.admin.watchApprovals()) {
        if (state === "pending") await daemon.admin.answer(id, { answer: "approve", mode: "once" });
      }
    } catch {
      // The daemon is gone.
    }
  }

  const place = () => ({
    RECINTO_RUN_DIR: daemon.runDir,
    RECINTO_PROJECT: "shell",
    RECINTO_WORKTREE: "",
    RECINTO_SOCKET: "",
    LC_ALL: "C.UTF-8",
    HOME: "/nonexistent",
  });

  /** As the agent would: the one that is not root. */
  function asAgent(words: readonly string[], options: CliOptions = {}): Promise<Ran> {
    const cwd = join(project.worktree, options.cwd ?? ".");
    const as = ["setpriv", `--reuid=${AGENT_UID}`, `--regid=${AGENT_UID}`, "--clear-groups"];
    const env = { ...place(), ...options.env };
    return runProgram([...as, "--", ...words], { ...options, cwd, env });
  }

  test.each(SAME)("%s", async (_, words, options) => {
    const [bash, ours] = await Promise.all([
      asAgent(["/bin/bash", ...words], options),
      asAgent([program, ...words], options),
    ]);
    // A command that a signal ended is told by its number, as every shell tells it on.
    const err = ours.err
      .replace(/^recinto: (?:waiting for a person|\S+ was approved).*\n/gm, "")
      // Each tells its own mistakes by its own name.
      .replace(/^recinto-sh: /, "/bin/bash: ");
    expect({ ...ours, err }).toEqual({ ...bash, code: bash.code ?? 143 });
  });
});

/** `recinto-sh` beside a real bash: the same words come to the same output, errors and exit code, whoever starts it. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
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

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "%s reaches the command, which ends by it, or takes it and goes on",
    async (name, code) => {
      const ended = await asAgent([program, "-c", "echo ready; sleep 4831"], {
        onStarted: (child) => onFirstOutput(child, () => child.kill(name)),
      });
      expect(ended).toMatchObject({ code, out: "ready\n" });
      const left = () => spawnSync("pgrep", ["-f", "^sleep 4831$"]).status;
      await expect.poll(left, { timeout: 60_000 }).toBe(1);

      const trap = `trap 'echo caught; exit 9' ${name.slice(3)}; echo ready; sleep 4832 & wait`;
      const taken = await asAgent([program, "-c", trap], {
        onStarted: (child) => onFirstOutput(child, () => child.kill(name)),
      });
      expect(taken).toMatchObject({ code: 9, out: "ready\ncaught\n" });
    },
  );

  test("a reader that goes away ends it, as `head` does", async () => {
    const script = `${program} -c yes | head -1; echo "\${PIPESTATUS[0]}"`;
    expect(await asAgent(["/bin/bash", "-c", script])).toMatchObject({ code: 0, out: "y\n141\n" });
  });

  test("what is refused exits 126 with the reason, and where there is no daemon it says so", async () => {
    const outside = await asAgent([program, "-c", "shutdown now"], {
      env: { RECINTO_PROJECT: "nothing" },
    });
    expect(outside).toMatchObject({ code: 69, err: expect.stringContaining("no daemon listens") });
    const nowhere = await asAgent([program, "-c", "ls"], { env: { RECINTO_PROJECT: "" } });
    expect(nowhere).toMatchObject({ code: 64, err: expect.stringContaining("RECINTO_PROJECT") });
    const gone = await asAgent([program, "-c", "ls"], { cwd: "../.." });
    expect(gone).toMatchObject({ code: 66, err: expect.stringContaining("has no worktree") });
  });

  test("of the caller's variables those that are named go along, and none else", async () => {
    const env = { ONE: "it's 1", TWO: "2", RECINTO_SH_ENV: "ONE,NOT_SET" };
    const words = [program, "-c", 'echo "<$ONE><$TWO><$RECINTO_PROJECT>"'];
    expect(await asAgent(words, { env })).toMatchObject({ code: 0, out: "<it's 1><><>\n" });
    const refused = await asAgent(words, { env: { RECINTO_SH_ENV: "LD_PRELOAD", LD_PRELOAD: "" } });
    expect(refused).toMatchObject({ code: 65, err: expect.stringContaining("LD_PRELOAD") });
  });

  test("two shells at once share the session, and it outlives both", async () => {
    const both = await Promise.all(
      ["1", "2"].map((which) => asAgent([program, "-c", `echo ${which}`])),
    );
    expect(both.map(({ out }) => out)).toEqual(["1\n", "2\n"]);
    expect(await daemon.admin.sessions()).toHaveLength(1);
  });

  /** Programs that start a shell of their own, in the ways that each has for it. */
  const CALLERS: readonly (readonly [string, string, (shell: string) => readonly string[]])[] = [
    ["make", "make", (shell) => ["make", "-s", `SHELL=${shell}`, "all"]],
    [
      "npm",
      "npm's script-shell",
      (shell) => ["npm", "run", "--silent", `--script-shell=${shell}`, "hi"],
    ],
    [
      "find",
      "find -exec",
      (shell) => ["find", "note.txt", "-exec", shell, "-c", 'cat "$1"', "sh", "{}", ";"],
    ],
    ["xargs", "xargs", (shell) => ["sh", "-c", `echo note.txt | xargs ${shell} -c 'cat "$1"' sh`]],
    ["env", "env -S and a shebang", (shell) => ["env", "-S", `${shell} script2.sh`]],
    [
      "/usr/bin/python3",
      "python's subprocess",
      (shell) => [
        "/usr/bin/python3",
        "-c",
        `import subprocess; print(subprocess.run("cat note.txt; exit 3", shell=True, executable="${shell}").returncode)`,
      ],
    ],
    [
      "node",
      "node's spawn",
      (shell) => [
        "node",
        "-e",
        `console.log(require("child_process").execSync("cat note.txt", {shell: "${shell}"}).toString())`,
      ],
    ],
  ];
  /** There, and not only for root. */
  const usable = (needs: string) =>
    spawnSync("setpriv", [`--reuid=${AGENT_UID}`, "--clear-groups", "--", needs, "--version"], {
      cwd: "/",
    }).status === 0;
  test.each(CALLERS.filter(([needs]) => usable(needs)))(
    "%s: %s starts it as any shell",
    async (_, __, words) => {
      give("Makefile", "all:\n\t@cat note.txt; hostname > host.txt\n");
      give(
        "package.json",
        '{"name": "x", "scripts": {"hi": "cat note.txt; hostname > host.txt"}}\n',
      );
      give("script2.sh", "cat note.txt\n");
      const { out, code, err } = await asAgent(words(program));
      expect({ code, text: out.includes("a note"), err }).toEqual({ code: 0, text: true, err: "" });
    },
  );

  test("what those started ran in the sandbox: its host name is not this machine's", () => {
    const name = readFileSync(join(project.worktree, "host.txt"), "utf8").trim();
    expect(name).not.toBe("");
    expect(name).not.toBe(hostname());
  });

  test("by hand each line is a command, the folder is kept, and `exit` ends it", async () => {
    const child = spawn("script", ["-qfec", program, "/dev/null"], {
      cwd: project.worktree,
      env: { ...process.env, ...place(), TERM: "dumb" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    const shows = (what: string) => expect.poll(() => text, { timeout: 60_000 }).toContain(what);
    await shows("dev$ ");
    child.stdin.write("cd docs\r");
    await shows("docs$ ");
    child.stdin.write("pwd; test -t 1 && echo 'a terminal'\r");
    await shows(`${project.worktree}/docs`);
    await shows("a terminal");
    child.stdin.write("exit 4\r");
    const [code] = await once(child, "exit");
    expect(code).toBe(4);
  });
});

/** Once it has said something it runs. */
function onFirstOutput(child: ChildProcess, run: () => void): void {
  child.stdout?.once("data", run);
}

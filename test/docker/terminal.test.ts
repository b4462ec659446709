/** `recinto run -it`, `attach`, `ps`, `logs` and `kill` on a real terminal: keys, sizes, Ctrl-C, and what is left behind. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLI_WORDS, runProgram } from "../cli/run-cli.ts";
import { Recintod, type TestProject } from "./recintod.ts";
import { whyNot } from "./rig.ts";

const missing = await whyNot();
const AGENT_UID = 5_302;
const POLL = { timeout: 60_000, interval: 100 };
/** Ctrl-C, Ctrl-P Ctrl-Q. */
const INTERRUPT = "\x03";
const LEAVE = "\x10\x11";

/** A shell on a pseudo terminal of its own, in which the words run between two looks at the terminal's modes. */
class Screen {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #text = "";

  constructor(folder: string, words: readonly string[]) {
    this.#folder = folder;
    const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    const script = `tty; stty rows 30 cols 90; stty -g > ${folder}/before
      (echo $BASHPID > ${folder}/pid; exec ${quoted}); echo "code $?"
      stty -g > ${folder}/after; echo over`;
    writeFileSync(join(folder, "after"), "");
    const child = spawn("script", ["-qfec", `bash -c "$WORDS"`, "/dev/null"], {
      cwd: "/",
      env: { ...process.env, SHELL: "/bin/bash", WORDS: script, TERM: "xterm" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdout?.on("data", (chunk) => {
      this.#text += chunk;
    });
    this.#child = child;
  }

  get text(): string {
    return this.#text;
  }

  async shows(text: string): Promise<void> {
    await expect.poll(() => this.#text, POLL).toContain(text);
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  resize(rows: number, columns: number): void {
    const [tty = ""] = this.#text.split("\r\n");
    const size = ["rows", `${rows}`, "cols", `${columns}`];
    const { status, stderr } = spawnSync("stty", ["-F", tty, ...size], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  }

  /** The program's own process. */
  signal(name: NodeJS.Signals): void {
    process.kill(Number(readFileSync(join(this.#folder, "pid"), "utf8")), name);
  }

  /** The terminal's modes while the program runs. */
  modes(): string {
    const [tty = ""] = this.#text.split("\r\n");
    return spawnSync("stty", ["-F", tty, "-g"], { encoding: "utf8" }).stdout;
  }

  /** The program's exit code, and whether the terminal is as it was. */
  async end(): Promise<{ code: number; restored: boolean }> {
    await this.shows("over\r\n");
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await once(this.#child, "exit");
    const [, code] = /code (\d+)\r\n/.exec(this.#text) ?? [];
    const [before, after] = ["before", "after"].map((name) =>
      readFileSync(join(this.#folder, name), "utf8"),
    );
    return { code: Number(code), restored: before !== "" && before === after };
  }
}

describe.skipIf(missing)("on a terminal", () => {
  let daemon: Recintod;
  let project: TestProject;
  beforeAll(async () => {
    daemon = new Recintod();
    await daemon.start();
    writeFileSync(
      join(daemon.base, "profiles/shell.yaml"),
      "extends: dev\npolicy: {unknown: confine}\n",
    );
    project = await daemon.addProject("term", AGENT_UID, "shell");
  });
  afterAll(() => daemon?.close());

  const cli = (...words: string[]) => [...CLI_WORDS, "--run-dir", daemon.runDir, ...words];
  const place = () => ["--project", "term", "--worktree", project.worktree];
  const screen = (...words: string[]) => new Screen(daemon.base, cli(...words));
  const run = (command: string) => screen("run", ...place(), "-it", "--", command);

  test("keys and sizes go to the command, its output and exit code come back, and the terminal is as before", async () => {
    const on = run(
      "echo ready; read x; echo hello \"$x\"; stty size; read y; stty size; test -t 1 && echo 'a terminal'; exit 7",
    );
    await on.shows("ready");
    const [raw, before] = [on.modes(), readFileSync(join(daemon.base, "before"), "utf8")];
    expect(raw).not.toBe(before);
    on.type("world\r");
    await on.shows("hello world");
    await on.shows("30 90");
    on.resize(41, 120);
    // The size travels by itself; a key that came first would show the old one.
    await expect
      .poll(async () => {
        const [session] = await daemon.admin.sessions();
        const jobs = await daemon.admin.jobs(session?.id ?? "").list();
        return jobs.at(-1)?.tty;
      }, POLL)
      .toEqual({ rows: 41, columns: 120 });
    on.type("\r");
    await on.shows("41 120");
    await on.shows("a terminal");
    expect(await on.end()).toEqual({ code: 7, restored: true });
  });

  test("Ctrl-C goes to the command, which may take it or end by it", async () => {
    const caught = run("trap 'echo caught; exit 5' INT; echo ready; sleep 600 & wait");
    await caught.shows("ready");
    caught.type(INTERRUPT);
    await caught.shows("caught");
    expect(await caught.end()).toEqual({ code: 5, restored: true });

    const ended = run("echo ready; sleep 4821");
    await ended.shows("ready");
    ended.type(INTERRUPT);
    expect(await ended.end()).toEqual({ code: 130, restored: true });
    expect(spawnSync("pgrep", ["-f", "^sleep 4821$"]).status).toBe(1);
  });

  test("a signal to the program itself ends the command and gives the terminal back", async () => {
    for (const [name, code] of [
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ] as const) {
      const on = run("echo ready; sleep 4822");
      await on.shows("ready");
      on.signal(name);
      expect(await on.end()).toEqual({ code, restored: true });
      const left = () => spawnSync("pgrep", ["-f", "^sleep 4822$"]).status;
      await expect.poll(left, POLL).toBe(1);
    }
  });

  test("stopped and continued, it has the terminal raw again", async () => {
    const on = run('echo ready; read x; echo got "$x"');
    await on.shows("ready");
    const raw = on.modes();
    const before = readFileSync(join(daemon.base, "before"), "utf8");
    on.signal("SIGTSTP");
    await expect.poll(() => on.modes(), POLL).toBe(before);
    on.signal("SIGCONT");
    await expect.poll(() => on.modes(), POLL).toBe(raw);
    on.type("it\r");
    await on.shows("got it");
    expect(await on.end()).toEqual({ code: 0, restored: true });
  });

  test("what is refused never has the terminal", async () => {
    const on = screen("run", ...place(), "--wait-for", "0", "-it", "--", "rm -rf docs");
    expect(await on.end()).toEqual({ code: 126, restored: true });
    const none = await daemon.cli(["run", ...place(), "-it", "--", "ls"]);
    expect(none).toMatchObject({ code: 64, err: expect.stringContaining("are no terminal") });
  });

  test("a detached job is listed, read, attached to, left, and ended", async () => {
    const started = await daemon.cli([
      "run",
      ...place(),
      "--detach",
      "--",
      'echo "$(printf \'one\\033[2Jtwo\')"; while read x; do echo "got $x"; done; sleep 4823',
    ]);
    expect(started).toMatchObject({ code: 0, err: "" });
    const id = started.out.trim();
    const listed = await daemon.cli(["ps", ...place()]);
    expect(listed.out).toMatch(new RegExp(`^${id} +running +.* term +dev +echo `, "m"));
    const all = JSON.parse((await daemon.cli(["ps", "--json"])).out) as { id: string }[];
    const shown = all.find((job) => job.id === id);
    expect(shown).toMatchObject({ id, state: "running", detached: true, project: "term" });
    // The agent sees its own, and nobody else's.
    const asAgent = ["setpriv", `--reuid=${AGENT_UID}`, `--regid=${AGENT_UID}`, "--clear-groups"];
    const own = await runProgram([...asAgent, "--", ...cli("ps", ...place())]);
    expect(own.out).toMatch(new RegExp(`^${id} +running `, "m"));
    const nobody = ["setpriv", "--reuid=5399", "--regid=5399", `--groups=${AGENT_UID}`, "--"];
    const other = await runProgram([...nobody, ...cli("ps", ...place())]);
    expect(other).toMatchObject({ code: 0, out: "nothing runs\n" });
    // What a job prints is exact in its log, and an escape in its command line is spelled out in the list.
    await expect
      .poll(async () => (await daemon.cli(["logs", id])).out, POLL)
      .toBe("one\x1b[2Jtwo\n");
    expect((await daemon.cli(["logs", "--since", "4", id])).out).toBe("[2Jtwo\n");
    expect(listed.out).not.toContain("\x1b");

    const following = daemon.cli(["logs", "-f", id]);
    const attached = daemon.cli(["attach", id]);
    const killed = await daemon.cli(["kill", id.slice(0, -2)]);
    expect(killed).toMatchObject({ code: 0, out: `${id}: ended\n` });
    expect((await following).out).toBe("one\x1b[2Jtwo\n");
    expect((await attached).code).toBe(143);
    expect((await daemon.cli(["ps", ...place()])).out).not.toContain(id);
    expect((await daemon.cli(["ps", "--all"])).out).toContain(id);
    expect((await daemon.cli(["logs", "exec-nothing"])).code).toBe(66);
  });

  test("attached to a terminal's job it can be typed to, left with Ctrl-P Ctrl-Q, and taken up again", async () => {
    const first = run('echo ready; read x; echo "first $x"; read y; echo "second $y"');
    await first.shows("ready");
    const all = JSON.parse((await daemon.cli(["ps", "--json"])).out);
    const job = all.find(({ command }: { command: string }) => command.includes("second"));
    const folder = join(daemon.base, "two");
    spawnSync("mkdir", ["-p", folder]);
    const second = new Screen(folder, cli("attach", "--since", "0", job.id));
    await second.shows("ready");
    second.type("from afar\r");
    await first.shows("first from afar");
    second.type(LEAVE);
    expect(await second.end()).toEqual({ code: 0, restored: true });
    expect(second.text).toContain(`job ${job.id} goes on`);
    first.type("end\r");
    await first.shows("second end");
    expect(await first.end()).toEqual({ code: 0, restored: true });
  });

  test("a signal by name reaches the job, and silence ends one that has an idle limit", async () => {
    const command =
      "trap 'echo user' USR1; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 30; done";
    const { out } = await daemon.cli(["run", ...place(), "-d", "--", command]);
    const id = out.trim();
    await expect.poll(async () => (await daemon.cli(["logs", id])).out, POLL).toBe("ready\n");
    expect((await daemon.cli(["kill", "-s", "usr1", id])).code).toBe(0);
    await expect.poll(async () => (await daemon.cli(["logs", id])).out, POLL).toBe("ready\nuser\n");
    expect(await daemon.cli(["kill", "-s", "nothing", id])).toMatchObject({ code: 64 });
    await daemon.cli(["kill", id]);
    const idle = await daemon.cli([
      "run",
      ...place(),
      "--idle-timeout",
      "1",
      "--",
      "echo a; sleep 600",
    ]);
    expect(idle).toMatchObject({ code: 124, out: "a\n" });
    expect(idle.err).toContain("silent for too long");
  });

  test("when the daemon is gone the terminal is given back", async () => {
    const on = run("echo ready; sleep 4824");
    await on.shows("ready");
    await daemon.stop("SIGKILL");
    expect(await on.end()).toEqual({ code: 69, restored: true });
    expect(on.text).toContain("the connection to the daemon broke off");
    await daemon.start();
  });
});

/** `recinto run` behaves like the command itself: streams, stdin, exit code, signals; refusals and waits on stderr. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import type { RunEvent } from "../../daemon/supervisor/types.ts";
import { aborted, DECISION, EXIT } from "../api/fake-supervisor.ts";
import { collect, type RunningApi, startApi } from "../api/running-api.ts";
import { CLI_WORDS, type CliOptions, cli } from "./run-cli.ts";

const isRoot = process.getuid?.() === 0;
const AGENT_UID = 4_321;
const AGENT_GID = 4_322;

let api: RunningApi;
let worktree: string;

beforeAll(async () => {
  api = await startApi({ agentGid: isRoot ? AGENT_GID : null });
  worktree = join(api.runDir, "../worktree");
  mkdirSync(worktree);
  if (isRoot) chownSync(worktree, AGENT_UID, AGENT_GID);
});
afterAll(() => api.stop());

function runWords(...words: string[]): string[] {
  return ["--run-dir", api.runDir, "run", "--project", "alpha", "--worktree", worktree, ...words];
}

function run(words: string[], options: CliOptions = {}) {
  return cli(runWords(...words), options);
}

test("streams and exit code are the command's own", async () => {
  api.supervisor.script = async function* () {
    yield DECISION;
    yield { type: "stdout", data: Buffer.from("out\n") };
    yield { type: "stderr", data: Buffer.from("err\n") };
    yield { ...EXIT, exitCode: 7 } as RunEvent;
  };
  expect(await run(["--", "anything"])).toEqual({ code: 7, out: "out\n", err: "err\n" });
});

test("one word is the command line as it is; several are quoted into one", async () => {
  const commands: string[] = [];
  api.supervisor.script = async function* ({ command }) {
    commands.push(command);
    yield EXIT;
  };
  await run(["--", "git status && npm test"]);
  await run(["--", "grep", "-rn", "two words; $(rm)", "it's"]);
  expect(commands).toEqual(["git status && npm test", `grep -rn 'two words; $(rm)' "it's"`]);
});

test("options of the command are not options of recinto", async () => {
  const commands: string[] = [];
  api.supervisor.script = async function* ({ command }) {
    commands.push(command);
    yield EXIT;
  };
  await run(["ls", "--json", "-l"]);
  expect(commands).toEqual(["ls --json -l"]);
});

test("limits and folder reach the daemon", async () => {
  const requests: unknown[] = [];
  api.supervisor.script = async function* (request) {
    requests.push(request);
    yield EXIT;
  };
  await run(["--timeout", "5", "--wait-for", "0", "--cwd", "src", "--", "ls"]);
  expect(requests).toEqual([{ command: "ls", timeoutMs: 5_000, waitMs: 0, cwd: "src" }]);
});

test("a refusal exits 126 with the reason on stderr", async () => {
  api.supervisor.script = async function* () {
    yield DECISION;
    yield {
      type: "refused",
      by: "policy",
      action: "a1",
      reason: "rm -rf / deletes everything",
      instead: "name what is to go",
    };
  };
  expect(await run(["--", "rm -rf /"])).toEqual({
    code: 126,
    out: "",
    err: "recinto: refused by the policy: rm -rf / deletes everything (name what is to go)\n",
  });
});

test("a wait is announced once, and one that ends by time never looks like a person's refusal", async () => {
  api.supervisor.script = async function* () {
    yield DECISION;
    yield { type: "pending", approval: "q-1", waitedMs: 0, timeoutMs: 9_000 };
    yield { type: "pending", approval: "q-1", waitedMs: 15_000, timeoutMs: 9_000 };
    yield { type: "refused", by: "timeout", action: "a1", reason: "waited 10 min" };
  };
  const { code, err } = await run(["--", "npm install"]);
  expect(code).toBe(126);
  expect(err).toBe(
    "recinto: waiting for a person to answer q-1 (recinto approvals show q-1)\n" +
      "recinto: nobody answered in time, so it did not run: waited 10 min\n",
  );
});

test("over its time is 124, killed is 137", async () => {
  api.supervisor.script = async function* () {
    yield { ...EXIT, exitCode: null, timedOut: true } as RunEvent;
  };
  expect((await run(["--", "sleep 9"])).code).toBe(124);
  api.supervisor.script = async function* () {
    yield { ...EXIT, exitCode: null, oomKilled: true } as RunEvent;
  };
  expect((await run(["--", "eat memory"])).code).toBe(137);
});

test("stdin from a pipe and from a file reaches the command, byte for byte", async () => {
  const received: string[] = [];
  api.supervisor.script = async function* ({ stdin }) {
    const bytes =
      stdin === undefined || stdin === "open"
        ? Buffer.from("none")
        : stdin instanceof Uint8Array
          ? Buffer.from(stdin)
          : Buffer.concat(await collect(stdin));
    received.push(bytes.toString("latin1"));
    yield EXIT;
  };
  await run(["--", "cat"], { input: Buffer.from("a\0\xff\n", "latin1") });
  const file = join(mkdtempSync(join(tmpdir(), "recinto-in-")), "in");
  writeFileSync(file, "from a file");
  const words = [...CLI_WORDS, ...runWords("--", "cat")].map((word) => `'${word}'`).join(" ");
  await once(spawn("bash", ["-c", `${words} < ${file}`], { cwd: "/" }), "close");
  await run(["--", "cat"]);
  await run(["--no-stdin", "--", "cat"], { input: "ignored" });
  expect(received).toEqual(["a\0\xff\n", "from a file", "none", "none"]);
});

test("a pipe that stays open does not keep a finished command from ending", async () => {
  api.supervisor.script = async function* () {
    yield EXIT;
  };
  expect(await run(["--", "true"], { openStdin: true })).toEqual({ code: 0, out: "", err: "" });
});

test("an interrupt cancels the command and exits as a shell says it", async () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    let cancelled = false;
    const started = new Promise<void>((resolve) => {
      api.supervisor.script = async function* (_, gone) {
        yield DECISION;
        resolve();
        await aborted(gone);
        cancelled = true;
      };
    });
    const ran = run(["--", "sleep 1000"], {
      onStarted: (child) => void started.then(() => child.kill(signal)),
    });
    expect((await ran).code).toBe(code);
    await expect.poll(() => cancelled).toBe(true);
  }
});

test("a reader that leaves ends the command, as on a pipe of its own", async () => {
  let cancelled = false;
  api.supervisor.script = async function* (_, gone) {
    yield DECISION;
    while (!gone.aborted) {
      yield { type: "stdout", data: Buffer.alloc(65_536, "y\n") };
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    cancelled = true;
  };
  const words = [...CLI_WORDS, ...runWords("--", "yes")].map((word) => `'${word}'`).join(" ");
  const shell = spawn("bash", ["-c", `${words} | head -c 1; echo "\${PIPESTATUS[0]}"`], {
    cwd: "/",
  });
  const out: Buffer[] = [];
  shell.stdout.on("data", (chunk) => out.push(chunk));
  await once(shell, "close");
  expect(Buffer.concat(out).toString()).toBe("y141\n");
  await expect.poll(() => cancelled).toBe(true);
});

test("with --json every event is a line", async () => {
  api.supervisor.script = async function* () {
    yield DECISION;
    yield { type: "stdout", data: Buffer.from([0xff]) };
    yield { ...EXIT, exitCode: 3 } as RunEvent;
  };
  const { code, out } = await run(["--json", "--", "ls"]);
  expect(code).toBe(3);
  expect(
    out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([DECISION, { type: "stdout", base64: "/w==" }, { ...EXIT, exitCode: 3 }]);
});

test("an error is one line with the next step, and has its own exit code", async () => {
  api.supervisor.script = async function* () {
    yield* [];
    throw new RecintoError("engine-unreachable", "no engine on /x", { hint: "start it" });
  };
  expect(await run(["--", "ls"])).toEqual({
    code: 69,
    out: "",
    err: "recinto: no engine on /x (start it)\n",
  });
});

test("nothing in a reason acts on the terminal", async () => {
  api.supervisor.script = async function* () {
    yield { type: "refused", by: "policy", action: "a", reason: "\x1b[2J\u202eevil\r" };
  };
  const { err } = await run(["--", "ls"]);
  expect(err).toBe("recinto: refused by the policy: ⟨U+001B⟩[2J⟨U+202E⟩evil⟨U+000D⟩\n");
});

test.runIf(isRoot)("root becomes the worktree's owner before it connects", async () => {
  api.supervisor.script = async function* () {
    yield EXIT;
  };
  api.supervisor.callers.length = 0;
  expect((await run(["--", "ls"])).code).toBe(0);
  expect(api.supervisor.callers).toMatchObject([
    { uid: AGENT_UID, gid: AGENT_GID, groups: [AGENT_GID] },
  ]);
});

test.runIf(isRoot)("a worktree of root is refused", async () => {
  const own = mkdtempSync(join(tmpdir(), "recinto-own-"));
  const words = ["--run-dir", api.runDir, "run", "--project", "alpha", "--worktree", own, "ls"];
  const { code, err } = await cli(words);
  expect([code, err]).toEqual([
    78,
    `recinto: ${own} belongs to root (give the worktree to an unprivileged user (chown -R agent WORKTREE))\n`,
  ]);
});

test.runIf(isRoot)("nobody is told to give away a folder that is no worktree", async () => {
  const words = ["--run-dir", api.runDir, "run", "--project", "alpha", "--worktree", "/etc", "ls"];
  const { code, err } = await cli(words);
  expect(code).toBe(66);
  expect(err).toContain('recinto: project alpha has no worktree "/etc" (');
});

test.runIf(isRoot)(
  "an agent that recinto starts has the owner's uid and finds its socket",
  async () => {
    api.supervisor.callers.length = 0;
    api.supervisor.script = async function* () {
      yield { type: "stdout", data: Buffer.from("inner\n") };
      yield { ...EXIT, exitCode: 5 } as RunEvent;
    };
    const inner = CLI_WORDS.map((word) => `'${word}'`).join(" ");
    const words = ["--run-dir", api.runDir, "agent", "--project", "alpha", "--worktree", worktree];
    const script = `id -u; pwd; ${inner} run ls`;
    const { code, out } = await cli([...words, "--", "bash", "-c", script]);
    expect([code, out]).toEqual([5, `${AGENT_UID}\n${join(worktree)}\ninner\n`]);
    expect(api.supervisor.callers).toMatchObject([{ uid: AGENT_UID }]);
  },
);

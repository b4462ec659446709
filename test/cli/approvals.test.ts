/** `recinto approvals`: what a person reads before answering, and that nothing is approved by accident. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { approvalText } from "../../daemon/cli/approval-text.ts";
import type { PendingApproval } from "../../daemon/supervisor/types.ts";
import { approval, VERDICT } from "../api/fake-supervisor.ts";
import { type RunningApi, startApi } from "../api/running-api.ts";
import { CLI_WORDS, cli } from "./run-cli.ts";

let api: RunningApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.stop());

const approvals = (...words: string[]) => ["--run-dir", api.runDir, "approvals", ...words];

const FETCH: PendingApproval = {
  ...approval("q-1", "s1"),
  command: "git fetch \u202eorigin\nrm -rf build",
  cannotTakeEffect: ["/etc/hosts"],
  agentCouldApprove: true,
  facts: {
    branch: "dev",
    realpath: {},
    content: { "/tmp/x.sh": "0123456789abcdef0123", "/tmp/y.sh": null },
  },
  verdict: {
    ...VERDICT,
    verdict: "ask",
    effects: ["network", "write"],
    hidden: ["U+202E at 10"],
    segments: [
      {
        text: "git fetch origin",
        form: "git fetch",
        cwds: ["/tmp"],
        verdict: "allow",
        rung: "rule",
        rule: "r-1",
        reason: "a rule allows it",
        effects: ["network"],
        classes: ["network"],
        paths: [],
        matches: [],
      },
      {
        text: "rm -rf build",
        form: "rm",
        cwds: ["/tmp"],
        verdict: "ask",
        rung: "safety",
        rule: "safety/recursive-delete",
        reason: "deletes a folder with all that is in it",
        effects: ["write"],
        classes: ["write"],
        paths: [{ path: "/tmp/build", real: "/srv/build", access: "write", root: null }],
        matches: [],
      },
    ],
    always: [{ prefix: ["git", "fetch"], effects: ["network"], paths: [] }],
  },
};

test("a person reads decoded text, what asked, effects, paths, who asks and what cannot be had", () => {
  expect(approvalText({ ...FETCH, expiresAt: 61_000 } as never, 1_000)).toBe(
    `question   q-1, waits, 60 s left
who        uid 0, project alpha, /tmp
warning    this agent's user could approve it itself
command    git fetch ⟨U+202E⟩origin
           rm -rf build
hidden     U+202E at 10
in         /tmp
asks       rm -rf build
             deletes a folder with all that is in it [safety/recursive-delete]
effects    network, write
paths      write /tmp/build → /srv/build (outside)
runs       /tmp/x.sh sha256 0123456789abcdef…
branch     dev
no effect  /etc/hosts is not in the sandbox: approving does not reach it
always     0: git fetch …  (effects: network; paths in scope only)
`,
  );
});

test("list and show name what waits", async () => {
  api.supervisor.questions.push(FETCH, { ...approval("q-2", "s1"), state: "denied" });
  const listed = await cli(approvals("list"));
  expect(listed.out).toContain("q-1");
  expect(listed.out).not.toContain("q-2");
  expect((await cli(approvals("list", "--all"))).out).toContain("q-2");
  const { out } = await cli(approvals("show", "q-1"));
  expect(out).toContain("⟨U+202E⟩origin");
  expect(out.split("\n").slice(-4)).toEqual([
    "past       0: would have allowed 2 of the last 12 questions in this project",
    "             git fetch origin",
    "             git fetch ⟨U+202E⟩--all",
    "",
  ]);
});

test("approve is once; deny takes a reason", async () => {
  api.supervisor.questions.push(FETCH, approval("q-2", "s1"));
  const answers: unknown[] = [];
  const answer = api.supervisor.answer.bind(api.supervisor);
  api.supervisor.answer = (caller, id, given) => {
    answers.push([id, given]);
    return answer(caller, id, given);
  };
  expect(await cli(approvals("approve", "q-1"))).toMatchObject({ code: 0, out: "q-1: approved\n" });
  const denied = await cli(approvals("deny", "q-2", "--reason", "use git clean -n"));
  expect(denied).toMatchObject({ code: 0, out: "q-2: denied\n" });
  expect(answers).toEqual([
    ["q-1", { answer: "approve", mode: "once" }],
    ["q-2", { answer: "deny", reason: "use git clean -n" }],
  ]);
});

test.each([
  ["an empty line", "\n"],
  ["no", "n\n"],
  ["end of input", ""],
])("always shows the exact rule first, and %s stores nothing (B8)", async (_, input) => {
  api.supervisor.questions.push(FETCH);
  const ran = await cli(approvals("approve", "q-1", "--always"), { input });
  expect(ran.code).toBe(64);
  expect(ran.out).toBe(
    `from now on allowed in alpha: git fetch …  (effects: network; paths in scope only)
would have allowed 2 of the last 12 questions in this project
  git fetch origin
  git fetch ⟨U+202E⟩--all
`,
  );
  expect(api.supervisor.questions[0]?.state).toBe("pending");
});

test("always with y stores the rule of the width that was named, for as long as was said", async () => {
  api.supervisor.questions.push(FETCH);
  let given: unknown;
  api.supervisor.answer = async (_caller, id, answer) => {
    given = answer;
    return { ...api.supervisor.approval(undefined as never, id), state: "approved" };
  };
  const words = approvals("approve", "q-1", "--always", "--width", "0", "--for", "2h");
  expect((await cli(words, { input: "y\n" })).code).toBe(0);
  expect(given).toEqual({ answer: "approve", mode: "always", width: 0, expiresInMs: 7_200_000 });
});

test("always is refused where no rule may be stored", async () => {
  api.supervisor.questions.push(approval("q-2", "s1"));
  const ran = await cli(approvals("approve", "q-2", "--always", "--yes"));
  expect([ran.code, ran.err]).toEqual([
    64,
    "recinto: no rule can be stored for this command (approve it once)\n",
  ]);
  expect(api.supervisor.questions[0]?.state).toBe("pending");
});

/** The inbox in a terminal of its own; `keys` are typed once the question is on the screen. */
async function inbox(keys: readonly string[]): Promise<string> {
  const line = [...CLI_WORDS, ...approvals("watch")].map((word) => `'${word}'`).join(" ");
  const terminal = spawn("script", ["-qec", `stty cols 120 rows 40; exec ${line}`, "/dev/null"], {
    cwd: "/",
    env: { ...process.env, TERM: "xterm", CI: "" },
  });
  let screen = "";
  terminal.stdout.on("data", (chunk) => {
    screen += chunk;
  });
  const closed = once(terminal, "close");
  for (const key of keys) {
    await expect.poll(() => screen, { timeout: 10_000 }).toMatch(/decide later/);
    screen = screen.replaceAll("decide later", "");
    terminal.stdin.write(key);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  terminal.stdin.write("\x03");
  await closed;
  return screen;
}

test("in the inbox a bare Enter approves nothing (B8)", async () => {
  api.supervisor.questions.push(FETCH);
  await inbox(["\r"]);
  expect(api.supervisor.questions[0]?.state).toBe("pending");
});

test("in the inbox always shows the past of each rule first, and a bare Enter then stores none (A6, B8)", async () => {
  api.supervisor.questions.push(FETCH);
  const screen = await inbox(["\x1b[B\x1b[B\r", "\r"]);
  expect(screen).toContain("would have allowed 2 of the last 12 questions in this project");
  expect(api.supervisor.questions[0]?.state).toBe("pending");
});

test("in the inbox approving takes a choice", async () => {
  api.supervisor.questions.push(FETCH);
  const screen = await inbox(["\x1b[B\r"]);
  expect(api.supervisor.questions[0]?.state).toBe("approved");
  expect(screen).toContain("q-1: approved");
});

/** `recinto hook`: what agents hand over and what they are told. Nothing that goes wrong is ever an allow. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentClient, agentClient } from "../../daemon/api/client.ts";
import { type HookAgent, hookAnswer, quoted, readHookCall } from "../../daemon/cli/hook-formats.ts";
import { judgeHookCall } from "../../daemon/cli/hook-judge.ts";
import { VERDICT } from "../api/fake-supervisor.ts";
import { type RunningApi, startApi } from "../api/running-api.ts";
import { cli } from "./run-cli.ts";

const AGENT_UID = process.getuid?.() === 0 ? 5_001 : (process.getuid?.() ?? 0);
const worktree = mkdtempSync(join(tmpdir(), "recinto-hook-"));
let api: RunningApi;
let client: AgentClient;
beforeAll(async () => {
  if (process.getuid?.() === 0) chownSync(worktree, AGENT_UID, AGENT_UID);
  chmodSync(worktree, 0o755);
  api = await startApi({ agentGid: process.getuid?.() === 0 ? AGENT_UID : null });
  api.supervisor.check = async (_caller, _session, { command }: { command?: string } = {}) => {
    const text = command ?? "";
    const verdict = text.includes("evil") ? "deny" : text.includes("rm ") ? "ask" : "allow";
    const effects = /^(?:ls|find|grep)/.test(text) ? ["read"] : ["run"];
    const segment = { text, verdict, rule: `rule/${verdict}` };
    return {
      ...VERDICT,
      verdict,
      effects,
      reason: `about ${text}`,
      segments: [segment],
      ...(verdict === "deny" ? { instead: "do without" } : {}),
    } as never;
  };
  client = agentClient({ socketPath: api.agentSocket("alpha") });
});
afterAll(async () => {
  client.close();
  await api.stop();
  rmSync(worktree, { recursive: true, force: true });
});

interface Asked {
  readonly tool: string;
  readonly input: object;
  readonly mode?: string;
  readonly sandbox?: boolean;
  readonly agent?: HookAgent;
}

function handedOver({ tool, input, mode = "default" }: Asked): object {
  return {
    session_id: "abc",
    transcript_path: "/t.jsonl",
    cwd: worktree,
    permission_mode: mode,
    hook_event_name: "PreToolUse",
    tool_name: tool,
    tool_input: input,
  };
}

async function answered(asked: Asked, reached = client) {
  const call = readHookCall(JSON.stringify(handedOver(asked)));
  const inSandbox = asked.sandbox ? (text: string) => `recinto run -- ${quoted(text)}` : null;
  const decision = await judgeHookCall({ client: reached, worktree, inSandbox }, call);
  return JSON.parse(hookAnswer(asked.agent ?? "claude-code", call, decision)) as {
    hookSpecificOutput?: Record<string, unknown>;
  };
}

const bash = (command: string, more: Partial<Asked> = {}): Asked => ({
  tool: "Bash",
  input: { command, description: "d" },
  ...more,
});

describe("claude-code", () => {
  test.each<[string, Asked, string, RegExp]>([
    ["a command that reads", bash("ls src"), "allow", /^Recinto: about ls src$/],
    ["one that asks", bash("rm x"), "ask", /^Recinto: about rm x; rule: rule\/ask$/],
    ["one that is denied", bash("evil"), "deny", /rule: rule\/deny; instead: do without$/],
    ["what passes in the sandbox alone", bash("npm test"), "ask", /on the machine itself/],
    ["reading a file", { tool: "Read", input: { file_path: "/w/a" } }, "allow", /about \/w\/a/],
    ["reading elsewhere", { tool: "Read", input: { file_path: "/etc/x" } }, "ask", /about/],
    ["writing a secret", { tool: "Write", input: { file_path: "/w/secret" } }, "deny", /about/],
    ["editing", { tool: "Edit", input: { file_path: "/w/a", old_string: "" } }, "allow", /about/],
    ["a relative path", { tool: "Read", input: { file_path: "a" } }, "allow", /recinto-hook-/],
    ["a notebook", { tool: "NotebookEdit", input: { notebook_path: "/etc/n" } }, "ask", /about/],
    ["searching", { tool: "Grep", input: { pattern: "x" } }, "allow", /grep -r x '/],
    [
      "searching by name",
      { tool: "Glob", input: { pattern: "*", path: "/rm it" } },
      "ask",
      /rm it/,
    ],
    ["a tool it does not know", { tool: "WebFetch", input: { url: "u" } }, "ask", /WebFetch/],
    [
      "a question nobody would see",
      bash("rm x", { mode: "bypassPermissions" }),
      "deny",
      /a person/,
    ],
    ["a mode of tomorrow", bash("rm x", { mode: "yolo" }), "deny", /a person would have/],
    ["an allow in any mode", bash("ls", { mode: "bypassPermissions" }), "allow", /about ls/],
  ])("%s", async (_what, asked, decision, reason) => {
    expect(await answered(asked)).toEqual({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: decision,
        permissionDecisionReason: expect.stringMatching(reason),
      },
    });
  });

  const places: readonly string[] = [
    "~/.ssh/id_rsa",
    "~root/x",
    " /etc/shadow",
    "/etc/shadow\n",
    "a\tb",
    "src\\..\\x",
    "/w/cafe\u0301",
    "\u00a0/etc/shadow",
  ];
  test.each(
    places.flatMap((path): [string, Asked][] => [
      [path, { tool: "Read", input: { file_path: path } }],
      [path, { tool: "Write", input: { file_path: path } }],
      [path, { tool: "NotebookEdit", input: { notebook_path: path } }],
      [path, { tool: "Grep", input: { pattern: "x", path } }],
      [path, { tool: "LS", input: { path } }],
    ]),
  )("a place that an agent may read as another one is not judged: %j", async (_path, asked) => {
    expect((await answered(asked)).hookSpecificOutput).toMatchObject({
      permissionDecision: "ask",
      permissionDecisionReason: expect.stringMatching(/may be read as another path$/),
    });
  });

  test.each<[string, string]>([
    ["*.ts", "allow"],
    ["**/*.{ts,tsx}", "allow"],
    ["src/[a-z]*/x.test.ts", "allow"],
    ["/etc/*", "ask"],
    [" /etc/*", "ask"],
    ["~/.ssh/*", "ask"],
    ["../other/**", "ask"],
    ["a/../../b", "ask"],
    ["{/etc,src}/*", "ask"],
    ["{.,x}./b", "ask"],
    ["[.]./b", "ask"],
    ["C:/x", "ask"],
  ])("files searched by the name %j: %s", async (pattern, decision) => {
    const { hookSpecificOutput } = await answered({ tool: "Glob", input: { pattern } });
    expect(hookSpecificOutput).toMatchObject({ permissionDecision: decision });
  });

  test("with --sandbox every command that may run is replaced by one in the sandbox", async () => {
    const { hookSpecificOutput } = await answered(bash("echo 'a b'; npm test", { sandbox: true }));
    expect(hookSpecificOutput).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { command: "recinto run -- 'echo '\\''a b'\\''; npm test'", description: "d" },
    });
    const asks = await answered(bash("rm x", { sandbox: true }));
    expect(asks.hookSpecificOutput).toMatchObject({
      permissionDecision: "ask",
      updatedInput: { command: "recinto run -- 'rm x'" },
    });
    const denied = await answered(bash("evil", { sandbox: true }));
    expect(denied.hookSpecificOutput).not.toHaveProperty("updatedInput");
  });

  test("what went wrong while judging asks, with why", async () => {
    const nobody = agentClient({ socketPath: join(worktree, "no.sock") });
    expect((await answered(bash("ls"), nobody)).hookSpecificOutput).toMatchObject({
      permissionDecision: "ask",
      permissionDecisionReason: expect.stringMatching(/could not judge this: no daemon listens/),
    });
    const unattended = await answered(bash("ls", { mode: "dontAsk" }), nobody);
    expect(unattended.hookSpecificOutput).toMatchObject({ permissionDecision: "deny" });
  });
});

describe("codex", () => {
  test.each<[string, Asked, object | string]>([
    ["what passes is left to its own approvals", bash("ls"), {}],
    ["what would run on the machine is a question", bash("npm test"), "deny"],
    ["a question is a refusal: it cannot ask", bash("rm x"), "deny"],
    ["a refusal", bash("evil"), "deny"],
    ["a tool it does not know", { tool: "apply_patch", input: { command: "p" } }, "deny"],
  ])("%s", async (_what, asked, expected) => {
    const given = await answered({ ...asked, agent: "codex" });
    if (typeof expected === "object") expect(given).toEqual(expected);
    else expect(given.hookSpecificOutput).toMatchObject({ permissionDecision: expected });
  });

  test("with --sandbox what passes is rewritten, the one allow that it takes", async () => {
    expect(await answered(bash("npm test", { agent: "codex", sandbox: true }))).toEqual({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "allow",
        updatedInput: { command: "recinto run -- 'npm test'", description: "d" },
      },
    });
  });
});

describe("as a program", () => {
  const at = () => ["--run-dir", api.runDir, "hook", "claude-code", "--project", "alpha"];
  const here = () => ["--worktree", worktree];

  test("it answers with exit code 0", async () => {
    const input = JSON.stringify(handedOver(bash("ls")));
    const { code, out, err } = await cli([...at(), ...here()], { input });
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out).hookSpecificOutput.permissionDecision).toBe("allow");
  });

  test("the command that it puts in the place of another runs that one, letter by letter", async () => {
    const command = `printf '%s|' "a'b" 'c  d' $'e\\n' "!x" '\\\\'`;
    const input = JSON.stringify(handedOver(bash(command)));
    const { out } = await cli([...at(), ...here(), "--sandbox"], { input });
    const { updatedInput } = JSON.parse(out).hookSpecificOutput;
    const words = spawnSync("bash", ["-c", `printf '%s\\0' ${updatedInput.command}`], {
      encoding: "utf8",
    }).stdout.split("\0");
    expect(words.slice(-3)).toEqual(["--", command, ""]);
    expect(words).toEqual(expect.arrayContaining(["run", "--worktree", worktree, "--cwd"]));
  });

  test.each<[string, string]>([
    ["nothing", ""],
    ["no JSON", "{"],
    ["no object", "[]"],
    ["another event", JSON.stringify({ hook_event_name: "PostToolUse", tool_name: "Bash" })],
    ["no tool", JSON.stringify({ hook_event_name: "PreToolUse", cwd: "/" })],
    ["no folder", JSON.stringify({ ...handedOver(bash("ls")), cwd: "src" })],
    ["no command", JSON.stringify({ ...handedOver(bash("ls")), tool_input: {} })],
    ["no input", JSON.stringify({ ...handedOver(bash("ls")), tool_input: null })],
  ])("%s blocks, by exit code 2, with why on standard error", async (_what, input) => {
    const { code, out, err } = await cli([...at(), ...here()], { input });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^recinto: cannot judge what the agent handed over: /);
  });

  test.each<[string, string[]]>([
    ["an option that does not exist", ["hook", "claude-code", "--projct", "x"]],
    ["an agent that it does not know", ["hook", "somebody"]],
    ["no agent", ["hook"]],
  ])("%s blocks too: called wrongly is no leave to go on", async (_what, words) => {
    const { code, out } = await cli(words, { input: JSON.stringify(handedOver(bash("ls"))) });
    expect([code, out]).toEqual([2, ""]);
  });

  test.each<[string, string[]]>([
    ["a daemon that is away", ["--run-dir", "/nowhere", "hook", "claude-code", "--project", "a"]],
    ["no project", ["hook", "claude-code"]],
  ])("%s asks", async (_what, words) => {
    const input = JSON.stringify(handedOver(bash("ls")));
    const { code, out } = await cli([...words, ...here()], { input });
    expect(code).toBe(0);
    expect(JSON.parse(out).hookSpecificOutput).toMatchObject({ permissionDecision: "ask" });
  });

  test("a daemon that does not answer, and input without end, are given up in time", async () => {
    const input = JSON.stringify(handedOver(bash("ls")));
    const before = api.supervisor.openSession.bind(api.supervisor);
    api.supervisor.openSession = () => new Promise(() => {});
    const [silent, endless] = await Promise.all([
      cli([...at(), ...here()], { input }),
      cli([...at(), ...here()], { openStdin: true }),
    ]);
    api.supervisor.openSession = before;
    expect([silent.code, endless.code]).toEqual([0, 2]);
    expect(JSON.parse(silent.out).hookSpecificOutput).toMatchObject({
      permissionDecision: "ask",
      permissionDecisionReason: expect.stringContaining("not judged after"),
    });
  }, 90_000);
});

/** The snippets of docs/integrations.md: they parse, and what they start is there and takes the words that it is given. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readHookCall } from "../daemon/cli/hook-formats.ts";
import { cli } from "./cli/run-cli.ts";

const page = readFileSync("docs/integrations.md", "utf8");
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, text]) => text as string,
  );
const json = blocks("json").map((text) => JSON.parse(text) as unknown);

/** The command lines of servers, wherever they stand: a program and its words, or one list of both. */
function servers(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const { command, args } = value as { command?: unknown; args?: unknown };
  if (typeof command === "string" && Array.isArray(args)) return [[command, ...args]];
  if (Array.isArray(command)) return [command];
  return Object.values(value).flatMap(servers);
}

/** Lines of a TOML table; strings and lists of strings are written as in JSON. */
function toml(text: string): Record<string, unknown> {
  const lines = [...text.matchAll(/^(\w+) = (.*)$/gm)];
  return Object.fromEntries(lines.map(([, key, value]) => [key, JSON.parse(value as string)]));
}

const mcp = [...json.flatMap(servers), ...blocks("toml").flatMap((text) => servers(toml(text)))];

test("there is an MCP snippet for each form of configuration", () => {
  expect(mcp.length).toBe(5);
  expect(new Set(mcp.map((words) => words.join(" ")))).toEqual(
    new Set(["recinto mcp --project shop --worktree feature-1"]),
  );
});

test("the words of the MCP snippets are understood: all that is missing is the daemon", async () => {
  const [program, ...words] = mcp[0] ?? [];
  expect(program).toBe("recinto");
  const { code, err } = await cli(words, { input: "", env: { RECINTO_RUN_DIR: "/nowhere" } });
  // As root it asks the daemon for the worktree's owner; as an agent it serves until its input ends, which is now.
  expect([code, code === 0 ? "" : err]).toEqual(
    process.getuid?.() === 0 ? [69, expect.stringContaining("no daemon listens on")] : [0, ""],
  );
});

describe("the hook snippets", () => {
  const claude = json.find((value) => "hooks" in (value as object)) as {
    hooks: { PreToolUse: { matcher: string; hooks: Record<string, unknown>[] }[] };
  };
  const [group] = claude.hooks.PreToolUse;
  const codex = blocks("toml")
    .map(toml)
    .find((table) => table.type === "command");

  test.each([
    ["claude-code", group?.hooks[0]],
    ["codex", codex],
  ])("%s: the command is understood, and blocks what it cannot read", async (agent, hook) => {
    const [program, ...words] = String(hook?.command).split(" ");
    expect([program, words.slice(0, 2)]).toEqual(["recinto", ["hook", agent]]);
    const { code, err } = await cli(words, { input: "" });
    expect([code, err]).toEqual([2, expect.stringContaining("it is no JSON")]);
    // Longer than it takes at most, so that it is never given up.
    expect(Number(hook?.timeout)).toBeGreaterThan(2 * 20);
  });

  test("the matcher names only tools that are judged", () => {
    const cwd = "/w";
    const inputs = { command: "ls", file_path: "/w/a", notebook_path: "/w/n" };
    for (const tool of group?.matcher.split("|") ?? []) {
      const call = { hook_event_name: "PreToolUse", tool_name: tool, tool_input: inputs, cwd };
      expect(readHookCall(JSON.stringify(call)).use.kind).not.toBe("other");
    }
  });

  test("a hook that cannot start blocks as well", () => {
    expect(group?.hooks[0]).toMatchObject({ type: "command", onFailure: "block" });
  });
});

test("the page and the help of the program name the same tools", async () => {
  const { out } = await cli(["mcp", "--help"]);
  const named = [...page.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)]
    .flatMap(([, cell]) => (cell as string).match(/\w+/g) ?? [])
    .filter((name) => !name.startsWith("use_"));
  expect(named).toEqual(expect.arrayContaining(["exec", "list", "status", "release_grant"]));
  for (const name of named) expect(out).toContain(name);
});

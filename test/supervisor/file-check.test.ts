/** Judging a file operation without doing it: for agents that use tools of their own. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { admin, agent, World } from "./world.ts";

let world: World;
beforeEach(() => {
  world = new World();
  world.profile =
    "extends: dev\npolicy: {rules: [{id: no-env, tool: read, pattern: '**/.env', action: deny, justification: secrets}]}\n";
});
afterEach(() => world.end());

test("the verdict is the one that the operation would meet: rules of tools, links, protected names", async () => {
  const { files } = await world.start();
  const session = await world.open();
  const at = world.worktree();
  mkdirSync(join(at, "conf"));
  writeFileSync(join(at, "conf/.env"), "SECRET=1");
  symlinkSync("/etc", join(at, "out"));
  const verdicts: Record<string, string> = {};
  for (const [path, access] of [
    ["src/a.ts", "read"],
    ["src/a.ts", "write"],
    ["conf/.env", "read"],
    ["AGENTS.md", "read"],
    ["AGENTS.md", "write"],
    ["/etc/passwd", "read"],
    ["out/passwd", "read"],
    ["out/new", "write"],
    ["out", "write"],
    ["../dev-other/x", "write"],
  ] as const) {
    verdicts[`${access} ${path}`] = (await files.check(agent(), session, { path, access })).verdict;
  }
  expect(verdicts).toEqual({
    "read src/a.ts": "allow",
    "write src/a.ts": "allow",
    "read conf/.env": "deny",
    "read AGENTS.md": "allow",
    "write AGENTS.md": "ask",
    "read /etc/passwd": "ask",
    "read out/passwd": "ask",
    "write out/new": "ask",
    "write out": "ask",
    "write ../dev-other/x": "ask",
  });
  expect(world.recorded("proposed_action.created")).toEqual([]);
});

test("it is for the session's own agent", async () => {
  const { files } = await world.start();
  const session = await world.open();
  const request = { path: "a", access: "read" } as const;
  await expect(files.check(admin(), session, request)).rejects.toMatchObject({
    code: "not-permitted",
  });
  await expect(files.check(agent(), "s-none", request)).rejects.toMatchObject({
    code: "unknown-session",
  });
});

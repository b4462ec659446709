/** Every safety pattern against its own examples (B3), and what the list as a whole promises. */
import { describe, expect, it } from "vitest";
import { SAFETY_PATTERNS } from "../../daemon/policy/safety.ts";
import type { Rule } from "../../daemon/policy/types.ts";
import { judged } from "./judged.ts";

function rulesOf(command: string): readonly string[] {
  return judged(command, { profile: "dev" }).segments.flatMap(({ matches }) =>
    matches.filter(({ rung }) => rung === "safety").map(({ rule }) => rule),
  );
}

describe("safety patterns (B3)", () => {
  it("there are at least sixty, each with its own id, a reason and examples of both kinds", () => {
    const ids = SAFETY_PATTERNS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(60);
    const bare = SAFETY_PATTERNS.filter(
      ({ reason, match, not_match }) => !reason || match.length === 0 || not_match.length === 0,
    );
    expect(bare.map(({ id }) => id)).toEqual([]);
  });

  for (const { id, match, not_match } of SAFETY_PATTERNS) {
    it.each(match)(`${id} matches %s`, (command) => {
      expect(rulesOf(command)).toContain(`safety/${id}`);
    });
    it.each(not_match)(`${id} leaves alone %s`, (command) => {
      expect(rulesOf(command)).not.toContain(`safety/${id}`);
    });
  }

  it("no rule of any source lifts one (B7)", () => {
    const everything = (["session", "project", "user", "builtin"] as const).map(
      (source): Rule => ({ id: source, source, action: "allow", tool: "exec", pattern: ["*"] }),
    );
    const lifted = SAFETY_PATTERNS.flatMap(({ match }) => match).filter(
      (command) => judged(command, { profile: "dev", rules: everything }).verdict === "allow",
    );
    expect(lifted).toEqual([]);
  });
});

it("a project that lies below a folder of the system is no part of the system", () => {
  const root = "/var/lib/shop";
  const worktree = `${root}/.worktrees/a`;
  const rules = (command: string) =>
    judged(command, { settings: { root, worktree }, cwd: worktree }).segments.flatMap(
      ({ matches }) => matches.filter(({ rung }) => rung === "safety").map(({ rule }) => rule),
    );
  expect(rules("mkdir made; cp a b")).toEqual([]);
  expect(rules("touch /var/lib/dpkg/lock ../b/x")).toEqual(["safety/write-system"]);
});

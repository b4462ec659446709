/** The walk down the ladder as people read it. */
import { describe, expect, it } from "vitest";
import { explain } from "../../daemon/policy/explain.ts";
import { judged } from "./judged.ts";

describe("explain", () => {
  it("shows every segment, every path and every rung, and what always would store", () => {
    const realpath = {
      "/srv/projects/p1/.worktrees/a1/out": "/srv/projects/p1/.worktrees/a1/dist",
    };
    const lines = explain(judged("cat a && mkdir out/x", { facts: { realpath } }));
    expect(lines.filter((line) => !line.startsWith("instead: "))).toEqual([
      "ask: `mkdir out/x` writes through a link: /srv/projects/p1/.worktrees/a1/out/x, which leads to /srv/projects/p1/.worktrees/a1/dist/x (scope/write-through-link)",
      "",
      "1. cat a",
      "   form               cat",
      "   in                 /srv/projects/p1/.worktrees/a1",
      "   effects            read",
      "   reads              /srv/projects/p1/.worktrees/a1/a (/srv/projects/p1/.worktrees/a1)",
      "   0 understand       –",
      "   1 absolute deny    –",
      "   2 stale authority  –",
      "   3 ceilings         –",
      "   4 safety           –",
      "   5 denials          –",
      "   6 rules            –",
      "   7 grants           –",
      "   8 scope            allow: cat stays in /srv/projects/p1/.worktrees/a1 (scope/read)",
      "   9 otherwise        –",
      "   ⇒                  allow by scope/read",
      "",
      "2. mkdir out/x",
      "   form               mkdir",
      "   in                 /srv/projects/p1/.worktrees/a1",
      "   effects            write",
      "   writes             /srv/projects/p1/.worktrees/a1/out/x → /srv/projects/p1/.worktrees/a1/dist/x (/srv/projects/p1/.worktrees/a1)",
      "   0 understand       –",
      "   1 absolute deny    –",
      "   2 stale authority  –",
      "   3 ceilings         –",
      "   4 safety           –",
      "   5 denials          –",
      "   6 rules            –",
      "   7 grants           –",
      "   8 scope            –",
      "   9 otherwise        ask: writes through a link: /srv/projects/p1/.worktrees/a1/out/x, which leads to /srv/projects/p1/.worktrees/a1/dist/x (scope/write-through-link)",
      "   9 otherwise        ask: writes in the worktree, which this profile asks about (profile/write)",
      "   ⇒                  ask by scope/write-through-link",
    ]);
  });

  it("shows characters that do not print as escapes, never as themselves", () => {
    const lines = explain(judged("ls \u202e\u001b[31m\nls"));
    expect(lines.join("\n")).not.toMatch(/[\u202e\u001b]/);
    expect(lines).toContain("hidden characters: U+202E at 3, U+001B at 4");
  });

  it("says what always would store", () => {
    expect(explain(judged("npm run generate")).slice(-2)).toEqual([
      "always would store one of:",
      "  npm run generate * in scope, effects run",
    ]);
  });
});

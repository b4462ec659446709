/** Tries a rule on the examples that are written beside it: `match` must match, `not_match` must not. */

import { describe } from "./catalogue/describe.ts";
import { viewOf } from "./judge.ts";
import { applyRules } from "./rules.ts";
import { scopeOf } from "./scope.ts";
import { understand } from "./shell/understand.ts";
import type { PolicySettings, Rule } from "./types.ts";

const WORKTREE = "/project/worktree";

const SETTINGS: PolicySettings = {
  profile: "examples",
  standing: {
    read: "ask",
    build: "ask",
    run: "ask",
    write: "ask",
    scratch: "ask",
    "git-write": "ask",
    loopback: "ask",
  },
  root: WORKTREE,
  worktree: WORKTREE,
  readable: [],
  scratch: ["/tmp"],
  home: "/home/agent",
  protectedBranches: [],
  protectedFiles: [],
  verbs: [],
  unknown: "ask",
  denials: { consecutive: 1, total: 1 },
};

/** Whether a rule matches an example: a command line for `exec`, a path for `read` and `write`. */
export function matchesExample(rule: Rule, example: string): boolean {
  const scope = scopeOf(SETTINGS, {});
  const command =
    rule.tool === "exec"
      ? example
      : `${rule.tool === "read" ? "cat" : "touch"} '${example.replaceAll("'", "'\\''")}'`;
  const { segments } = understand(command, { cwd: WORKTREE, home: SETTINGS.home, env: {} });
  return segments.some((segment) => {
    const description = describe({ segment, segments, localBins: undefined });
    const view = viewOf(segment, segments, description, scope);
    const { absolute, matches } = applyRules(view, [rule], WORKTREE);
    return absolute.length > 0 || matches.length > 0;
  });
}

/** Judges the ordinary half of a day: what agents do for hours, and how much of it a person is asked about. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { BUILTIN_RULES } from "../../daemon/policy/builtin-rules.ts";
import { NO_DENIALS } from "../../daemon/policy/denials.ts";
import { evaluate } from "../../daemon/policy/evaluate.ts";
import { mergeRuleFiles } from "../../daemon/policy/rule-files.ts";
import type { Verdict } from "../../daemon/policy/types.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../../daemon/settings/profiles.ts";
import { SANDBOX_HOME, SANDBOX_SCRATCH } from "../../daemon/settings/sandbox-home.ts";

const FILE = new URL("../../test/policy/ordinary-day.yaml", import.meta.url);
const ROOT = "/srv/shop";
export const DAY_WORKTREE = `${ROOT}/.worktrees/dev`;

export interface DayLine {
  readonly label: string;
  readonly command: string;
}

export function dayLines(): readonly DayLine[] {
  const groups = parse(readFileSync(FILE, "utf8")) as Readonly<Record<string, readonly string[]>>;
  return Object.entries(groups).flatMap(([label, commands]) =>
    commands.map((command) => ({
      label,
      command: command.replace(/(?<![\w-])W(?=[/\s]|$)/g, DAY_WORKTREE),
    })),
  );
}

/** On a branch of its own, with the project's programs installed and no link that leaves: a worktree as it should be. */
export function judgeDay(
  profileName: string,
): readonly (DayLine & { readonly verdict: Verdict })[] {
  const { name, policy, readable } = loadProfile(profileName, [SHIPPED_PROFILES_DIR]);
  const { rules, ...rest } = policy;
  const settings = {
    ...rest,
    profile: name,
    root: ROOT,
    worktree: DAY_WORKTREE,
    readable,
    scratch: SANDBOX_SCRATCH,
    home: SANDBOX_HOME,
  };
  return dayLines().map((line) => ({
    ...line,
    verdict: evaluate({
      request: { command: line.command, cwd: DAY_WORKTREE },
      settings,
      facts: { branch: "discounts", localBins: INSTALLED, escapingLinks: [] },
      rules: mergeRuleFiles([
        { source: "admin", rules, merge: true },
        { source: "builtin", rules: BUILTIN_RULES, merge: true },
      ]),
      authority: { grants: [] },
      denials: NO_DENIALS,
    }),
  }));
}

const INSTALLED = ["eslint", "prettier", "tsc", "tsx", "vite", "vitest"];

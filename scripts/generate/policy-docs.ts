/** Makes docs/policy.md: the ladder, rules, profiles, an ordinary day and the catalogue, from the sources that decide. */
import { verbTable } from "../../daemon/policy/catalogue/registry.ts";
import type { StandingClass, Verdict } from "../../daemon/policy/types.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../../daemon/settings/profiles.ts";
import { DAY_WORKTREE, judgeDay } from "./ordinary-day.ts";
import {
  AFTER_LADDER,
  ALWAYS,
  DENIALS,
  INTRODUCTION,
  LADDER,
  LOOKING_BACK,
  RULES,
} from "./policy-text.ts";

const SHIPPED = ["review", "default", "dev"] as const;

export function policyPage(): string {
  return `${[
    "# The policy",
    "",
    "<!-- Made by scripts/generate-docs.ts from daemon/policy, the profiles and test/policy/ordinary-day.yaml. -->",
    "",
    INTRODUCTION,
    "## The ladder",
    "",
    table(
      ["", "rung", "finds", "says"],
      LADDER.map(([rung, finds, says], index) => [String(index), rung, finds, says]),
    ),
    "",
    AFTER_LADDER,
    "## What passes without asking",
    "",
    profileTable(),
    "",
    "## Rules",
    "",
    RULES,
    "## Always",
    "",
    ALWAYS,
    "## Refusals",
    "",
    DENIALS,
    "## Looking back",
    "",
    LOOKING_BACK,
    "## The ordinary half of a day",
    "",
    ordinaryDay(),
    "",
    "## The catalogue",
    "",
    catalogue(),
  ].join("\n")}\n`;
}

/** What a class of action is, for people. */
const CLASSES: Readonly<Record<StandingClass, string>> = {
  read: "verbs that only read",
  build: "declared build, test and lint verbs",
  run: "project code: scripts, inline code, programs of the worktree",
  write: "writing in the worktree",
  scratch: "the sandbox's own /tmp and cache",
  "git-write": "local git, not on a protected branch",
  loopback: "connections inside the sandbox",
};

function profileTable(): string {
  const profiles = SHIPPED.map((name) => loadProfile(name, [SHIPPED_PROFILES_DIR]));
  const rows = Object.entries(CLASSES).map(([name, what]) => [
    `${code(name)}: ${what}`,
    ...profiles.map(({ policy }) => policy.standing[name as StandingClass]),
  ]);
  return table(
    ["in scope, on the current worktree", ...SHIPPED.map(code)],
    [...rows, ["network, installation, push, anything unknown", "ask", "ask", "ask"]],
  );
}

function ordinaryDay(): string {
  const days = SHIPPED.map((profile) => ({ profile, lines: judgeDay(profile) }));
  const all = days[0]?.lines ?? [];
  const asks = (lines: readonly { readonly verdict: Verdict }[]): string => {
    const count = lines.filter(({ verdict }) => verdict.verdict !== "allow").length;
    return `${count} (${Math.round((100 * count) / lines.length)} %)`;
  };
  const labels = [...new Set(all.map(({ label }) => label))];
  const rows = labels.map((label) => [
    label.replaceAll("_", " "),
    String(all.filter((line) => line.label === label).length),
    ...days.map(({ lines }) => asks(lines.filter((line) => line.label === label))),
  ]);
  const sum = ["**all**", String(all.length), ...days.map(({ lines }) => asks(lines))];
  const dev = days.find(({ profile }) => profile === "dev")?.lines ?? [];
  const asking = dev.filter(({ verdict }) => verdict.verdict !== "allow");
  return [
    `${all.length} commands that agents emit while they work, judged in \`${DAY_WORKTREE}\` (the lines are in test/policy/ordinary-day.yaml). How many ask:`,
    "",
    table(["", "commands", ...SHIPPED.map(code)], [...rows, sum]),
    "",
    "What asks under `dev`, and what the agent is told would pass instead:",
    "",
    table(
      ["command", "by", "instead"],
      asking.map(({ command, verdict }) => [
        code(command.replaceAll(DAY_WORKTREE, "W").trim().split("\n").join("⏎")),
        code(decidedBy(verdict)),
        verdict.instead ?? "",
      ]),
    ),
  ].join("\n");
}

function decidedBy({ verdict, segments }: Verdict): string {
  return segments.find((segment) => segment.verdict === verdict)?.rule ?? "";
}

function catalogue(): string {
  const rows = verbTable();
  return [
    "Verbs and sub-commands that are known, with the strongest class of action of their plain form. An option in the last",
    "column writes, runs something or lifts the automatic pass, in every spelling of it; any option that is not known does too.",
    "",
    table(
      ["verb", "class", "note", "options that lift, write or run"],
      rows.map(({ verb, class: cls, note, lifting }) => [
        code(verb),
        cls,
        note,
        lifting.map(code).join(" "),
      ]),
    ),
  ].join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** Text with backticks in it needs longer ones around it. */
function code(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(0, ...runs) + 1);
  return runs.length === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}

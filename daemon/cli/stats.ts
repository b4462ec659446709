/** `recinto stats`: how often people are asked, how long it takes, and what passes by itself (A7, A13). */
import { Command } from "commander";
import type { Stats } from "../api/client.ts";
import { durationOf } from "./arguments.ts";
import { withAdmin } from "./context.ts";
import { localTime, print, printJson, span, table } from "./terminal-text.ts";

interface StatsOptions {
  readonly since?: string;
  readonly project?: string;
  readonly json?: boolean;
}

export function statsCommand(): Command {
  return new Command("stats")
    .description(
      "actions, questions per 100 of them, waits, rules that ask, refusals; from the journal",
    )
    .option("--since <duration>", "not older than this (2h, 7d)")
    .option("--project <id>", "of one project")
    .option("--json", "as JSON")
    .action(({ since, project, json }: StatsOptions, command: Command) =>
      withAdmin(command, async (admin) => {
        const stats = await admin.stats({
          ...(project === undefined ? {} : { project }),
          ...(since === undefined ? {} : { since: Date.now() - durationOf("--since", since) }),
        });
        if (json) printJson(stats);
        else print(statsText(stats));
      }),
    );
}

/** Rules shown; --json has all. */
const RULES_SHOWN = 15;

export function statsText(stats: Stats): string {
  const { fromMs, toMs, actions, verdicts, passes, questions, byRule, refusals } = stats;
  if (fromMs === null || toMs === null) return "nothing was proposed in this time\n";
  const share = (part: number) =>
    actions === 0 ? "" : ` (${Math.round((part / actions) * 100)} %)`;
  const wait = ({ p50Ms, p95Ms }: Stats["questions"]["overAfter"]) =>
    p50Ms === null || p95Ms === null ? "–" : `${span(p50Ms)} median, ${span(p95Ms)} p95`;
  const { asked, per100Actions, approvedOnce, approvedAlways, denied, timedOut, cancelled } =
    questions;
  const refused = Object.entries(refusals).filter(([, count]) => count > 0);
  const sections = [
    `${localTime(fromMs)} to ${localTime(toMs)}\n`,
    table(
      ["ACTIONS", String(actions)],
      [
        ["passed by themselves", `${passes.total}${share(passes.total)}`],
        ["asked", `${verdicts.ask}${share(verdicts.ask)}`],
        ["denied by the policy", `${verdicts.deny}${share(verdicts.deny)}`],
        ["questions to people", `${asked}, ${per100Actions ?? 0} per 100 actions`],
        ["  approved", `${approvedOnce} once, ${approvedAlways} always`],
        ["  denied", String(denied)],
        ["  nobody answered", String(timedOut)],
        ["  cancelled", String(cancelled)],
        ["  answered after", wait(questions.answeredAfter)],
        ["  over after", wait(questions.overAfter)],
      ],
    ),
  ];
  const roots = Object.entries(passes.byRoot).map(([root, count]) => [root, String(count)]);
  if (roots.length > 0) sections.push(table(["ROOT THAT AUTHORISED", "PASSES"], roots));
  const rules = byRule
    .slice(0, RULES_SHOWN)
    .map(({ rule, asks, denies }) => [rule, String(asks), String(denies)]);
  if (rules.length > 0) sections.push(table(["RULE", "ASKS", "DENIES"], rules));
  if (refused.length > 0) {
    const rows = refused.map(([by, count]) => [by, String(count)]);
    sections.push(table(["DID NOT RUN", "ACTIONS"], rows));
  }
  return sections.join("\n");
}

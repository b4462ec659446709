/** `recinto session rules`: rules above the project's own, given from the admin side to whoever works on a worktree. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { AdminClient, RuleFile } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { durationOf, wholeNumberOf } from "./arguments.ts";
import { withAdmin } from "./context.ts";
import { print, span, visible } from "./terminal-text.ts";

interface RulesOptions {
  readonly project: string;
  readonly worktree: string;
  readonly uid?: string;
  readonly for?: string;
  readonly clear?: boolean;
}

export function sessionRulesCommand(): Command {
  return new Command("rules")
    .description("give the sessions on a worktree rules of their own, above the project's")
    .argument("[file]", "a rule file in either format")
    .requiredOption("--project <id>", "the project")
    .requiredOption("--worktree <folder>", "the worktree: a path, or its name below the root")
    .option("--uid <uid>", "for this user alone")
    .option("--for <duration>", "how long they hold (2h, 7d); until they are cleared when absent")
    .option("--clear", "take back what was given")
    .action((file: string | undefined, options: RulesOptions, command: Command) => {
      if ((file === undefined) === (options.clear !== true)) {
        throw new RecintoError("bad-usage", "name a rule file, or give --clear");
      }
      const text = file === undefined ? "rules: []" : readFileSync(file, "utf8");
      return withAdmin(command, async (admin) =>
        print(givenText(await give(admin, text, options))),
      );
    });
}

export function give(
  admin: AdminClient,
  text: string,
  { project, worktree, ...options }: RulesOptions,
): Promise<RuleFile> {
  return admin.giveSessionRules(project, {
    worktree,
    text,
    ...(options.uid === undefined ? {} : { uid: wholeNumberOf("--uid", options.uid, 0) }),
    ...(options.for === undefined ? {} : { expiresInMs: durationOf("--for", options.for) }),
  });
}

function givenText({ file, owner, rules, merge, expiresAt }: RuleFile): string {
  const whom = owner === "any" ? "whoever works" : `uid ${owner}`;
  if (rules.length === 0 && merge) return `${visible(file)}: no rules for ${whom} any more\n`;
  const end = expiresAt == null ? "until they are cleared" : `for ${span(expiresAt - Date.now())}`;
  const alone = merge ? "" : ", and no rule of project, user or program";
  const lines = rules.map(({ action, rule }) => `  ${action.padEnd(5)} ${visible(rule)}\n`);
  return `${visible(file)}: for ${whom} there, ${end}${alone}\n${lines.join("")}`;
}

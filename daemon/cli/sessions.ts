/** `recinto session`, `rules` and `denials`: what agents have open, and what was settled for them along the way. */
import { Command } from "commander";
import type { Session } from "../api/client.ts";
import type { DenialKey } from "../api/schema-admin.ts";
import { ruleText } from "./approval-text.ts";
import { wholeNumberOf } from "./arguments.ts";
import { withAdmin } from "./context.ts";
import { sessionRulesCommand } from "./session-rules.ts";
import { localTime, print, printJson, span, table, visible } from "./terminal-text.ts";

export function sessionCommand(): Command {
  const list = new Command("list")
    .description("live sessions")
    .option("--json", "as JSON")
    .action(({ json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const sessions = await admin.sessions();
        if (json) return printJson(sessions);
        if (sessions.length === 0) return print("no live sessions\n");
        const rows = sessions.map((one) => [
          one.id,
          one.project,
          String(one.uid),
          span(Date.now() - one.lastUsedAt),
          String(one.denials.total),
          one.worktree,
        ]);
        print(table(["SESSION", "PROJECT", "UID", "IDLE", "DENIALS", "WORKTREE"], rows));
      }),
    );
  const show = new Command("show")
    .description("one session: its denial counters, its live grants, and what ends each")
    .argument("<id>", "the session")
    .option("--json", "as JSON")
    .action((id: string, { json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const [session, authority] = await Promise.all([admin.session(id), admin.interface(id)]);
        if (json) return printJson({ ...session, authority });
        const { interfaceText } = await import("./grant-text.ts");
        print(sessionText(session) + interfaceText(authority, Date.now()));
      }),
    );
  const close = new Command("close")
    .description("end a session: cancel what it waits for, kill what it runs")
    .argument("<id>", "the session")
    .action((id: string, _options, command: Command) =>
      withAdmin(command, async (admin) => {
        await admin.closeSession(id);
        print(`${id}: closed\n`);
      }),
    );
  return new Command("session")
    .description("agents' sessions")
    .addCommand(list)
    .addCommand(show)
    .addCommand(sessionRulesCommand())
    .addCommand(close);
}

function sessionText({ id, project, worktree, profile, uid, denials, blocked }: Session): string {
  const held = blocked.length === 0 ? "" : `; blocked: ${blocked.join(", ")}`;
  return [
    `session    ${id}, uid ${uid}, profile ${profile}`,
    `where      project ${project}, ${visible(worktree)}`,
    `refusals   ${denials.total}${held}`,
    "",
  ].join("\n");
}

export function rulesCommand(): Command {
  const list = new Command("list")
    .description("rules that `approve --always` stored")
    .argument("[project]", "of one project; of all when absent")
    .option("--json", "as JSON")
    .action((only: string | undefined, { json }: { json?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const projects = only === undefined ? (await admin.projects()).map(({ id }) => id) : [only];
        const lists = projects.map(async (project) =>
          (await admin.rules(project)).map((rule) => ({ project, ...rule })),
        );
        const rules = (await Promise.all(lists)).flat();
        if (json) return printJson(rules);
        if (rules.length === 0) return print("no stored rules\n");
        const rows = rules.map((rule) => [
          rule.project,
          rule.id,
          localTime(rule.savedAt),
          String(rule.savedBy),
          rule.expiresAt === null ? "kept" : span(rule.expiresAt - Date.now()),
          ruleText(rule),
        ]);
        print(table(["PROJECT", "RULE", "SAVED", "BY UID", "LEFT", "ALLOWS"], rows));
      }),
    );
  const revoke = new Command("revoke")
    .description("take a stored rule back")
    .argument("<project>", "the project")
    .argument("<rule>", "the rule")
    .action((project: string, id: string, _options, command: Command) =>
      withAdmin(command, async (admin) => {
        print(`revoked: ${ruleText(await admin.revokeRule(project, id))}\n`);
      }),
    );
  return new Command("rules")
    .description("rules that approvals have stored")
    .addCommand(list)
    .addCommand(revoke);
}

export function denialsCommand(): Command {
  const reset = new Command("reset")
    .description("forget refusals, so that blocked classes and escalated sessions go on")
    .requiredOption("--project <id>", "the project")
    .option("--worktree <folder>", "of one worktree")
    .option("--uid <uid>", "of one user")
    .action((options: { project: string; worktree?: string; uid?: string }, command: Command) =>
      withAdmin(command, async (admin) => {
        const { resolve } = await import("node:path");
        const key: DenialKey = {
          project: options.project,
          ...(options.worktree === undefined ? {} : { worktree: resolve(options.worktree) }),
          ...(options.uid === undefined ? {} : { uid: wholeNumberOf("--uid", options.uid, 0) }),
        };
        print(`${(await admin.resetDenials(key)).reset} counters reset\n`);
      }),
    );
  return new Command("denials").description("refusal counters").addCommand(reset);
}

/** `recinto policy replay`: what another profile would have said to everything that agents proposed. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Command } from "commander";
import type { ReplayLine } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { durationOf } from "./arguments.ts";
import { withAdmin } from "./context.ts";
import { localTime, print, printJsonLine, visible } from "./terminal-text.ts";

interface ReplayOptions {
  readonly profile: string;
  readonly since?: string;
  readonly project?: string;
  readonly json?: boolean;
}

export function replayCommand(): Command {
  return new Command("replay")
    .description(
      "judge the journal again under another profile and show every verdict that changes",
    )
    .requiredOption("--profile <name|file>", "a profile of the daemon, or a profile's file")
    .option("--since <duration>", "not older than this (2h, 7d)")
    .option("--project <id>", "of one project")
    .option("--json", "one JSON object a line, the summary last")
    .action((options: ReplayOptions, command: Command) => {
      const { since, project, json } = options;
      const request = {
        profile: profileGiven(options.profile),
        ...(project === undefined ? {} : { project }),
        ...(since === undefined ? {} : { sinceMs: Date.now() - durationOf("--since", since) }),
      };
      return withAdmin(command, async (admin) => {
        for await (const line of admin.replay(request)) {
          if (json) printJsonLine(line);
          else print(replayText(line));
        }
      });
    });
}

/** A word with a slash or an ending is a file here; any other is a profile that the daemon knows. */
function profileGiven(word: string): { name: string } | { name: string; text: string } {
  if (!word.includes("/") && !/\.ya?ml$/.test(word)) return { name: word };
  if (!existsSync(word)) throw new RecintoError("not-found", `no file ${word}`);
  const name = basename(word).replace(/\.ya?ml$/, "");
  return { name, text: readFileSync(word, "utf8") };
}

export function replayText(line: ReplayLine): string {
  if (line.type === "change") {
    const { at, project, command, before, after } = line;
    const how = `${before.verdict} → ${after.verdict}`;
    const rules = `${before.rules.join(", ")} → ${after.rules.join(", ")}`;
    return `${localTime(at)} ${how}  ${project}  ${visible(command)}\n    ${visible(rules)}\n`;
  }
  const { profile, actions, same, changed, left } = line;
  const kinds = Object.entries(changed).map(([kind, count]) => `${kind}: ${count}`);
  const notes = [
    [left.denials, "decided by refusals of that time"],
    [left.gone, "of a project or profile that is gone"],
    [left.incomplete, "recorded without what judging again takes"],
  ] as const;
  return [
    `${actions} actions under ${profile}: ${same} as before${kinds.map((kind) => `, ${kind}`).join("")}\n`,
    ...notes.filter(([count]) => count > 0).map(([count, why]) => `${count} left out: ${why}\n`),
  ].join("");
}

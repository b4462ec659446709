/** `recinto events` and `recinto journal`: what was decided and done, and whether the record is whole. */
import { Command } from "commander";
import type { AdminClient, JournalEntry } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { EVENTS_PAGE_MAX } from "../limits.ts";
import { durationOf, wholeNumberOf } from "./arguments.ts";
import { withAdmin } from "./context.ts";
import { localTime, print, printJsonLine, visible } from "./terminal-text.ts";

interface EventsOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly project?: string;
  readonly event?: string;
  readonly since?: string;
  readonly after?: string;
}

export function eventsCommand(): Command {
  return new Command("events")
    .description("the journal, oldest first")
    .option("--follow", "go on with each new entry")
    .option("--json", "one JSON object a line")
    .option("--project <id>", "of one project")
    .option("--event <name>", "of one kind, e.g. proposed_action.created")
    .option("--since <duration>", "not older than this (10m, 2h)")
    .option("--after <seq>", "after this entry")
    .action((options: EventsOptions, command: Command) =>
      withAdmin(command, async (admin) => {
        for await (const entry of entriesOf(admin, options)) {
          if (options.json) printJsonLine(entry);
          else print(`${entryText(entry)}\n`);
        }
      }),
    );
}

async function* entriesOf(
  admin: AdminClient,
  options: EventsOptions,
): AsyncGenerator<JournalEntry, void> {
  const filter = {
    ...(options.project === undefined ? {} : { project: options.project }),
    ...(options.event === undefined ? {} : { event: options.event }),
    ...(options.since === undefined
      ? {}
      : { since: Date.now() - durationOf("--since", options.since) }),
  };
  let after = options.after === undefined ? 0 : wholeNumberOf("--after", options.after, 0);
  if (options.follow) {
    yield* admin.followEvents({ ...filter, after });
    return;
  }
  for (;;) {
    const page = await admin.events({ ...filter, after, limit: EVENTS_PAGE_MAX });
    yield* page;
    after = page.at(-1)?.seq ?? after;
    if (page.length < EVENTS_PAGE_MAX) return;
  }
}

/** What fits a line: plain values only; --json has facts, rules and the rest. */
function entryText(entry: JournalEntry): string {
  const about = {
    ...(entry.project === null ? {} : { project: entry.project }),
    ...(entry.session === null ? {} : { session: entry.session }),
    ...(entry.uid === null ? {} : { uid: entry.uid }),
    ...entry.data,
  };
  const words = Object.entries(about)
    .filter(([, value]) => typeof value !== "object" || value === null)
    .map(
      ([name, value]) =>
        ` ${name}=${/^[\w./:-]+$/.test(`${value}`) ? value : JSON.stringify(value)}`,
    );
  const line = `${String(entry.seq).padStart(6)} ${localTime(entry.at)} ${entry.event}`;
  return visible(line + words.join(""));
}

export function journalCommand(): Command {
  const verify = new Command("verify")
    .description("recompute the whole hash chain")
    .action((_options, command: Command) =>
      withAdmin(command, async (admin) => {
        const result = await admin.verifyJournal();
        if (result.ok) {
          print(`${result.entries} entries, chain whole, head ${result.head}\n`);
          return;
        }
        const { seq, reason } = result.firstBroken ?? { seq: 0, reason: "unknown" };
        throw new RecintoError("journal-broken", `the chain breaks at entry ${seq}: ${reason}`, {
          hint: "somebody or something changed the journal after it was written; keep a copy and look into it",
        });
      }),
    );
  return new Command("journal").description("the record itself").addCommand(verify);
}

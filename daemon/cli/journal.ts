/** `recinto events` and `recinto journal`: what was decided and done, and whether the record is whole. */
import { Command } from "commander";
import type { AdminClient, JournalEntry } from "../api/client.ts";
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

interface FileOption {
  readonly file?: string;
}

const FILE = ["--file <path>", "the journal's file itself, with no daemon running"] as const;

export function journalCommand(): Command {
  return new Command("journal")
    .description("the record itself: verify, export, prune, repair")
    .addCommand(verifyCommand())
    .addCommand(exportCommand())
    .addCommand(pruneCommand())
    .addCommand(repairCommand());
}

function verifyCommand(): Command {
  return new Command("verify")
    .description("recompute the whole hash chain")
    .option(...FILE)
    .option("--export <path>", "exported lines instead: a file, or a folder of them")
    .action(async (options: FileOption & { readonly export?: string }, command: Command) => {
      const { tellVerified, verifyExport, verifyJournalFile } = await import("./journal-file.ts");
      if (options.export !== undefined) return verifyExport(options.export);
      if (options.file !== undefined) return verifyJournalFile(options.file);
      return withAdmin(command, async (admin) => tellVerified(await admin.verifyJournal()));
    });
}

interface ExportOptions extends FileOption {
  readonly to?: string;
  readonly rotate: string;
  readonly after?: string;
  readonly follow?: boolean;
}

function exportCommand(): Command {
  return new Command("export")
    .description("entries as JSON lines with their hashes, to standard output or to rotated files")
    .option(...FILE)
    .option("--to <folder>", "files recinto-SEQ.jsonl; called again it goes on where it ended")
    .option("--rotate <mebibytes>", "begin a new file when one is as large", "64")
    .option("--after <seq>", "after this entry")
    .option("--follow", "go on with each new entry")
    .action(async (options: ExportOptions, command: Command) => {
      const { entriesOfFile, exportEntries } = await import("./journal-file.ts");
      const { file, follow, to } = options;
      const after =
        options.after === undefined ? undefined : wholeNumberOf("--after", options.after, 0);
      const rotateBytes = wholeNumberOf("--rotate", options.rotate, 1) * 2 ** 20;
      const target = { to, rotateBytes, after };
      if (file !== undefined) return exportEntries((from) => entriesOfFile(file, from), target);
      return withAdmin(command, (admin) =>
        exportEntries(
          (from) => entriesOf(admin, { after: String(from), ...(follow ? { follow } : {}) }),
          target,
        ),
      );
    });
}

function pruneCommand(): Command {
  return new Command("prune")
    .description("drop old entries; the chain goes on from the last one dropped, and says so")
    .requiredOption(...FILE)
    .requiredOption("--before <age>", "entries older than this (90d)")
    .option("--dry-run", "say how many, and change nothing")
    .action(async (options: { file: string; before: string; dryRun?: boolean }) => {
      const { pruneFile } = await import("./journal-file.ts");
      const before = Date.now() - durationOf("--before", options.before);
      return pruneFile(options.file, before, options.dryRun ?? false);
    });
}

function repairCommand(): Command {
  return new Command("repair")
    .description(
      "keep the longest part of a broken journal that can be verified, put the rest aside",
    )
    .requiredOption(...FILE)
    .option("--dry-run", "say what would be kept and lost, and change nothing")
    .action(async ({ file, dryRun = false }: { file: string; dryRun?: boolean }) => {
      const { repairFile } = await import("./journal-file.ts");
      repairFile(file, dryRun);
    });
}

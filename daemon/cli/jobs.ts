/** `recinto ps`, `logs`, `attach` and `kill`: the commands of sessions, seen and ended from anywhere. */
import { Command } from "commander";
import type { Signal } from "../api/schema-jobs.ts";
import { RecintoError } from "../errors.ts";
import { wholeNumberOf } from "./arguments.ts";
import { attachTo } from "./attach.ts";
import { asOwner, type FoundJob, findJob, jobTargetOptions, withJobs } from "./job-target.ts";
import { passOn, say, wireOf } from "./run-events.ts";
import { print, printJson, printJsonLine, span, table } from "./terminal-text.ts";

const COMMAND_CHARS_SHOWN = 60;
/** By name; that none is missing the compiler sees. */
const SIGNALS: Readonly<Record<Signal, true>> = {
  HUP: true,
  INT: true,
  QUIT: true,
  KILL: true,
  USR1: true,
  USR2: true,
  TERM: true,
  CONT: true,
  STOP: true,
  TSTP: true,
};

export function psCommand(): Command {
  return jobTargetOptions(new Command("ps"))
    .description("commands that run in sandboxes, and what they left running")
    .option("-a, --all", "those that ended a while ago too")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `
Root and those who answer see every session; an agent its own, of its project.

  recinto ps --project shop --worktree dev`,
    )
    .action(({ all, json }: { all?: boolean; json?: boolean }, command: Command) =>
      withJobs(command, async ({ sessions, jobs }) => {
        const lists = sessions.map(async (session) =>
          (await jobs(session.id).list()).map((job) => ({ session, job })),
        );
        const found = (await Promise.all(lists))
          .flat()
          .filter(({ job }) => all || job.state !== "ended");
        if (json) {
          const shown = found.map(({ session, job }) => {
            const { project, worktree, uid } = session;
            return { ...job, project, worktree, uid };
          });
          return printJson(shown);
        }
        if (found.length === 0) return print(all ? "no jobs\n" : "nothing runs\n");
        const head = ["JOB", "STATE", "AGE", "OUTPUT", "PROJECT", "WORKTREE", "COMMAND"];
        print(table(head, found.map(rowOf)));
      }),
    );
}

export function logsCommand(): Command {
  return jobTargetOptions(new Command("logs"))
    .description("what a job has printed, as far as it is kept")
    .option("-f, --follow", "go on until nothing of the job is left")
    .option("--since <offset>", "from this byte on; both streams are counted together")
    .option("--json", "print every event as one JSON object a line")
    .argument("<job>", "its id, or the beginning of it")
    .addHelpText(
      "after",
      `
Output comes exactly as it was printed, on the stream it was printed to: a terminal obeys what is in it.`,
    )
    .action(
      (
        id: string,
        { follow, since, json }: { follow?: boolean; since?: string; json?: boolean },
        command: Command,
      ) =>
        withJobs(command, async (world) => {
          const { session, job } = await findJob(world, id);
          const options = {
            ...(follow ? { follow: true } : {}),
            ...(since === undefined ? {} : { since: wholeNumberOf("--since", since, 0) }),
          };
          const leaving = leavingWithStdout();
          for await (const event of world.jobs(session.id).output(job.id, options, leaving)) {
            if (json) printJsonLine(wireOf(event));
            else if (event.type === "stdout" || event.type === "stderr") {
              await passOn(event.type, event.data);
            } else if (event.type === "at" && event.lost > 0) {
              say(`${event.lost} bytes before this are not kept any more`);
            }
          }
        }),
    );
}

export function attachCommand(): Command {
  return jobTargetOptions(new Command("attach"))
    .description("follow a job from now on, with the keyboard where it has a terminal")
    .option("--since <offset>", "with what it printed from this byte on")
    .argument("<job>", "its id, or the beginning of it")
    .addHelpText(
      "after",
      `
Exit code: the command's own. Ctrl-P Ctrl-Q leaves a job that has a terminal, Ctrl-C any other; it goes on.`,
    )
    .action(async (id: string, { since }: { since?: string }, command: Command) => {
      const { session, job } = await withJobs(command, (world) => findJob(world, id));
      const from = since === undefined ? undefined : wholeNumberOf("--since", since, 0);
      process.exitCode = await asOwner(command, session, (client) =>
        attachTo(client, session.id, job, from),
      );
    });
}

export function killCommand(): Command {
  return jobTargetOptions(new Command("kill"))
    .description("end jobs: TERM to everything they started, after a while KILL")
    .option("-s, --signal <name>", "send this signal to everything they started, and no other")
    .argument("<jobs...>", "their ids, or the beginnings of them")
    .action(async (ids: string[], { signal }: { signal?: string }, command: Command) => {
      const wanted = signal === undefined ? null : signalOf(signal);
      if (wanted === null) {
        return withJobs(command, async (world) => {
          for (const { session, job } of await foundAll(world, ids)) {
            await world.jobs(session.id).kill(job.id);
            print(`${job.id}: ended\n`);
          }
        });
      }
      const found = await withJobs(command, (world) => foundAll(world, ids));
      for (const { session, job } of found) {
        await asOwner(command, session, (client) =>
          client.jobs(session.id).signal(job.id, wanted, { tree: true }),
        );
      }
    });
}

async function foundAll(
  world: Parameters<typeof findJob>[0],
  ids: readonly string[],
): Promise<FoundJob[]> {
  const found: FoundJob[] = [];
  for (const id of ids) found.push(await findJob(world, id));
  return found;
}

function rowOf({ session, job }: FoundJob): string[] {
  const { id, state, startedAt, exit, output, command } = job;
  const told = state !== "ended" ? state : `exit ${exit?.exitCode ?? "?"}`;
  const line =
    command.length > COMMAND_CHARS_SHOWN ? `${command.slice(0, COMMAND_CHARS_SHOWN)}…` : command;
  const worktree = session.worktree.slice(session.worktree.lastIndexOf("/") + 1);
  const age = span(Date.now() - startedAt);
  return [id, told, age, String(output.to), session.project, worktree, line];
}

function signalOf(text: string): Signal {
  const name = text.toUpperCase().replace(/^SIG/, "");
  if (Object.hasOwn(SIGNALS, name)) return name as Signal;
  throw new RecintoError("bad-usage", `--signal ${JSON.stringify(text)} is not sent to jobs`, {
    hint: `one of ${Object.keys(SIGNALS).join(", ")}`,
  });
}

/** Aborts when nobody reads any more, as in `… | head -1`. */
function leavingWithStdout(): AbortSignal {
  const leaving = new AbortController();
  process.stdout.on("error", () => leaving.abort());
  return leaving.signal;
}

/** `recinto top`: what goes on right now, redrawn as long as somebody looks. */
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import type { AdminClient } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { TOP_INTERVAL_MIN_S } from "../limits-observing.ts";
import { withAdmin } from "./context.ts";
import { counted, print, span, table, visible } from "./terminal-text.ts";

const HOME_AND_CLEAR = "\u001b[H\u001b[J";

export function topCommand(): Command {
  return new Command("top")
    .description("sandboxes, sessions, commands and open questions as they are now; Ctrl-C leaves")
    .option("--every <seconds>", "how often it is drawn", "2")
    .option("--once", "draw once and leave; so it is where standard output is no terminal")
    .action((options: { every: string; once?: boolean }, command: Command) =>
      withAdmin(command, async (admin) => {
        const seconds = Number(options.every);
        if (!(seconds >= TOP_INTERVAL_MIN_S)) {
          throw new RecintoError(
            "bad-usage",
            `--every ${options.every}: must be a number from ${TOP_INTERVAL_MIN_S} up`,
          );
        }
        const once = options.once === true || !process.stdout.isTTY;
        for (;;) {
          const page = await drawn(admin, Date.now());
          if (once) return print(page);
          const { rows = 24 } = process.stdout;
          print(
            HOME_AND_CLEAR +
              page
                .split("\n")
                .slice(0, rows - 1)
                .join("\n"),
          );
          await sleep(seconds * 1000);
        }
      }),
    );
}

export function metricsCommand(): Command {
  return new Command("metrics")
    .description("figures for a monitor, in Prometheus' text form")
    .action((_options, command: Command) =>
      withAdmin(command, async (admin) => print(await admin.metrics())),
    );
}

async function drawn(admin: AdminClient, now: number): Promise<string> {
  const [{ version }, health, sessions, approvals, sandboxes] = await Promise.all([
    admin.version(),
    admin.health(),
    admin.sessions(),
    admin.approvals({ state: "pending" }),
    // Without an engine there is still much to see.
    admin.sandboxes().catch(() => []),
  ]);
  const jobs = (
    await Promise.all(
      // One may end between the two questions.
      sessions.map(({ id }) =>
        admin
          .jobs(id)
          .list()
          .catch(() => []),
      ),
    )
  ).flat();
  const running = jobs.filter(({ state }) => state !== "ended");
  const engine = health.engine.reachable
    ? `${health.engine.name} ${health.engine.version}`
    : `AWAY (${visible(health.engine.reason)})`;
  const journal = health.journal.ok ? `${health.journal.entries} entries` : "CANNOT BE WRITTEN";
  const place = new Map(
    sessions.map(({ id, project, worktree }) => [id, `${project} ${lastName(worktree)}`]),
  );
  return [
    `recintod ${version}, up ${span(now - health.startedAt)}; engine ${engine}; journal ${journal}\n`,
    `${counted(sessions.length, "session")}, ${health.running} running, ${health.queued} queued, ${counted(approvals.length, "question")}, ${sandboxes.length} ${sandboxes.length === 1 ? "sandbox" : "sandboxes"}\n`,
    section(
      ["QUESTION", "WAITS", "WHERE", "COMMAND"],
      approvals.map((one) => [
        one.id,
        span(now - one.createdAt),
        place.get(one.session) ?? one.project,
        one.command,
      ]),
    ),
    section(
      ["RUNNING", "FOR", "WHERE", "COMMAND"],
      running.map((one) => [
        one.id,
        span(now - one.startedAt),
        place.get(one.session) ?? "",
        one.command,
      ]),
    ),
    section(
      ["SESSION", "UID", "IDLE", "WHERE", "REFUSALS"],
      sessions.map((one) => [
        one.id,
        `${one.uid}`,
        span(now - one.lastUsedAt),
        `${one.project} ${lastName(one.worktree)}`,
        `${one.denials.total}${one.escalated ? ", everything asks" : ""}`,
      ]),
    ),
    section(
      ["SANDBOX", "STATE", "RUNS BY", "WHERE"],
      sandboxes.map((one) => [
        one.id.slice(0, 12),
        one.state,
        one.executor?.kind ?? "",
        `${one.project} ${lastName(one.worktree)}`,
      ]),
    ),
  ].join("");
}

function section(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `\n${table(head, rows)}`;
}

function lastName(worktree: string): string {
  return worktree.split("/").at(-1) ?? worktree;
}

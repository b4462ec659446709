/** Kills a daemon under load at random moments, and looks after each kill whether anything was lost or left behind. */
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { agentSocketPath } from "../../daemon/api/socket.ts";
import type { Recintod, TestProject } from "../docker/recintod.ts";
import { Random } from "../fuzz/random.ts";
import { Record } from "./record.ts";
import { Load, lookAtRecord, markedProcesses, type RecordReport } from "./under-load.ts";

export interface KillOptions {
  readonly daemon: Recintod;
  readonly kills: number;
  readonly seed: number;
  /** Longest that a daemon lives after it is ready. */
  readonly lifeMsMax: number;
  /** How long what a dead daemon had started may go on. */
  readonly orphanMsMax: number;
  readonly onKill?: (done: number, report: KillReport) => void;
}

export interface KillReport extends RecordReport {
  readonly seed: number;
  kills: number;
  /** Of them before the daemon had said that it is ready. */
  killsWhileStarting: number;
  questionsCarried: number;
  questionsAnswered: number;
  sandboxes: number;
  slowestOrphanMs: number;
}

/** Works on a started daemon with one project for each user; leaves it running. */
export async function surviveKills(options: KillOptions): Promise<KillReport> {
  const { daemon, seed, kills } = options;
  const random = new Random(seed);
  const report: KillReport = {
    seed,
    kills: 0,
    killsWhileStarting: 0,
    entries: 0,
    commands: 0,
    effects: 0,
    execsLost: 0,
    questionsCarried: 0,
    questionsAnswered: 0,
    sandboxes: 0,
    slowestOrphanMs: 0,
    problems: [],
  };
  const projects = [
    await daemon.addProject("red", 12_345, "dev"),
    await daemon.addProject("blue", 12_346, "dev"),
  ];
  const loads = projects.map((project, index) => new Load(daemon, project, seed + index));
  const record = new Record();
  try {
    while (report.kills < kills) {
      const answers = new AbortController();
      const answering = answerSome(daemon, random, answers.signal, report);
      const early = report.kills > 0 && random.chance(0.2);
      if (report.kills > 0) {
        const starting = daemon.start();
        if (early) {
          starting.catch(() => undefined);
          await sleep(random.next() * 900);
          if (!daemon.log.some(({ msg }) => msg === "recintod is ready")) {
            report.killsWhileStarting += 1;
          }
        } else await starting;
      }
      if (!early) {
        if (report.kills > 0) await lookAtOpen(daemon, projects, record, report);
        await sleep(random.next() * options.lifeMsMax);
      }
      answers.abort();
      await daemon.stop("SIGKILL");
      await answering;
      report.kills += 1;
      await lookForOrphans(options, report);
      lookAtRecord(daemon, loads, record, report);
      options.onKill?.(report.kills, report);
    }
    await daemon.start();
    await lookAtOpen(daemon, projects, record, report);
    await daemon.stop("SIGKILL");
    lookAtRecord(daemon, loads, record, report);
    await daemon.start();
    report.sandboxes = (await daemon.admin.sandboxes()).length;
    if (report.sandboxes > projects.length) {
      report.problems.push(`${report.sandboxes} sandboxes for ${projects.length} worktrees`);
    }
    return report;
  } finally {
    for (const load of loads) await load.stop();
  }
}

/** A person who answers now and then, one way or the other. */
export async function answerSome(
  daemon: Recintod,
  random: Random,
  signal: AbortSignal,
  report: { questionsAnswered: number },
): Promise<void> {
  while (!signal.aborted) {
    await sleep(50 + random.next() * 300);
    try {
      const open = await daemon.admin.approvals({ state: "pending" });
      const one = open[random.below(Math.max(1, open.length))];
      if (one === undefined) continue;
      await daemon.admin.answer(
        one.id,
        random.chance(0.7)
          ? { answer: "approve", mode: "once" }
          : { answer: "deny", reason: "not now" },
      );
      report.questionsAnswered += 1;
      // Else everything would ask after twenty refusals, and the load would come to a stand.
      await daemon.admin.resetDenials({ project: one.project });
    } catch {
      // The daemon is away, or somebody was faster.
    }
  }
}

/** Everything open on record is open in the daemon that took over, with the same times. */
async function lookAtOpen(
  daemon: Recintod,
  projects: readonly TestProject[],
  record: Record,
  report: KillReport,
): Promise<void> {
  // One whose time ended while no daemon was there is recorded as timed out, which the next look at the record sees.
  const questions = record.pending().filter(({ expiresAt }) => expiresAt > Date.now() + 1_000);
  for (const { id, createdAt, expiresAt, command } of questions) {
    const found = await daemon.admin.approval(id).catch(() => null);
    if (found === null) report.problems.push(`question ${id} is gone`);
    else if (found.state === "cancelled") report.problems.push(`question ${id} was cancelled`);
    else if (
      found.createdAt !== createdAt ||
      found.expiresAt !== expiresAt ||
      found.command !== command
    ) {
      report.problems.push(`question ${id} came back as another one`);
    }
  }
  report.questionsCarried += questions.length;
  const live = new Set((await daemon.admin.sessions()).map(({ id }) => id));
  for (const id of record.sessions()) {
    if (!live.has(id)) report.problems.push(`session ${id} is gone`);
  }
  for (const { uid, id } of projects) {
    if (!socketAnswers(uid, agentSocketPath(daemon.runDir, id))) {
      report.problems.push(`the socket of ${id} does not answer`);
    }
  }
}

function socketAnswers(uid: number, socketPath: string): boolean {
  const words = [
    "-s",
    "--max-time",
    "20",
    "--unix-socket",
    socketPath,
    "http://recinto/v1/version",
  ];
  try {
    return execFileSync("curl", words, { uid, gid: uid, cwd: "/" }).includes('"recinto"');
  } catch {
    return false;
  }
}

/** Nothing that a command started outlives its daemon for long. */
async function lookForOrphans({ orphanMsMax }: KillOptions, report: KillReport): Promise<void> {
  const killedAt = Date.now();
  for (;;) {
    const left = markedProcesses();
    const after = Date.now() - killedAt;
    if (left.length === 0) {
      report.slowestOrphanMs = Math.max(report.slowestOrphanMs, after);
      return;
    }
    if (after > orphanMsMax) {
      report.problems.push(`${left.length} processes are left after ${after} ms: ${left[0]}`);
      return;
    }
    await sleep(20);
  }
}

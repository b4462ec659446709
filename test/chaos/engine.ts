/** Ends and starts the engine under load: the daemon lives on, every command has one outcome, and it goes on by itself. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Recintod } from "../docker/recintod.ts";
import { Random } from "../fuzz/random.ts";
import { answerSome } from "./kills.ts";
import type { OwnEngine } from "./own-engine.ts";
import { Record } from "./record.ts";
import { Load, lookAtRecord, markedProcesses, type RecordReport } from "./under-load.ts";

export interface EngineReport extends RecordReport {
  readonly seed: number;
  restarts: number;
  questionsAnswered: number;
  /** Longest from the engine answering again to a command that runs. */
  slowestBackMs: number;
}

const BACK_MS_MAX = 120_000;

/** Works on a started daemon, which it stops in good order. */
export async function surviveEngine(options: {
  readonly daemon: Recintod;
  readonly engine: OwnEngine;
  readonly restarts: number;
  readonly seed: number;
}): Promise<EngineReport> {
  const { daemon, engine, seed } = options;
  const random = new Random(seed);
  const report: EngineReport = {
    seed,
    restarts: 0,
    entries: 0,
    commands: 0,
    effects: 0,
    execsLost: 0,
    questionsAnswered: 0,
    slowestBackMs: 0,
    problems: [],
  };
  const project = await daemon.addProject("red", 12_345, "dev");
  const load = new Load(daemon, project, seed);
  const record = new Record();
  const answers = new AbortController();
  const answering = answerSome(daemon, random, answers.signal, report);
  const pid = daemon.process?.pid;
  try {
    await untilEffects(load, 1);
    while (report.restarts < options.restarts) {
      await sleep(random.next() * 3_000);
      engine.end(random.chance(0.5) ? "kill" : "stop");
      await sleep(random.next() * 1_000);
      engine.startAgain();
      const before = Date.now();
      const back = await untilEffects(load, load.effects().length + 1);
      if (!back) report.problems.push(`nothing ran for ${BACK_MS_MAX} ms after a restart`);
      report.slowestBackMs = Math.max(report.slowestBackMs, Date.now() - before);
      report.restarts += 1;
    }
  } finally {
    answers.abort();
    await answering;
    await load.stop();
  }
  if (daemon.process?.pid !== pid || daemon.process?.exitCode !== null) {
    report.problems.push("the daemon did not live on");
  }
  await daemon.stop();
  if (markedProcesses().length > 0) report.problems.push(`left: ${markedProcesses().join(", ")}`);
  lookAtRecord(daemon, [load], record, report);
  // Without any next daemon having closed anything: this one has said how each ended.
  report.problems.push(...record.silent(Number.POSITIVE_INFINITY));
  return report;
}

async function untilEffects(load: Load, count: number): Promise<boolean> {
  const until = Date.now() + BACK_MS_MAX;
  while (load.effects().length < count) {
    if (Date.now() > until) return false;
    await sleep(50);
  }
  return true;
}

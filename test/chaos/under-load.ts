/** Agents that load a daemon, each on its project, and the look whether its record and the world agree. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agentSocketPath } from "../../daemon/api/socket.ts";
import { openJournal } from "../../daemon/journal/sqlite-journal.ts";
import type { JournalEntry } from "../../daemon/journal/types.ts";
import type { Recintod, TestProject } from "../docker/recintod.ts";
import { type Heard, type LoadOptions, MARK_SECONDS } from "./heard.ts";
import type { Record } from "./record.ts";

const LOAD = fileURLToPath(new URL("load.ts", import.meta.url));
const TSX = import.meta.resolve("tsx");

/** What a look at the record fills in. */
export interface RecordReport {
  entries: number;
  commands: number;
  effects: number;
  /** Commands of which nobody can tell how they ended. */
  execsLost: number;
  /** Each of these must be empty. */
  readonly problems: string[];
}

export class Load {
  readonly #project: TestProject;
  readonly #heard: string;
  readonly #child: ChildProcess;

  constructor(daemon: Recintod, project: TestProject, seed: number) {
    this.#project = project;
    this.#heard = join(daemon.base, `${project.id}.heard`);
    const options: LoadOptions = {
      name: project.id,
      uid: project.uid,
      socketPath: agentSocketPath(daemon.runDir, project.id),
      worktree: project.worktree,
      heard: this.#heard,
      seed,
    };
    this.#child = spawn(process.execPath, ["--import", TSX, LOAD, JSON.stringify(options)], {
      cwd: "/",
      stdio: ["ignore", "inherit", "inherit"],
    });
  }

  heard(): readonly Heard[] {
    return linesOf(this.#heard).map((line) => JSON.parse(line));
  }

  effects(): readonly string[] {
    return linesOf(join(this.#project.worktree, "effects"));
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }
}

/** Those of the load's commands: its marked sleeps, and shells that write an effect. */
export function markedProcesses(): readonly string[] {
  return execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(`sleep ${MARK_SECONDS}`) || />> effects/.test(line));
}

/** With the daemon dead: the file is opened as the next daemon would, and every entry is held against the world. */
export function lookAtRecord(
  daemon: Recintod,
  loads: readonly Load[],
  record: Record,
  report: RecordReport,
): void {
  // First what clients heard: whatever is on record later must cover it.
  const heard = loads.flatMap((load) => load.heard());
  const effects = loads.flatMap((load) => load.effects());
  const journal = openJournal(join(daemon.base, "state/journal.sqlite"), { now: Date.now });
  try {
    for (;;) {
      const page: readonly JournalEntry[] = journal.read({ afterSeq: record.seq, limit: 10_000 });
      record.take(page);
      if (page.length < 10_000) break;
    }
    const { ok, entries, firstBroken } = journal.verify();
    if (!ok) report.problems.push(`the chain breaks: ${JSON.stringify(firstBroken)}`);
    report.entries = entries;
  } finally {
    journal.close();
  }
  const asked = new Set(heard.flatMap((one) => (one.type === "pending" ? [one.id] : [])));
  report.problems.push(
    ...record.unrecorded(effects),
    ...record.unapproved(effects, asked),
    ...record.forgotten(heard).map((what) => `told and not recorded: ${what}`),
    ...record.silent(),
  );
  report.effects = effects.length;
  report.execsLost = record.lost;
  report.commands = new Set(heard.map(({ id }) => id)).size;
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}

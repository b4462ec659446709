/** What a command left running, as a job: how long it stays, what ends it, and what is told about that. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import type { ExecControl } from "../../daemon/sandbox/engine.ts";
import type { Execution, ExitEvent } from "../../daemon/supervisor/execution.ts";
import { Job } from "../../daemon/supervisor/jobs/job.ts";
import { EXIT } from "../api/fake-supervisor.ts";

/** A job whose command has ended and left something that goes with this signal. */
function left(goesWith: string, backgroundMs: number, record = (_: string) => {}) {
  const told: string[] = [];
  const closed = new AbortController();
  const stopping = new AbortController();
  let go = () => {};
  const control: ExecControl = {
    pid: 1,
    signal: (signal, everything) => {
      told.push(`${signal} ${everything}`);
      if (signal === goesWith) go();
    },
    resize: () => {},
    gone: new Promise((resolve) => {
      go = resolve;
    }),
  };
  const streams = { stdin: null, stdout: new PassThrough(), stderr: new PassThrough() };
  const exited = new Promise<never>(() => {});
  const process = { ...streams, exited, kill: async () => {}, control };
  const about = { id: "x-1", session: "s-1", action: "a-1", command: "serve &", cwd: "/w" };
  const job = new Job({ ...about, detached: false, confinement: "", startedAt: 1 }, null, {
    now: () => 2,
    ends: [
      [closed.signal, "session-closed"],
      [stopping.signal, "daemon-stopped"],
    ],
    backgroundMs,
    onLeft: (count) => {
      told.push(`left ${count}`);
      record("left");
    },
    onBackgroundEnd: (why) => {
      told.push(why);
      record("ended");
    },
    onEnd: () => told.push("over"),
  });
  job.run(process, {} as Execution);
  job.whenOver(() => told.push("let go"));
  let failure: unknown = null;
  try {
    job.exited({ known: true, exit: { ...(EXIT as ExitEvent), left: 3 } });
  } catch (error) {
    failure = error;
  }
  return { job, told, closed, stopping, failure, go: () => go() };
}

test("it ends by itself", async () => {
  const { job, told, go } = left("KILL", 60_000);
  expect(job.info()).toMatchObject({ state: "background", exit: { left: 3 } });
  go();
  await job.gone;
  expect(job.info()).toMatchObject({ state: "ended", endedAt: 2 });
  expect(told).toEqual(["left 3", "ended", "let go", "over"]);
});

test("its own limit ends it: first by TERM", async () => {
  const { job, told } = left("TERM", 20);
  await job.gone;
  expect(told).toEqual(["left 3", "TERM true", "over-time", "let go", "over"]);
});

test("what is deaf to TERM goes by KILL", async () => {
  const { job, told, closed } = left("KILL", 60_000);
  closed.abort();
  await job.gone;
  expect(told).toEqual(["left 3", "TERM true", "KILL true", "session-closed", "let go", "over"]);
});

test("the daemon's stop ends it", async () => {
  const { job, told, stopping } = left("TERM", 60_000);
  stopping.abort();
  await job.gone;
  expect(told).toContain("daemon-stopped");
});

test("what cannot be recorded does not stay, and is let go all the same", async () => {
  const full = new RecintoError("journal-failed", "the disk is full");
  const { job, told, failure } = left("TERM", 60_000, () => {
    throw full;
  });
  expect(failure).toBe(full);
  await job.gone;
  expect(told).toEqual(["left 3", "TERM true", "killed", "let go", "over"]);
});

test("where nothing may stay, nothing is kept running", () => {
  const { job } = left("TERM", 0);
  expect(job.background).toBe(null);
});

test("how it ended is not known: over at once, with the reason, and its readers are told the end", async () => {
  const { job } = left("TERM", 60_000);
  const other = new Job({ ...job.info(), detached: true }, null, {
    now: () => 5,
    ends: [],
    backgroundMs: 1,
    onLeft: () => {},
    onBackgroundEnd: () => {},
    onEnd: () => {},
  });
  other.output.push("stdout", Buffer.from("ab"));
  other.exited({ known: false, error: new RecintoError("engine-unreachable", "it went away") });
  expect(other.info()).toMatchObject({ state: "ended", lost: "it went away" });
  const events = [];
  for await (const event of other.events({ follow: true }, new AbortController().signal)) {
    events.push(event);
  }
  expect(events).toEqual([
    { type: "at", offset: 0, lost: 0 },
    { type: "stdout", data: Buffer.from("ab") },
    { type: "end", next: 2, state: "ended" },
  ]);
});

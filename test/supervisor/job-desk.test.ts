/** How much of ended jobs is kept, for how long, and how many may stay or be read at once. */
import { setMaxListeners } from "node:events";
import { beforeEach, expect, test } from "vitest";
import type { Journal } from "../../daemon/journal/types.ts";
import {
  JOB_ENDED_KEPT_MS,
  JOB_HISTORIES_BYTES_MAX,
  JOB_HISTORY_BYTES,
  JOB_READERS_MAX,
  JOBS_BACKGROUND_MAX,
  JOBS_ENDED_KEPT_MAX,
} from "../../daemon/limits.ts";
import type { ExecProcess } from "../../daemon/sandbox/engine.ts";
import type { Execution, ExitEvent } from "../../daemon/supervisor/execution.ts";
import { JobDesk } from "../../daemon/supervisor/jobs/job-desk.ts";
import type { RunContext } from "../../daemon/supervisor/run-context.ts";
import type { Session, Sessions } from "../../daemon/supervisor/sessions.ts";
import { EXIT } from "../api/fake-supervisor.ts";
import { agent, codeOf } from "./world.ts";

const live = new Map<string, Session>();
let desk: JobDesk;
let now: number;

beforeEach(() => {
  live.clear();
  now = 0;
  const stopping = new AbortController().signal;
  // As every command that is run sees to.
  setMaxListeners(0, stopping);
  desk = new JobDesk({
    journal: { appendSoon: () => [] } as unknown as Journal,
    sessions: { visible: (_: unknown, id: string) => live.get(id) } as unknown as Sessions,
    stopping,
    now: () => now,
    log: { warn: () => undefined },
  });
});

function open(id: string): Session {
  const session = { id, background: new Set(), closed: new AbortController() };
  setMaxListeners(0, session.closed.signal);
  live.set(id, session as unknown as Session);
  return session as unknown as Session;
}

function begin(session: Session, id: string) {
  const command = { command: "c", cwd: "/w", tty: null, detach: false };
  const context = { session, action: "a", command, profile: { limits: {} } };
  return desk.begin(context as unknown as RunContext, { id, confinement: "", startedAt: now });
}

function run(session: Session, id: string, output = new Uint8Array()) {
  const job = begin(session, id);
  desk.add(session, job);
  job.output.push("stdout", output);
  job.exited({ known: true, exit: EXIT as ExitEvent });
  return job;
}

const listed = (session: string) => desk.list(agent(), session).map(({ id }) => id);

test("of the ended jobs of a session the newest are listed, and for a while", () => {
  const session = open("s");
  const ids = Array.from({ length: JOBS_ENDED_KEPT_MAX + 2 }, (_, index) => `x-${index}`);
  for (const id of ids) run(session, id);
  expect(listed("s")).toEqual(ids.slice(2));
  now = JOB_ENDED_KEPT_MS;
  run(session, "x-late");
  expect(listed("s")).toEqual([...ids.slice(3), "x-late"]);
  now += 1;
  expect(listed("s")).toEqual(["x-late"]);
});

test("over the bytes that are kept for all sessions, what ended first loses its output and stays listed", () => {
  const output = new Uint8Array(JOB_HISTORY_BYTES);
  const sessions = [open("one"), open("two")];
  const each = JOB_HISTORIES_BYTES_MAX / JOB_HISTORY_BYTES / 2 + 1;
  for (const session of sessions) {
    for (let index = 0; index < each; index++) run(session, `x-${index}`, output);
  }
  const kept = sessions.flatMap(({ id }) =>
    desk.list(agent(), id).map(({ output: { from, to } }) => to - from),
  );
  expect(kept).toEqual([0, 0, ...Array(2 * each - 2).fill(JOB_HISTORY_BYTES)]);
});

test("a session that has as many jobs in the background as it may leaves no more", () => {
  const session = open("s");
  for (let index = 1; index < JOBS_BACKGROUND_MAX; index++)
    session.background.add(Promise.resolve());
  expect(begin(session, "x-1").background).not.toBe(null);
  session.background.add(Promise.resolve());
  expect(begin(session, "x-2").background).toBe(null);
});

test("of those that were begun at once and leave something, no more than that stay", () => {
  const session = open("s");
  const signals: string[] = [];
  const jobs = Array.from({ length: JOBS_BACKGROUND_MAX + 1 }, (_, index) => {
    const job = begin(session, `x-${index}`);
    let go = () => {};
    const control = {
      signal(name: string) {
        signals.push(`${name} to x-${index}`);
        go();
      },
      gone: new Promise<void>((resolve) => {
        go = resolve;
      }),
    };
    job.run({ control } as unknown as ExecProcess, {} as Execution);
    return job;
  });
  for (const job of jobs) job.exited({ known: true, exit: { ...(EXIT as ExitEvent), left: 1 } });
  expect(signals).toEqual([`TERM to x-${JOBS_BACKGROUND_MAX}`]);
});

test("a job has so many readers at once, and room again when one leaves", async () => {
  const session = open("s");
  const job = begin(session, "x-1");
  desk.add(session, job);
  job.output.push("stdout", Buffer.from("text"));
  const leave = new AbortController();
  const reader = () => job.events({ follow: true }, leave.signal);
  const readers = Array.from({ length: JOB_READERS_MAX }, reader);
  for (const each of readers) await each.next();
  expect(await codeOf(() => reader().next())).toBe("busy");
  await readers[0]?.return(undefined);
  expect((await reader().next()).value).toMatchObject({ type: "at", offset: 0 });
  leave.abort();
});

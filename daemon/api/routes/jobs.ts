/** Routes of a session's jobs: commands that run by themselves, what others left running, and output after the fact. */
import { z } from "zod";
import type { JobEvent } from "../../supervisor/jobs/job-calls.ts";
import { type Backend, jsonRoute, linesRoute, type RouteRequest } from "../route.ts";
import {
  JobEventSchema,
  JobSchema,
  OutputQuerySchema,
  SignalRequestSchema,
  WriteRequestSchema,
} from "../schema-jobs.ts";
import { TerminalSizeSchema } from "../schema-run.ts";
import { bytesOf, wireEvents } from "../wire-events.ts";

const UNKNOWN = ["unknown-session", "unknown-job"] as const;

export const listJobs = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}/jobs",
  sockets: ["admin", "agent"],
  summary: "Commands of the session that run, and those that ended a while ago; the oldest first.",
  answer: z.array(JobSchema),
  errors: ["unknown-session"],
  handle: ({ supervisor }, { caller, params }) => supervisor.jobs.list(caller, params.session),
});

export const showJob = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}/jobs/{job}",
  sockets: ["admin", "agent"],
  summary: "One job.",
  answer: JobSchema,
  errors: UNKNOWN,
  handle: ({ supervisor }, { caller, params }) =>
    supervisor.jobs.show(caller, params.session, params.job),
});

export const killJob = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/jobs/{job}/kill",
  sockets: ["admin", "agent"],
  summary:
    "Ends everything that the job started: TERM, after a while KILL. Answers when it is gone.",
  answer: JobSchema,
  errors: UNKNOWN,
  handle: ({ supervisor }, { caller, params }) =>
    supervisor.jobs.kill(caller, params.session, params.job),
});

export const readJob = linesRoute({
  method: "GET",
  path: "/v1/sessions/{session}/jobs/{job}/output",
  sockets: ["admin", "agent"],
  summary: "Output of a job from an offset on; with `follow`, until nothing of it is left.",
  query: OutputQuerySchema,
  answer: JobEventSchema,
  errors: [...UNKNOWN, "busy"],
  handle: (backend, request) => wireEvents(outputOf(backend, request)),
  handleFrames: outputOf,
});

export const resizeJob = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/jobs/{job}/resize",
  sockets: ["agent"],
  summary: "Gives its terminal another size.",
  body: TerminalSizeSchema,
  answer: null,
  errors: [...UNKNOWN, "job-over"],
  handle: ({ supervisor }, { caller, params, body }) => {
    supervisor.jobs.resize(caller, params.session, params.job, body);
    return null;
  },
});

export const signalJob = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/jobs/{job}/signal",
  sockets: ["agent"],
  summary: "Sends a signal to its process group, or to everything it started.",
  body: SignalRequestSchema,
  answer: null,
  errors: [...UNKNOWN, "job-over", "not-available"],
  handle: ({ supervisor }, { caller, params, body }) => {
    const { signal, tree = false } = body;
    supervisor.jobs.signal(caller, params.session, params.job, signal, tree);
    return null;
  },
});

export const writeJob = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/jobs/{job}/stdin",
  sockets: ["agent"],
  summary: "Writes to the input of a job that was started with it open. Answers when it was taken.",
  body: WriteRequestSchema,
  answer: null,
  errors: [...UNKNOWN, "job-over", "busy"],
  handle: async ({ supervisor }, { caller, params, body }) => {
    const { data, end } = body;
    if (data !== undefined) {
      await supervisor.jobs.write(caller, params.session, params.job, bytesOf(data));
    }
    if (end === true) supervisor.jobs.endInput(caller, params.session, params.job);
    return null;
  },
});

function outputOf(
  { supervisor }: Backend,
  {
    caller,
    params,
    query,
    signal,
  }: RouteRequest<{ session: string; job: string }, z.infer<typeof OutputQuerySchema>, unknown>,
): AsyncIterable<JobEvent> {
  return supervisor.jobs.output(caller, params.session, params.job, query, signal);
}

/** Routes of a session's jobs: commands that run by themselves, what others left running, and output after the fact. */
import type { Duplex } from "node:stream";
import { z } from "zod";
import { RecintoError } from "../../errors.ts";
import { REQUEST_TIMEOUT_MS } from "../../limits.ts";
import type { JobEvent } from "../../supervisor/jobs/job-calls.ts";
import type { RunRequest } from "../../supervisor/types.ts";
import { type Backend, jsonRoute, linesRoute, type RouteRequest, upgradeRoute } from "../route.ts";
import { parsePart } from "../router.ts";
import {
  AttachQuerySchema,
  JobEventSchema,
  JobSchema,
  OutputQuerySchema,
  SignalRequestSchema,
  WriteRequestSchema,
} from "../schema-jobs.ts";
import { RunRequestSchema, TerminalSizeSchema } from "../schema-run.ts";
import { FRAMES_PROTOCOL } from "../stream-frames.ts";
import { type Feed, feeder, type Sent, sentOn, serveTwoWay } from "../two-way.ts";
import { bytesOf, wireEvents } from "../wire-events.ts";

const UNKNOWN = ["unknown-session", "unknown-job"] as const;

export const listJobs = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}/jobs",
  sockets: ["admin", "agent"],
  narrows: true,
  summary: "Commands of the session that run, and those that ended a while ago; the oldest first.",
  answer: z.array(JobSchema),
  errors: ["unknown-session"],
  handle: ({ supervisor }, { caller, params }) => supervisor.jobs.list(caller, params.session),
});

export const showJob = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}/jobs/{job}",
  sockets: ["admin", "agent"],
  narrows: true,
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
  narrows: true,
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
  errors: [...UNKNOWN, "job-over", "input-closed", "busy"],
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

export const attachJob = upgradeRoute({
  path: "/v1/sessions/{session}/jobs/{job}/attach",
  sockets: ["agent"],
  summary:
    "A job on a connection of its own: its JobEvents in frames, input and Control frames to it. Leaving is nothing to it.",
  protocol: FRAMES_PROTOCOL,
  query: AttachQuerySchema,
  errors: ["bad-upgrade", ...UNKNOWN, "busy"],
  serve: async ({ supervisor: { jobs } }, { caller, params, query, connection, failure }) => {
    const { session, job } = params;
    async function* events(signal: AbortSignal) {
      const { since = jobs.show(caller, session, job).output.to } = query;
      yield* jobs.output(caller, session, job, { since, follow: true }, signal);
    }
    const feed = Promise.resolve(feeder(jobs, caller, session, job));
    await serveTwoWay({ connection, sent: sentOn(connection), events, feed, failure });
  },
});

export const interact = upgradeRoute({
  path: "/v1/sessions/{session}/interact",
  sockets: ["agent"],
  summary:
    "Runs a command on a connection of its own. The first frame to it is a RunRequest (`j`), then come input and Control frames; what comes back are its RunEvents in frames. Leaving ends the command.",
  protocol: FRAMES_PROTOCOL,
  errors: ["bad-upgrade", "unknown-session"],
  serve: async ({ supervisor }, { caller, params, connection, failure }) => {
    const { session } = params;
    const sent = sentOn(connection);
    let started: (feed: Feed | null) => void = () => undefined;
    const feed = new Promise<Feed | null>((resolve) => {
      started = resolve;
    });
    const request = interactiveRequest(connection, sent);
    // Told in the events' place.
    request.catch(() => undefined);
    async function* events(signal: AbortSignal) {
      try {
        for await (const event of supervisor.run(caller, session, await request, signal)) {
          if (event.type === "started") {
            started(feeder(supervisor.jobs, caller, session, event.exec));
          }
          yield event;
        }
      } finally {
        started(null);
      }
    }
    const rest = { next: () => request.then(() => sent.next()) };
    await serveTwoWay({ connection, sent: rest, events, feed, failure });
  },
});

/** Its input is open unless it says otherwise: what else is the connection for. */
async function interactiveRequest(
  connection: Duplex,
  sent: AsyncIterator<Sent, void>,
): Promise<RunRequest> {
  const late = setTimeout(() => connection.destroy(), REQUEST_TIMEOUT_MS);
  const first = await sent.next().finally(() => clearTimeout(late));
  if (first.done || first.value.type !== "json") {
    throw new RecintoError("bad-request", "the first frame is not a request");
  }
  const { stdin, ...others } = parsePart(RunRequestSchema, "body", first.value.value);
  if (others.detach === true || stdin === "stream") {
    const what = others.detach === true ? "detach" : 'stdin "stream"';
    throw new RecintoError("bad-request", `${what} is nothing for a connection of its own`, {
      hint: "leave it out: input comes in i frames, and the command ends with the connection",
    });
  }
  return { ...others, stdin: stdin === undefined || stdin === "open" ? "open" : bytesOf(stdin) };
}

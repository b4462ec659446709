/** The job operations of the typed client: commands that go on by themselves, seen, fed and ended from anywhere. */
import { RecintoError } from "../errors.ts";
import { type ClientRunEvent, type ClientRunRequest, carried, runCall } from "./client-run.ts";
import type { Call, FramedOutput, Transport } from "./client-transport.ts";
import { type TwoWay, twoWay } from "./client-two-way.ts";
import type { Job, Signal, WireJobEvent } from "./schema-jobs.ts";
import type { RunRequest } from "./schema-run.ts";

export type { Job, Signal };

/** An event as a program wants it: output as bytes. */
export type ClientJobEvent =
  | Exclude<WireJobEvent, { type: "stdout" | "stderr" | "error" }>
  | FramedOutput;

export interface ReadOptions {
  /** Offset of the first byte wanted; the oldest that is kept when absent. */
  readonly since?: number;
  /** Until nothing of the job is left. */
  readonly follow?: boolean;
}

export type Started = Extract<ClientRunEvent, { type: "started" }>;
export type Refused = Extract<ClientRunEvent, { type: "refused" }>;

/** What an admin may do too. All calls throw RecintoError: `unknown-session`, `unknown-job`. */
export function jobViews(http: Transport, session: string) {
  const at = (job?: string, what?: string) => path(session, job, what);
  return {
    /** The oldest first. */
    list: () => http.json<Job[]>({ method: "GET", path: at() }),
    show: (job: string) => http.json<Job>({ method: "GET", path: at(job) }),
    /** Leaving the loop is nothing to the job. */
    output: (
      job: string,
      { since, follow }: ReadOptions = {},
      signal?: AbortSignal,
    ): AsyncGenerator<ClientJobEvent, void> =>
      http.frames<Exclude<ClientJobEvent, FramedOutput>>({
        method: "GET",
        path: at(job, "output"),
        query: { since, follow: follow === undefined ? undefined : String(follow) },
        ...(signal === undefined ? {} : { signal }),
      }),
    /** Resolves when nothing of it is left. */
    kill: (job: string) => http.json<Job>({ method: "POST", path: at(job, "kill") }),
  };
}

/** Errors besides: `job-over`, and as said. */
export function jobCalls(http: Transport, session: string) {
  const post = (job: string, what: string, body: object) =>
    http.json<void>({ method: "POST", path: path(session, job, what), body });
  return {
    ...jobViews(http, session),
    /**
     * Runs a command detached: resolves once it is started (`exec` is the job) or refused. `onEvent` hears of what comes
     * before, such as that a person is asked. Aborting gives it up until then, and is nothing to it later.
     */
    start: async (
      request: Omit<ClientRunRequest, "detach">,
      onEvent: (event: ClientRunEvent) => void = () => undefined,
      signal?: AbortSignal,
    ): Promise<Started | Refused> => {
      for await (const event of runCall(http, session, { ...request, detach: true }, signal)) {
        if (event.type === "started" || event.type === "refused") return event;
        onEvent(event);
      }
      throw new RecintoError("daemon-unreachable", "the stream ended before the command started");
    },
    /** Resolves when the job has room for more. Errors: input-closed, busy. */
    write: (job: string, data: Uint8Array) =>
      post(job, "stdin", { data: carried(Buffer.from(data)) }),
    endInput: (job: string) => post(job, "stdin", { end: true }),
    /** To its process group, or with `tree` to everything it started. Errors: not-available. */
    signal: (job: string, signal: Signal, { tree = false } = {}) =>
      post(job, "signal", { signal, tree }),
    /** Errors: bad-request (it has no terminal). */
    resize: (job: string, size: { readonly rows: number; readonly columns: number }) =>
      post(job, "resize", size),
    /**
     * Its output and its input on one connection: from `since` on, or only what is new. Leaving is nothing to the job.
     */
    attach: (
      job: string,
      { since }: Pick<ReadOptions, "since"> = {},
      signal?: AbortSignal,
    ): Promise<TwoWay<ClientJobEvent>> =>
      twoWay(http, {
        call: upgrade(path(session, job, "attach"), signal, { since }),
        last: ["end"],
      }),
    /** Runs a command with its input on the same connection, open: for a terminal. Leaving ends it. */
    interact: (
      request: Omit<RunRequest, "detach">,
      signal?: AbortSignal,
    ): Promise<TwoWay<ClientRunEvent>> =>
      twoWay(http, {
        call: upgrade(`/v1/sessions/${encodeURIComponent(session)}/interact`, signal),
        last: ["exit", "refused"],
        begin: request,
      }),
  };
}

function upgrade(path: string, signal?: AbortSignal, query: NonNullable<Call["query"]> = {}): Call {
  return { method: "GET", path, query, ...(signal === undefined ? {} : { signal }) };
}

function path(session: string, job?: string, what?: string): string {
  const parts = ["/v1/sessions", session, "jobs", job, what];
  return parts
    .filter((part) => part !== undefined)
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join("/");
}

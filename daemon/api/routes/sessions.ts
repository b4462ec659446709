/** Routes of an agent's task: its sessions, its commands, its own questions. Admins see and end sessions. */
import { z } from "zod";
import { RecintoError } from "../../errors.ts";
import { APPROVAL_POLL_WAIT_MAX_MS } from "../../limits.ts";
import type { RunEvent, RunRequest } from "../../supervisor/types.ts";
import { type Backend, jsonRoute, linesRoute, type RouteRequest } from "../route.ts";
import {
  ApprovalSchema,
  OpenedSessionSchema,
  OpenSessionRequestSchema,
  SessionSchema,
} from "../schema.ts";
import { VerdictSchema } from "../schema-policy.ts";
import {
  CheckRequestSchema,
  RunEventSchema,
  type RunRequest as RunRequestBody,
  RunRequestSchema,
} from "../schema-run.ts";
import { CountTextSchema } from "../schema-text.ts";
import { bytesOf, stdinOf, wireEvents } from "../wire-events.ts";

export const listSessions = jsonRoute({
  method: "GET",
  path: "/v1/sessions",
  sockets: ["admin", "agent"],
  narrows: true,
  summary: "Live sessions: an agent's own, or all of them for an admin.",
  answer: z.array(SessionSchema),
  handle: ({ supervisor }, { caller }) => supervisor.listSessions(caller),
});

export const openSession = jsonRoute({
  method: "POST",
  path: "/v1/sessions",
  sockets: ["agent"],
  summary: "Opens a session on a worktree, or gives the one this user has there already.",
  body: OpenSessionRequestSchema,
  answer: OpenedSessionSchema,
  errors: ["unknown-worktree", "worktree-refused", "session-busy", "approver-cannot-be-agent"],
  handle: ({ supervisor }, { caller, body }) => supervisor.openSession(caller, body),
});

export const closeSession = jsonRoute({
  method: "DELETE",
  path: "/v1/sessions/{session}",
  sockets: ["admin", "agent"],
  summary: "Ends a session: cancels what it waits for and kills what it runs.",
  answer: null,
  errors: ["unknown-session"],
  handle: async ({ supervisor }, { caller, params }) => {
    await supervisor.closeSession(caller, params.session);
    return null;
  },
});

export const showSession = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}",
  sockets: ["admin", "agent"],
  narrows: true,
  summary: "One session, with its denial counters.",
  answer: SessionSchema,
  errors: ["unknown-session"],
  handle: ({ supervisor }, { caller, params }) => supervisor.session(caller, params.session),
});

export const showOwnApproval = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}/approvals/{approval}",
  sockets: ["agent"],
  summary:
    "One question of this session, for an agent that polls instead of holding its request open.",
  query: z.strictObject({
    waitMs: CountTextSchema.pipe(z.int().max(APPROVAL_POLL_WAIT_MAX_MS))
      .exactOptional()
      .meta({ description: "Answer once it is over, or after so many milliseconds." }),
  }),
  answer: ApprovalSchema,
  errors: ["unknown-session", "unknown-approval"],
  handle: async ({ supervisor }, { caller, params, query, signal }) => {
    const { id } = supervisor.session(caller, params.session);
    const find = () => {
      const own = supervisor.approvals(caller, { session: id });
      const found = own.find((approval) => approval.id === params.approval);
      if (found !== undefined) return found;
      throw new RecintoError("unknown-approval", `this session has no question ${params.approval}`);
    };
    const { waitMs = 0 } = query;
    if (find().state === "pending" && waitMs > 0) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
      // Subscribes before anything else gets its turn: no answer falls in between.
      for await (const change of supervisor.watchApprovals(caller, until)) {
        if (change.id === params.approval && change.state !== "pending") break;
      }
    }
    return find();
  },
});

export const check = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/check",
  sockets: ["agent"],
  summary: "The verdict on a command; nothing is recorded, asked or run.",
  body: CheckRequestSchema,
  answer: VerdictSchema,
  errors: ["unknown-session"],
  handle: ({ supervisor }, { caller, params, body }) =>
    supervisor.check(caller, params.session, body),
});

export const exec = linesRoute({
  method: "POST",
  path: "/v1/sessions/{session}/exec",
  sockets: ["agent"],
  summary: "Judges a command, asks where needed, runs it and streams what happens.",
  body: RunRequestSchema,
  bodyGoesOn: true,
  answer: RunEventSchema,
  errors: [
    "unknown-session",
    "too-many-pending",
    "busy",
    "queue-full",
    "engine-unreachable",
    "engine-failed",
    "image-missing",
    "runtime-missing",
    "journal-failed",
  ],
  handle: (backend, request) => wireEvents(runOf(backend, request)),
  handleFrames: runOf,
});

function runOf(
  { supervisor }: Backend,
  { caller, params, body, rest, signal }: RouteRequest<{ session: string }, object, RunRequestBody>,
): AsyncGenerator<RunEvent> {
  return runWithStdin(body, rest, signal, (request, both) =>
    supervisor.run(caller, params.session, request, both),
  );
}

/** A faulty line of stdin stops the command and is what the client is told, not the cancelling that follows from it. */
async function* runWithStdin(
  body: RunRequestBody,
  rest: AsyncIterable<unknown>,
  signal: AbortSignal,
  run: (request: RunRequest, signal: AbortSignal) => AsyncIterable<RunEvent>,
): AsyncGenerator<RunEvent> {
  const { stdin, ...others } = body;
  if (stdin === undefined) {
    yield* run(others, signal);
  } else if (stdin === "open") {
    yield* run({ ...others, stdin }, signal);
  } else if (stdin !== "stream") {
    yield* run({ ...others, stdin: bytesOf(stdin) }, signal);
  } else {
    const stopped = new AbortController();
    const faults: unknown[] = [];
    async function* watched() {
      try {
        yield* stdinOf(rest);
      } catch (error) {
        faults.push(error);
        stopped.abort();
      }
    }
    const both = AbortSignal.any([signal, stopped.signal]);
    try {
      yield* run({ ...others, stdin: watched() }, both);
    } finally {
      // biome-ignore lint/correctness/noUnsafeFinally: the fault is the cause of whatever ended the run.
      if (faults.length > 0) throw faults[0];
    }
  }
}

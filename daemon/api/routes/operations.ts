/** Routes for running the service: journal, hazards, sandboxes, denial counters, health, version. */
import { z } from "zod";
import { RecintoError } from "../../errors.ts";
import type { EntryQuery } from "../../journal/types.ts";
import { EVENTS_PAGE_MAX } from "../../limits.ts";
import { bytesRoute, jsonRoute, linesRoute } from "../route.ts";
import { VersionSchema } from "../schema.ts";
import {
  DenialKeySchema,
  HazardIdSchema,
  HazardSchema,
  HealthSchema,
  JournalEntrySchema,
  JournalEventSchema,
  ProjectIdSchema,
  SandboxSchema,
  VerifyResultSchema,
  WorktreeHazardsSchema,
} from "../schema-admin.ts";
import { CountTextSchema } from "../schema-text.ts";

const EventsQuery = z.strictObject({
  after: CountTextSchema.exactOptional().meta({ description: "Entries with a higher seq." }),
  since: CountTextSchema.exactOptional().meta({ description: "Unix milliseconds." }),
  project: ProjectIdSchema.exactOptional(),
  event: JournalEventSchema.exactOptional(),
  limit: CountTextSchema.pipe(z.int().min(1).max(EVENTS_PAGE_MAX)).exactOptional(),
});

export const describeApi = jsonRoute({
  method: "GET",
  path: "/openapi.json",
  sockets: ["admin", "agent"],
  narrows: true,
  summary: "This description.",
  answer: z.record(z.string(), z.unknown()),
  handle: ({ openApi }) => openApi(),
});

export const resetDenials = jsonRoute({
  method: "POST",
  path: "/v1/denials/reset",
  sockets: ["admin"],
  summary: "Resets denial counters of a project, one of its worktrees, or one user there.",
  body: DenialKeySchema,
  answer: z.strictObject({ reset: z.int() }),
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, body }) => ({ reset: supervisor.resetDenials(caller, body) }),
});

export const readEvents = jsonRoute({
  method: "GET",
  path: "/v1/events",
  sockets: ["admin"],
  summary: `Entries of the journal, oldest first, at most ${EVENTS_PAGE_MAX} at once.`,
  query: EventsQuery,
  answer: z.array(JournalEntrySchema),
  handle: ({ supervisor }, { caller, query }) =>
    supervisor.events(caller, { limit: EVENTS_PAGE_MAX, ...entryQuery(query) }),
});

export const listHazards = jsonRoute({
  method: "GET",
  path: "/v1/hazards",
  sockets: ["admin"],
  summary: "What in the worktrees could hurt the host, and how well each is watched.",
  query: z.strictObject({ project: ProjectIdSchema.exactOptional() }),
  answer: z.array(WorktreeHazardsSchema),
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, query }) => supervisor.hazards.list(caller, query.project),
});

export const acceptHazard = jsonRoute({
  method: "POST",
  path: "/v1/hazards/accept",
  sockets: ["admin"],
  summary:
    "Lets agents read through one link that leaves the project, as long as it leads where it does now.",
  body: z.strictObject({ id: HazardIdSchema }),
  answer: HazardSchema,
  errors: ["not-found", "agent-cannot-approve"],
  handle: ({ supervisor }, { caller, body }) => supervisor.hazards.accept(caller, body.id),
});

export const forgetHazard = jsonRoute({
  method: "POST",
  path: "/v1/hazards/forget",
  sockets: ["admin"],
  summary: "Takes back that a link was accepted.",
  body: z.strictObject({ id: HazardIdSchema }),
  answer: z.strictObject({ forgotten: HazardIdSchema }),
  errors: ["not-found"],
  handle: ({ supervisor }, { caller, body }) => {
    supervisor.hazards.forget(caller, body.id);
    return { forgotten: body.id };
  },
});

export const health = jsonRoute({
  method: "GET",
  path: "/v1/health",
  sockets: ["admin"],
  narrows: true,
  summary: "Whether engine and journal work, and how much is going on.",
  answer: HealthSchema,
  handle: async ({ supervisor }, { caller: { socket } }) => {
    const health = await supervisor.health();
    // They name files of all projects.
    const all = socket.kind === "admin" && (socket.rights?.may("read", null) ?? true);
    return all ? health : { ...health, problems: [] };
  },
});

export const healthz = jsonRoute({
  method: "GET",
  path: "/healthz",
  sockets: ["admin"],
  narrows: true,
  summary:
    "For a monitor that reads the status alone: 200, or 503 while engine or journal do not work.",
  answer: z.strictObject({ ok: z.literal(true) }),
  errors: ["unhealthy"],
  handle: async ({ supervisor }) => {
    const { ok, engine, journal } = await supervisor.health();
    if (ok) return { ok: true } as const;
    const what = [engine.reachable ? [] : ["the engine"], journal.ok ? [] : ["the journal"]].flat();
    throw new RecintoError("unhealthy", `${what.join(" and ")} cannot be used`);
  },
});

export const metrics = bytesRoute({
  method: "GET",
  path: "/metrics",
  sockets: ["admin"],
  summary: "Figures for a monitor, in Prometheus' text form, counted since the daemon started.",
  gives: "text/plain; version=0.0.4; charset=utf-8",
  handle: async ({ supervisor }, { caller }) => {
    const text = Buffer.from(await supervisor.history.metrics(caller));
    return {
      type: "text/plain; version=0.0.4; charset=utf-8",
      length: text.length,
      headers: {},
      bytes: (async function* () {
        yield text;
      })(),
      close: async () => {},
    };
  },
});

export const verifyJournal = jsonRoute({
  method: "GET",
  path: "/v1/journal/verify",
  sockets: ["admin"],
  summary: "Recomputes the whole hash chain.",
  answer: VerifyResultSchema,
  handle: ({ supervisor }, { caller }) => supervisor.verifyJournal(caller),
});

export const listSandboxes = jsonRoute({
  method: "GET",
  path: "/v1/sandboxes",
  sockets: ["admin"],
  summary: "The containers of all worktrees.",
  answer: z.array(SandboxSchema),
  errors: ["engine-unreachable"],
  handle: ({ supervisor }, { caller }) => supervisor.sandboxes(caller),
});

export const version = jsonRoute({
  method: "GET",
  path: "/v1/version",
  sockets: ["admin", "agent"],
  narrows: true,
  summary: "Which daemon answers here.",
  answer: VersionSchema,
  handle: (backend) => ({ name: "recinto", version: backend.version, api: "v1" }) as const,
});

export const followEvents = linesRoute({
  method: "GET",
  path: "/v1/watch/events",
  sockets: ["admin"],
  summary: "Entries of the journal, then each new one.",
  query: EventsQuery,
  answer: JournalEntrySchema,
  handle: ({ supervisor }, { caller, query, signal }) =>
    supervisor.followEvents(caller, entryQuery(query), signal),
});

function entryQuery(query: z.output<typeof EventsQuery>): EntryQuery {
  const { after, since, event, ...others } = query;
  return {
    ...others,
    ...(after === undefined ? {} : { afterSeq: after }),
    ...(since === undefined ? {} : { sinceMs: since }),
    ...(event === undefined ? {} : { events: [event] }),
  };
}

/** Routes that look back over the journal: rules and profiles tried on it, and its figures. Admin socket only. */
import { z } from "zod";
import { jsonRoute, linesRoute } from "../route.ts";
import { ProjectIdSchema } from "../schema-admin.ts";
import {
  ReplayLineSchema,
  ReplayRequestSchema,
  RulePreviewSchema,
  StatsSchema,
} from "../schema-history.ts";
import { CountTextSchema } from "../schema-text.ts";

export const previewRules = jsonRoute({
  method: "GET",
  path: "/v1/approvals/{approval}/past",
  sockets: ["admin"],
  narrows: true,
  summary: "What each rule that *always* offers would have let pass of the newest past questions.",
  answer: z.array(RulePreviewSchema),
  errors: ["unknown-approval"],
  handle: ({ supervisor }, { caller, params }) =>
    supervisor.history.previewRules(caller, params.approval),
});

export const replay = linesRoute({
  method: "POST",
  path: "/v1/replay",
  sockets: ["admin"],
  right: "read",
  summary: "Judges the journal's actions again under another profile: each verdict that changes.",
  body: ReplayRequestSchema,
  answer: ReplayLineSchema,
  errors: ["bad-profile", "unknown-project"],
  handle: ({ supervisor }, { caller, body, signal }) =>
    supervisor.history.replay(caller, body, signal),
});

export const stats = jsonRoute({
  method: "GET",
  path: "/v1/stats",
  sockets: ["admin"],
  summary: "Actions, automatic passes by root, questions, how long they waited, refusals.",
  query: z.strictObject({
    project: ProjectIdSchema.exactOptional(),
    since: CountTextSchema.exactOptional().meta({ description: "Unix milliseconds." }),
  }),
  answer: StatsSchema,
  errors: ["unknown-project"],
  handle: ({ supervisor }, { caller, query }) => {
    const { since, ...others } = query;
    return supervisor.history.stats(caller, {
      ...others,
      ...(since === undefined ? {} : { sinceMs: since }),
    });
  },
});

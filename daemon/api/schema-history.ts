/** Looking back, as it travels: what a rule would have allowed, what another profile changes, figures of the journal. */
import { z } from "zod";
import { ADMIN_FILE_BYTES_MAX } from "../limits.ts";
import type * as history from "../supervisor/history-calls.ts";
import type { SameType } from "./same-type.ts";
import { ProjectIdSchema } from "./schema-admin.ts";
import { DecisionSchema, SavedRuleSchema } from "./schema-policy.ts";
import { TimeSchema, text } from "./schema-text.ts";

export const RulePreviewSchema = z
  .strictObject({
    rule: SavedRuleSchema,
    tried: z.int().meta({ description: "Past questions of the project that it was tried on." }),
    allowed: z.int().meta({ description: "How many of them it would have let pass." }),
    examples: z.array(z.string()).meta({ description: "Some of those commands, newest first." }),
  })
  .meta({ id: "RulePreview", description: "A rule that *always* offers, tried on the past." });

const ProfileNameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/);

export const ReplayRequestSchema = z
  .strictObject({
    profile: z.union([
      z.strictObject({ name: ProfileNameSchema }),
      z.strictObject({ name: ProfileNameSchema, text: text(ADMIN_FILE_BYTES_MAX) }),
    ]),
    project: ProjectIdSchema.exactOptional(),
    sinceMs: TimeSchema.exactOptional(),
  })
  .meta({ id: "ReplayRequest" });

const verdict = { verdict: DecisionSchema, rules: z.array(z.string()) };

export const ReplayLineSchema = z
  .union([
    z.strictObject({
      type: z.literal("change"),
      seq: z.int(),
      at: TimeSchema,
      project: z.string(),
      command: z.string(),
      cwd: z.string(),
      before: z.strictObject(verdict),
      after: z.strictObject({ ...verdict, reason: z.string() }),
    }),
    z.strictObject({
      type: z.literal("summary"),
      profile: z.string(),
      actions: z.int(),
      same: z.int(),
      changed: z.record(z.string(), z.int()).meta({ description: "`ask → allow` and how many." }),
      left: z.strictObject({ denials: z.int(), gone: z.int(), incomplete: z.int() }).meta({
        description:
          "Not judged again: decided by the denial tracker, of a project that is gone, recorded without what it takes.",
      }),
    }),
  ])
  .meta({ id: "ReplayLine", description: "Each verdict that changes, then one summary." });

const Count = z.int();
const WaitsSchema = z.strictObject({
  count: Count,
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
});

export const StatsSchema = z
  .strictObject({
    fromMs: TimeSchema.nullable(),
    toMs: TimeSchema.nullable(),
    actions: Count,
    verdicts: z.strictObject({ allow: Count, ask: Count, deny: Count }),
    passes: z.strictObject({ total: Count, byRoot: z.record(z.string(), Count) }),
    questions: z.strictObject({
      asked: Count,
      per100Actions: z.number().nullable(),
      approvedOnce: Count,
      approvedAlways: Count,
      denied: Count,
      timedOut: Count,
      cancelled: Count,
      answeredAfter: WaitsSchema,
      overAfter: WaitsSchema,
    }),
    byRule: z.array(z.strictObject({ rule: z.string(), asks: Count, denies: Count })),
    refusals: z.strictObject({
      policy: Count,
      person: Count,
      timeout: Count,
      "facts-changed": Count,
      "not-waiting": Count,
      failure: Count,
    }),
  })
  .meta({ id: "Stats" });

export type RulePreview = z.infer<typeof RulePreviewSchema>;
export type ReplayRequest = z.infer<typeof ReplayRequestSchema>;
export type ReplayLine = z.infer<typeof ReplayLineSchema>;
export type Stats = z.infer<typeof StatsSchema>;

/** The shapes that must stay equal to the supervisor's own; a difference does not compile. */
export const MIRRORS_HISTORY: [
  SameType<RulePreview, history.RulePreview>,
  SameType<ReplayRequest, history.ReplayRequest>,
  SameType<ReplayLine, history.ReplayLine>,
  SameType<Stats, history.Stats>,
] = [true, true, true, true];

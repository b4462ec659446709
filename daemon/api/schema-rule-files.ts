/** Rule files as they travel: every source's, the ones that agents can write, and a session's. */
import { z } from "zod";
import { ADMIN_FILE_BYTES_MAX } from "../limits.ts";
import type * as calls from "../supervisor/rule-file-calls.ts";
import type { SameType } from "./same-type.ts";
import { DecisionSchema } from "./schema-policy.ts";
import { PathSchema, TimeSchema, text, UidSchema } from "./schema-text.ts";

export const RuleFileSchema = z
  .strictObject({
    file: z.string().meta({ description: "Absolute; the worktree for rules of a session." }),
    source: z.enum(["session", "project", "user"]),
    owner: z.string().meta({ description: "The project, the user, or the uid a session is for." }),
    state: z.enum(["in-force", "kept", "broken", "trusted", "not-trusted"]).meta({
      description:
        "`kept`: an edit cannot be used, what it said before holds. `not-trusted`: it counts for nothing until a person trusts this content.",
    }),
    merge: z.boolean().meta({ description: "False: lower sources do not hold." }),
    rules: z.array(
      z.strictObject({
        id: z.string(),
        action: DecisionSchema,
        rule: z.string(),
        justification: z.string().exactOptional(),
      }),
    ),
    sha256: z.string().exactOptional(),
    problem: z.string().exactOptional(),
    expiresAt: TimeSchema.nullable().exactOptional(),
  })
  .meta({ id: "RuleFile" });

export const TrustRequestSchema = z
  .strictObject({ file: PathSchema, sha256: z.string().regex(/^[0-9a-f]{64}$/) })
  .meta({ id: "TrustRequest", description: "The content that a person has read." });

export const DistrustRequestSchema = z
  .strictObject({ file: PathSchema })
  .meta({ id: "DistrustRequest" });

/** Ten years: an end that far off is a mistake in units. */
const RULES_LIFE_MAX_MS = 10 * 365 * 24 * 60 * 60_000;

export const SessionRulesRequestSchema = z
  .strictObject({
    worktree: PathSchema,
    uid: UidSchema.exactOptional(),
    text: text(ADMIN_FILE_BYTES_MAX).meta({
      description: "A rule file in either format; one without rules takes back what was given.",
    }),
    expiresInMs: z.int().min(1).max(RULES_LIFE_MAX_MS).exactOptional(),
  })
  .meta({ id: "SessionRulesRequest" });

export type RuleFile = z.infer<typeof RuleFileSchema>;
export type SessionRulesRequest = z.infer<typeof SessionRulesRequestSchema>;

/** The shapes that must stay equal to the supervisor's own; a difference does not compile. */
export const MIRRORS_RULE_FILES: [
  SameType<RuleFile, calls.RuleFileInfo>,
  SameType<SessionRulesRequest, Omit<calls.SessionRulesRequest, "project">>,
] = [true, true];

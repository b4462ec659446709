/** Sessions and approvals as they travel: what agents ask for and what people answer. */
import { z } from "zod";
import { CONTRACT_LIST_MAX, GRANT_TTL_MAX_MS } from "../limits-authority.ts";
import type * as interfaces from "../supervisor/supervisor-interface.ts";
import type * as supervisor from "../supervisor/types.ts";
import type { SameType } from "./same-type.ts";
import { GrantableEffectSchema, resource } from "./schema-grants.ts";
import { VerdictSchema } from "./schema-policy.ts";
import { AuthoritySchema, ErrorSchema } from "./schema-run.ts";
import { PathSchema, TimeSchema, text, UidSchema } from "./schema-text.ts";

/** The body of every answer that is not a success. */
export const ErrorAnswerSchema = z.strictObject({ error: ErrorSchema }).meta({ id: "ErrorAnswer" });

export const VersionSchema = z
  .strictObject({ name: z.literal("recinto"), version: z.string(), api: z.literal("v1") })
  .meta({ id: "Version" });

export const OpenSessionRequestSchema = z
  .strictObject({
    worktree: PathSchema.meta({
      description:
        "Absolute, relative to the project's root, or its last name; an absolute path may be of a folder inside it.",
    }),
  })
  .meta({ id: "OpenSessionRequest" });

export const SessionSchema = z
  .strictObject({
    id: z.string(),
    project: z.string(),
    worktree: z.string(),
    profile: z.string(),
    uid: UidSchema,
    openedAt: TimeSchema,
    lastUsedAt: TimeSchema,
    sharesApproverUid: z.boolean().meta({
      description: "The agent could approve its own asks (agentsShareApproverUid).",
    }),
    denials: z.strictObject({
      consecutive: z.record(z.string(), z.int()),
      total: z.int(),
    }),
    blocked: z.array(z.string()).meta({ description: "Classes of action blocked after refusals." }),
    escalated: z.boolean().meta({ description: "Everything asks after too many refusals." }),
  })
  .meta({ id: "Session" });

export const OpenedSessionSchema = z
  .strictObject({ session: SessionSchema, existing: z.boolean() })
  .meta({ id: "OpenedSession" });

export const ApprovalStateSchema = z
  .enum(["pending", "approved", "denied", "timed-out", "cancelled"])
  .meta({ id: "ApprovalState" });

const BoundFactsSchema = z
  .strictObject({
    branch: z.string().nullable().optional(),
    realpath: z.record(z.string(), z.string().nullable()),
    content: z
      .record(z.string(), z.string().nullable())
      .meta({ description: "Path → SHA-256 of what would run; null: not there." }),
  })
  .meta({ id: "BoundFacts", description: "The approval holds only while these hold." });

export const ApprovalSchema = z
  .strictObject({
    id: z.string(),
    action: z.string(),
    session: z.string(),
    project: z.string(),
    worktree: z.string(),
    uid: UidSchema,
    command: z.string(),
    cwd: z.string(),
    verdict: VerdictSchema,
    facts: BoundFactsSchema,
    host: z
      .string()
      .exactOptional()
      .meta({ description: "Set: a running command reaches for this HOST:PORT and waits." }),
    grant: z
      .strictObject({
        handle: z.string(),
        rule: z.string(),
        effect: GrantableEffectSchema,
        ...resource,
        ttlMs: z.number(),
        uses: z.int().nullable(),
        endsWith: z.array(z.string()),
      })
      .exactOptional()
      .meta({ description: "Set: the agent requests this rule of its contract." }),
    offers: z
      .array(z.strictObject({ effect: GrantableEffectSchema, ...resource }))
      .exactOptional()
      .meta({ description: "What an answer for longer than this command would give." }),
    cannotTakeEffect: z
      .array(z.string())
      .meta({ description: "Paths that approving cannot reach: they are not in the sandbox." }),
    createdAt: TimeSchema,
    expiresAt: TimeSchema,
    state: ApprovalStateSchema,
    answeredBy: UidSchema.exactOptional(),
    answeredAt: TimeSchema.exactOptional(),
    reason: z.string().exactOptional(),
    stdin: z
      .string()
      .exactOptional()
      .meta({ description: "Beginning of the standard input, or what it is when it is not text." }),
    changed: z
      .array(z.string())
      .exactOptional()
      .meta({ description: "It asks again: what is no longer as it was when approved." }),
    authority: AuthoritySchema.exactOptional(),
    agentCouldApprove: z
      .boolean()
      .exactOptional()
      .meta({ description: "The agent's user could answer this itself." }),
  })
  .meta({ id: "Approval" });

const REASON_CHARS_MAX = 2_000;
/** Ten years: an end that far off is a mistake in units. */
const RULE_LIFE_MAX_MS = 10 * 365 * 24 * 60 * 60_000;

export const AnswerSchema = z
  .union([
    z.strictObject({ answer: z.literal("approve"), mode: z.literal("once") }),
    z
      .strictObject({ answer: z.literal("approve"), mode: z.literal("session") })
      .meta({ description: "For a question about a host: as long as the session." }),
    z.strictObject({
      answer: z.literal("approve"),
      mode: z.literal("always"),
      width: z.int().min(0).max(64).meta({ description: "Index into the verdict's `always`." }),
      expiresInMs: z.int().min(1).max(RULE_LIFE_MAX_MS).exactOptional(),
    }),
    z
      .strictObject({
        answer: z.literal("approve"),
        mode: z.literal("grant"),
        forMs: z.int().min(1).max(GRANT_TTL_MAX_MS).exactOptional(),
        thisPhase: z.boolean().exactOptional(),
        until: z
          .union([
            z.strictObject({ closure: z.string().min(1).max(64) }),
            z.strictObject({ command: z.array(text(4_096)).min(1).max(CONTRACT_LIST_MAX) }),
          ])
          .exactOptional()
          .meta({ description: "A closure of the contract, or a command that ends it." }),
      })
      .meta({ description: "A grant with an end; 30 minutes when nothing is said." }),
    z.strictObject({
      answer: z.literal("deny"),
      reason: text(REASON_CHARS_MAX).exactOptional(),
    }),
  ])
  .meta({ id: "Answer" });

export type Session = z.infer<typeof SessionSchema>;
export type OpenedSession = z.infer<typeof OpenedSessionSchema>;
export type Approval = z.infer<typeof ApprovalSchema>;
export type ApprovalState = z.infer<typeof ApprovalStateSchema>;
export type Answer = z.infer<typeof AnswerSchema>;
export type Version = z.infer<typeof VersionSchema>;

/** The shapes that must stay equal to the supervisor's own; a difference does not compile. */
export const MIRRORS_SUPERVISOR: [
  SameType<Session, supervisor.SessionInfo>,
  SameType<OpenedSession, interfaces.OpenedSession>,
  SameType<Omit<Approval, "facts">, Omit<supervisor.PendingApproval, "facts">>,
  // JSON has no undefined: an unknown branch is left out.
  SameType<Required<Approval["facts"]>, supervisor.BoundFacts>,
  SameType<Answer, supervisor.Answer>,
] = [true, true, true, true, true];

/** Contracts, grants and interfaces as they travel (docs/authority.md). */
import { z } from "zod";
import type * as shown from "../authority/interface.ts";
import {
  CONTRACT_CHARS_MAX,
  CONTRACT_LIST_MAX,
  GRANT_REASON_CHARS_MAX,
  GRANT_TTL_MAX_MS,
  GRANT_USES_MAX,
} from "../limits-authority.ts";
import type * as calls from "../supervisor/authority/authority-calls.ts";
import type { SameType } from "./same-type.ts";
import { ProjectIdSchema } from "./schema-admin.ts";
import { GrantableEffectSchema, resource } from "./schema-grants.ts";
import { PathSchema, TimeSchema, text, UidSchema } from "./schema-text.ts";

export const ShownGrantSchema = z
  .strictObject({
    handle: z.string(),
    rule: z.string().nullable().meta({ description: "null: a person gave it." }),
    effect: GrantableEffectSchema,
    ...resource,
    reason: z.string(),
    expiresAt: TimeSchema,
    usesLeft: z.int().nullable().meta({ description: "null: not counted." }),
    endsWith: z.array(z.string()).meta({ description: "What ends it before that." }),
    renewal: z.string().meta({ description: "How it comes back after it ended." }),
  })
  .meta({ id: "ShownGrant" });

export const RequestableRuleSchema = z
  .strictObject({
    rule: z.string(),
    effect: GrantableEffectSchema,
    ...resource,
    description: z.string(),
    ttlMs: z.number(),
    uses: z.int().nullable(),
    approval: z.enum(["none", "person"]),
    endsWith: z.array(z.string()),
  })
  .meta({ id: "RequestableRule" });

const StandingEntrySchema = z.strictObject({
  effect: GrantableEffectSchema,
  ...resource,
  classes: z.array(z.enum(["read", "build", "run", "write", "scratch", "git-write", "loopback"])),
});

export const InterfaceSchema = z
  .strictObject({
    session: z.string(),
    task: z.string().nullable().meta({ description: "null: there is no contract." }),
    epoch: z.int(),
    phase: z.string().nullable(),
    envelope: z.array(StandingEntrySchema).meta({ description: "What needs no handle." }),
    grants: z.array(ShownGrantSchema),
    requestable: z.array(RequestableRuleSchema),
    pending: z.array(z.string()).meta({ description: "Handles that wait for a person." }),
    denied: z.strictObject(resource).meta({ description: "What nothing lifts." }),
  })
  .meta({ id: "Interface", description: "Exactly the authority that a session has now." });

const change = { from: z.string().nullable(), to: z.string().nullable() };
export const InterfaceChangeSchema = z
  .strictObject({
    interface: InterfaceSchema,
    diff: z
      .strictObject({
        epoch: z.strictObject({ from: z.int(), to: z.int() }),
        phase: z.strictObject(change).exactOptional(),
        added: z.array(ShownGrantSchema),
        removed: z.array(z.string()).meta({ description: "Handles that are gone." }),
        changed: z.array(ShownGrantSchema),
        requestable: z.strictObject({
          added: z.array(RequestableRuleSchema),
          removed: z.array(z.string()),
          changed: z.array(RequestableRuleSchema),
        }),
      })
      .nullable()
      .meta({ description: "null: the first one." }),
  })
  .meta({ id: "InterfaceChange" });

const word = text(4_096);
const some = <T extends z.ZodType>(item: T) => z.array(item).max(CONTRACT_LIST_MAX);

export const GrantRequestSchema = z
  .strictObject({
    rule: z.string().max(64),
    reason: text(GRANT_REASON_CHARS_MAX).min(1),
    narrow: z
      .strictObject({
        paths: some(word).exactOptional(),
        hosts: some(word).exactOptional(),
        commands: some(some(word)).exactOptional(),
        ttlMs: z.int().min(1).max(GRANT_TTL_MAX_MS).exactOptional(),
        uses: z.int().min(1).max(GRANT_USES_MAX).exactOptional(),
      })
      .exactOptional()
      .meta({ description: "Less than the rule: each part must lie within it." }),
    waitMs: z.int().min(0).exactOptional().meta({
      description:
        "How long to wait for a person; 0: `pending` at once. The profile's when absent.",
    }),
  })
  .meta({ id: "GrantRequest" });

export const GrantAnswerSchema = z
  .strictObject({
    outcome: z.enum(["granted", "pending"]),
    handle: z.string(),
    epoch: z.int(),
    grant: ShownGrantSchema.nullable(),
    approval: z.string().nullable().meta({ description: "The question a person is asked." }),
  })
  .meta({ id: "GrantAnswer" });

export const GrantSchema = z
  .strictObject({
    project: z.string(),
    worktree: z.string(),
    handle: z.string(),
    state: z.enum(["pending", "live", "spent", "closing", "closed"]),
    rule: z.string().nullable(),
    effect: GrantableEffectSchema.nullable(),
    ...resource,
    reason: z.string(),
    by: z.string().nullable().meta({ description: "Who let it be." }),
    grantedAt: TimeSchema.nullable(),
    expiresAt: TimeSchema.nullable(),
    usesLeft: z.int().nullable(),
    running: z.array(z.string()).meta({ description: "Commands that run on it now." }),
    endsWith: z.array(z.string()),
    cause: z.string().nullable().meta({ description: "What ended it." }),
    renewal: z.string(),
  })
  .meta({ id: "Grant" });

export const ClosureCheckSchema = z
  .strictObject({
    closure: z.string(),
    fired: z.boolean(),
    exitCode: z.int().nullable(),
    evidence: z.string(),
    closed: z.array(z.string()).meta({ description: "Handles that it ended." }),
  })
  .meta({ id: "ClosureCheck", description: "What the daemon saw when it looked at a closure." });

const RemarkSchema = z.strictObject({
  line: z.int(),
  column: z.int(),
  key: z.string(),
  message: z.string(),
});

const at = { project: ProjectIdSchema, worktree: PathSchema };
export const WorktreeNameSchema = z.strictObject(at).meta({ id: "WorktreeName" });
export const SetContractSchema = z
  .strictObject({
    ...at,
    text: text(CONTRACT_CHARS_MAX).meta({ description: "The contract, YAML." }),
  })
  .meta({ id: "SetContract" });
export const SetPhaseSchema = z
  .strictObject({ ...at, phase: z.string().max(64) })
  .meta({ id: "SetPhase" });
export const RevokeGrantSchema = z
  .strictObject({ reason: text(GRANT_REASON_CHARS_MAX).exactOptional() })
  .meta({ id: "RevokeGrant" });

export const ContractSchema = z
  .strictObject({
    project: z.string(),
    worktree: z.string(),
    task: z.string(),
    phases: z.array(z.string()),
    phase: z.string().nullable(),
    epoch: z.int(),
    text: z.string(),
    setAt: TimeSchema,
    setBy: UidSchema,
    warnings: z.array(RemarkSchema).meta({ description: "What the linter says." }),
  })
  .meta({ id: "Contract" });

export type Interface = z.infer<typeof InterfaceSchema>;
export type InterfaceChange = z.infer<typeof InterfaceChangeSchema>;
export type ShownGrant = z.infer<typeof ShownGrantSchema>;
export type GrantRequest = z.infer<typeof GrantRequestSchema>;
export type GrantAnswer = z.infer<typeof GrantAnswerSchema>;
export type Grant = z.infer<typeof GrantSchema>;
export type ClosureCheck = z.infer<typeof ClosureCheckSchema>;
export type Contract = z.infer<typeof ContractSchema>;

/** The shapes that must stay equal to the supervisor's own; a difference does not compile. */
export const MIRRORS_AUTHORITY: [
  SameType<Interface, shown.AuthorityInterface>,
  SameType<InterfaceChange, calls.InterfaceChange>,
  SameType<GrantRequest, calls.GrantRequest>,
  SameType<GrantAnswer, calls.GrantAnswer>,
  SameType<Grant, calls.GrantInfo>,
  SameType<ClosureCheck, calls.ClosureCheck>,
  SameType<Contract, calls.ContractInfo>,
] = [true, true, true, true, true, true, true];

/** What admins see and change, as it travels: projects, profiles, rules, journal, hazards, sandboxes, health. */
import { z } from "zod";
import type * as journal from "../journal/types.ts";
import { ADMIN_FILE_BYTES_MAX } from "../limits.ts";
import type * as settings from "../settings/types.ts";
import type * as git from "../supervisor/git-calls.ts";
import type * as supervisor from "../supervisor/supervisor-interface.ts";
import type { SameType } from "./same-type.ts";
import { SavedRuleSchema } from "./schema-policy.ts";
import { PathSchema, TimeSchema, text, UidSchema } from "./schema-text.ts";

/** The same pattern as in a project file. */
export const ProjectIdSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/);

export const ProjectSchema = z
  .strictObject({
    id: ProjectIdSchema,
    root: PathSchema,
    profile: z.string().min(1).max(63),
    worktrees: text(1_024).min(1).meta({
      description: "Glob below root that worktree folders match; `.` is the root itself.",
    }),
    agentGroup: z
      .union([z.string().min(1).max(64), UidSchema])
      .nullable()
      .meta({
        description: "Group of the agent socket; null: the worktree owner's group.",
      }),
  })
  .meta({ id: "Project" });

export const StoredRuleSchema = SavedRuleSchema.extend({
  id: z.string(),
  savedAt: TimeSchema,
  savedBy: UidSchema,
  expiresAt: TimeSchema.nullable(),
  savedFor: z.string().meta({ description: "The command that was being approved, for people." }),
}).meta({ id: "StoredRule" });

const EngineHealth = z.union([
  z.strictObject({
    reachable: z.literal(true),
    name: z.string(),
    version: z.string(),
    apiVersion: z.string(),
  }),
  z.strictObject({ reachable: z.literal(false), reason: z.string() }),
]);

export const HealthSchema = z
  .strictObject({
    ok: z.boolean(),
    engine: EngineHealth,
    journal: z.strictObject({ ok: z.boolean(), entries: z.int() }),
    projects: z.int(),
    sessions: z.int(),
    running: z.int(),
    queued: z.int().meta({ description: "Commands that wait their turn." }),
    pending: z.int(),
    agentsShareApproverUid: z.boolean(),
    startedAt: TimeSchema,
    configFile: z.string().nullable().meta({ description: "null: none, the defaults hold." }),
    problems: z.array(z.string()).meta({
      description: "Files of an admin's that cannot be used right now, each with what mends it.",
    }),
  })
  .meta({ id: "Health" });

export const JournalEventSchema = z
  .enum([
    "daemon.started",
    "daemon.stopped",
    "session.opened",
    "session.closed",
    "proposed_action.created",
    "approval.requested",
    "approval.answered",
    "approval.timed_out",
    "approval.cancelled",
    "approval.used",
    "approval.lapsed",
    "rule.saved",
    "rule.revoked",
    "rules.reloaded",
    "session.rules",
    "policy.trusted",
    "policy.distrusted",
    "policy.not_trusted",
    "exec.started",
    "exec.exited",
    "exec.lost",
    "job.left",
    "job.ended",
    "job.signalled",
    "file.done",
    "file.failed",
    "action.refused",
    "egress.opened",
    "egress.closed",
    "egress.refused",
    "contract.set",
    "phase.changed",
    "epoch.bumped",
    "grant.requested",
    "grant.granted",
    "grant.refused",
    "grant.used",
    "grant.stale",
    "grant.closing",
    "grant.closed",
    "denials.changed",
    "denials.reset",
    "sandbox.created",
    "sandbox.started",
    "sandbox.stopped",
    "sandbox.removed",
    "hazard.found",
    "hazard.gone",
    "hazard.accepted",
    "hazard.forgotten",
    "watcher.degraded",
    "git.import.intended",
    "git.imported",
    "git.left",
    "git.undone",
    "protected.restored",
    "protected.accepted",
    "project.added",
    "project.removed",
    "profiles.reloaded",
    "settings.refused",
    "journal.pruned",
    "journal.repaired",
  ])
  .meta({ id: "JournalEvent" });

export const JournalEntrySchema = z
  .strictObject({
    seq: z.int(),
    at: TimeSchema,
    event: JournalEventSchema,
    project: z.string().nullable(),
    session: z.string().nullable(),
    uid: UidSchema.nullable().meta({ description: "Who caused it; null: the daemon itself." }),
    data: z.record(z.string(), z.unknown()),
    hash: z.string(),
  })
  .meta({ id: "JournalEntry" });

export const VerifyResultSchema = z
  .strictObject({
    ok: z.boolean(),
    entries: z.int(),
    pruned: z.int().meta({ description: "Up to this entry nothing is kept; 0: all is." }),
    head: z.string().meta({ description: "Hash of the last entry, to be kept elsewhere." }),
    firstBroken: z.strictObject({ seq: z.int(), reason: z.string() }).exactOptional(),
  })
  .meta({ id: "VerifyResult" });

export const HazardSchema = z
  .strictObject({
    id: z.string(),
    kind: z.enum(["escaping-link", "nested-git", "fifo", "socket", "device", "setuid", "odd-name"]),
    path: z.string(),
    target: z.string().exactOptional(),
    resolved: z.string().nullable().exactOptional(),
    foundAt: TimeSchema,
    reason: z.string(),
    acceptedAt: TimeSchema.exactOptional().meta({
      description: "When a person accepted this link, with this target, for reading.",
    }),
  })
  .meta({ id: "Hazard" });

export const HazardIdSchema = z.string().regex(/^[a-z-]{1,32}-[0-9a-f]{16}$/);

export const WorktreeHazardsSchema = z
  .strictObject({
    project: z.string(),
    worktree: z.string(),
    watcher: z.strictObject({
      mode: z.enum(["watch", "scan", "chokidar"]),
      ready: z.boolean(),
      folders: z.int(),
      watches: z.int(),
      degraded: z.string().nullable(),
    }),
    hazards: z.array(HazardSchema),
  })
  .meta({ id: "WorktreeHazards" });

const branch = z.string().nullable();
export const GitStatusSchema = z
  .strictObject({
    project: z.string(),
    worktree: z.string(),
    repository: z.string().meta({ description: "The host's common dir." }),
    host: branch.meta({ description: "Branch of the worktree on the host." }),
    sandbox: branch.meta({ description: "Branch that the sandbox says it is on." }),
    commit: z.string().nullable(),
    own: z.array(z.string()).meta({ description: "The sandbox's own other branches." }),
    left: z.string().nullable().meta({ description: "Why commits stayed in the sandbox." }),
  })
  .meta({ id: "GitStatus" });

export const SandboxSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    state: z.enum(["created", "running", "paused", "stopped"]),
    labels: z.record(z.string(), z.string()),
    image: z.string(),
    project: z.string(),
    worktree: z.string(),
    executor: z
      .strictObject({
        kind: z.enum(["runner", "once", "plain"]),
        reason: z.string(),
        landlock: z.int().meta({ description: "ABI of Landlock that holds commands; 0: none." }),
      })
      .exactOptional()
      .meta({ description: "How its commands run, or would." }),
  })
  .meta({ id: "Sandbox" });

export const DenialKeySchema = z
  .strictObject({
    project: ProjectIdSchema,
    worktree: PathSchema.exactOptional(),
    uid: UidSchema.exactOptional(),
  })
  .meta({ id: "DenialKey" });

export const ProfileSummarySchema = z
  .strictObject({ name: z.string(), description: z.string(), image: z.string() })
  .meta({ id: "ProfileSummary" });

export const ProfileTextSchema = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
    text: text(ADMIN_FILE_BYTES_MAX).meta({ description: "YAML, as in a profile file." }),
  })
  .meta({ id: "ProfileText" });

/** A profile after `extends`; its policy part is documented with the profile file, not here. */
export const ProfileSchema = z.looseObject(ProfileSummarySchema.shape).meta({ id: "Profile" });

export type Project = z.infer<typeof ProjectSchema>;
export type StoredRule = z.infer<typeof StoredRuleSchema>;
export type Health = z.infer<typeof HealthSchema>;
export type JournalEntry = z.infer<typeof JournalEntrySchema>;
export type VerifyResult = z.infer<typeof VerifyResultSchema>;
export type WorktreeHazards = z.infer<typeof WorktreeHazardsSchema>;
export type Hazard = z.infer<typeof HazardSchema>;
export type GitStatus = z.infer<typeof GitStatusSchema>;
export type Sandbox = z.infer<typeof SandboxSchema>;
export type DenialKey = z.infer<typeof DenialKeySchema>;
export type ProfileSummary = z.infer<typeof ProfileSummarySchema>;
export type Profile = z.infer<typeof ProfileSchema>;

/** The shapes that must stay equal to the daemon's own; a difference does not compile. */
export const MIRRORS_ADMIN: [
  SameType<Project, settings.Project>,
  SameType<StoredRule, supervisor.StoredRule>,
  SameType<Health, supervisor.Health>,
  SameType<JournalEntry, journal.JournalEntry>,
  SameType<VerifyResult, journal.VerifyResult>,
  SameType<WorktreeHazards["hazards"][number], supervisor.SeenHazard>,
  SameType<WorktreeHazards, supervisor.WorktreeHazards>,
  SameType<GitStatus, git.GitStatus>,
  SameType<Sandbox, supervisor.SandboxInfo>,
  SameType<DenialKey, supervisor.DenialKey>,
] = [true, true, true, true, true, true, true, true, true, true];

/** What an admin settles: the daemon's config, profiles and projects, as values after checking. */
import type { PolicySettings, Rule } from "../policy/types.ts";
import type { NetworkSettings } from "./network-schema.ts";

export type RoleName = "admin" | "approver" | "orchestrator" | "auditor";

/** Who has a role, by name. */
export interface RoleAssignment {
  readonly role: RoleName;
  readonly users: readonly string[];
  readonly groups: readonly string[];
  /** Absent: all of them. */
  readonly projects?: readonly string[] | undefined;
}

export interface DaemonConfig {
  /** Sockets; /run/recinto. */
  readonly runDir: string;
  /** Journal and saved rules; /var/lib/recinto. */
  readonly stateDir: string;
  /** The admin's profiles; shipped ones are found besides. */
  readonly profilesDir: string;
  readonly projectsDir: string;
  /** Rule files that are not of one project: `users/NAME.yaml`. */
  readonly rulesDir: string;
  /** Group that owns admin.sock; null: root alone. */
  readonly adminGroup: string | null;
  /** Unix socket of the engine. */
  readonly engineSocket: string;
  /** None: whoever reaches admin.sock may do everything. */
  readonly roles: readonly RoleAssignment[];
  readonly agentsShareApproverUid: boolean;
  readonly watcher: "watch" | "chokidar";
  readonly logLevel: "debug" | "info" | "warn" | "error";
  /** Set: instead of every profile's `policy.denials` (B2). */
  readonly maxConsecutiveDenials?: number;
  readonly maxTotalDenials?: number;
  /** Absent: every entry of the journal is kept. */
  readonly journalKeepDays?: number;
}

/** A profile after `extends`: nothing optional is left. Bytes and milliseconds. */
export interface Profile {
  readonly name: string;
  readonly description: string;
  /** Image name (`recinto/base`), a local id or a digest; `latest` is refused. */
  readonly image: string;
  readonly git: "none" | "read" | "commit";
  /** What is there of the project. */
  readonly mount: "worktree" | "project";
  readonly cache: "tmpfs" | "volume";
  /** Path below `~` by name; shared by the sandboxes of one project. */
  readonly caches: Readonly<Record<string, string>>;
  readonly runtime: "runc" | "runsc";
  /** How commands run; absent: auto. */
  readonly executor?: "auto" | "runner" | "once" | "plain";
  /** Whether an action must name the grant that it acts on; absent: pick. */
  readonly grants?: "pick" | "present";
  readonly limits: {
    readonly memoryBytes: number;
    readonly cpus: number;
    readonly pids: number;
    readonly openFiles: number;
    readonly shmBytes: number;
    readonly tmpBytes: number;
    readonly cacheBytes: number;
    readonly fileBytes: number | null;
    /** What one command may write into the worktree; absent or null: as much as the disk holds. */
    readonly growthBytes?: number | null;
    readonly outputBytes: number;
    readonly wallClockMs: number;
    /** Longest life of a detached job, and of what a command leaves running; 0: nothing is left. Absent: the default. */
    readonly backgroundMs?: number;
    readonly idleStopMs: number;
    /** Commands that run at once, and that wait. */
    readonly commandsPerSession: number;
    readonly commandsPerProject: number;
    readonly commandsQueued: number;
  };
  readonly readable: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly approvalWaitMs: number;
  readonly onEscape: "alert" | "freeze";
  /** Absent or null: nothing is reached. */
  readonly network?: NetworkSettings;
  /** All of PolicySettings that does not depend on the project. */
  readonly policy: Pick<
    PolicySettings,
    "standing" | "protectedBranches" | "protectedFiles" | "verbs" | "unknown" | "denials"
  > & { readonly rules: readonly Rule[] };
}

export interface Project {
  /** [a-z0-9][a-z0-9-]{0,62} */
  readonly id: string;
  /** Absolute, real, no link on the way. */
  readonly root: string;
  readonly profile: string;
  /** Glob below root that worktree folders match, e.g. `.worktrees/*`; `.` is the root itself. */
  readonly worktrees: string;
  /** Group that owns the project's agent socket, by name or number; null: the worktree owner's group. */
  readonly agentGroup: string | number | null;
  /** A rule file besides `<id>.rules.yaml` in the projects folder; absolute. */
  readonly rules?: string;
}

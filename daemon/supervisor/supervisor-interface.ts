/** Every use case of the daemon in one interface: what the API, the MCP server and main.ts may call. */
import type { EntryQuery, JournalEntry, VerifyResult } from "../journal/types.ts";
import type { SavedRule, Verdict } from "../policy/types.ts";
import type { EngineInfo, SandboxStatus } from "../sandbox/engine.ts";
import type { ExecutorChoice } from "../sandbox/executor.ts";
import type { Project } from "../settings/types.ts";
import type { Hazard, WatcherStatus } from "../worktree/types.ts";
import type { AuthorityCalls } from "./authority/authority-calls.ts";
import type { FileCalls } from "./files/file-calls.ts";
import type { GitCalls } from "./git-calls.ts";
import type { HistoryCalls } from "./history-calls.ts";
import type { JobCalls } from "./jobs/job-calls.ts";
import type { RuleFileCalls } from "./rule-file-calls.ts";
import type {
  Answer,
  Caller,
  PendingApproval,
  RunEvent,
  RunRequest,
  SessionInfo,
} from "./types.ts";

export interface OpenSessionRequest {
  /** Absolute path, or relative to the project's root. */
  readonly worktree: string;
  /** Only meaningful on the admin socket; an agent's project is its socket's. */
  readonly project?: string;
}

export interface OpenedSession {
  readonly session: SessionInfo;
  /** The same user had a live session on this worktree and gets that one: counters and all. */
  readonly existing: boolean;
}

export interface CheckRequest {
  readonly command: string;
  /** Absolute, or relative to the worktree; the worktree when absent. */
  readonly cwd?: string;
  /** As in RunRequest. */
  readonly handle?: string;
  readonly epoch?: number;
}

/** A rule that an approval with *always* stored, in the project's admin-held rule file. */
export interface StoredRule extends SavedRule {
  readonly id: string;
  /** Unix milliseconds. */
  readonly savedAt: number;
  readonly savedBy: number;
  /** null: until it is revoked. */
  readonly expiresAt: number | null;
  /** The command that was being approved, for people; never matched against. */
  readonly savedFor: string;
}

export interface SeenHazard extends Hazard {
  /** When a person accepted this link, with this target, for reading. */
  readonly acceptedAt?: number;
}

export interface WorktreeHazards {
  readonly project: string;
  readonly worktree: string;
  readonly watcher: WatcherStatus;
  readonly hazards: readonly SeenHazard[];
}

export interface HazardCalls {
  /** Admin: all or one project's. Agent: its project's, of its own worktrees. */
  list(caller: Caller, project?: string): readonly WorktreeHazards[];
  /**
   * A person lets agents read through one escaping link, as long as it leads where it does now. Never a uid that agents
   * use (`agent-cannot-approve`). Errors: not-found, bad-request for what is no link.
   */
  accept(caller: Caller, id: string): SeenHazard;
  /** Admin. Takes that back. Errors: not-found. */
  forget(caller: Caller, id: string): void;
}

export interface SandboxInfo extends SandboxStatus {
  readonly project: string;
  readonly worktree: string;
  /** How its commands run, or would; absent where its project or profile is gone or broken. */
  readonly executor?: ExecutorChoice;
}

export interface DenialKey {
  readonly project: string;
  readonly worktree?: string;
  readonly uid?: number;
}

export interface Health {
  readonly ok: boolean;
  readonly engine:
    | ({ readonly reachable: true } & EngineInfo)
    | { readonly reachable: false; readonly reason: string };
  /** false: the last append failed; nothing runs until one succeeds. */
  readonly journal: { readonly ok: boolean; readonly entries: number };
  readonly projects: number;
  readonly sessions: number;
  readonly running: number;
  readonly pending: number;
  /** Commands that wait their turn. */
  readonly queued: number;
  readonly agentsShareApproverUid: boolean;
  readonly startedAt: number;
  /** What the daemon was configured by; null: no file, the defaults. */
  readonly configFile: string | null;
  /** Files of an admin's that cannot be used right now, each with what mends it. */
  readonly problems: readonly string[];
}

/** Which approvals: all states when `state` is absent. */
export interface ApprovalFilter {
  readonly state?: PendingApproval["state"];
  readonly project?: string;
  readonly session?: string;
}

/**
 * All calls throw RecintoError: `not-permitted` when this caller may not, `unknown-…` when there is no such thing.
 * An agent's caller sees and touches its own project, its own sessions and their approvals only; everything that
 * says "admin" is refused to it.
 */
export interface Supervisor {
  /** Errors: unknown-project, unknown-worktree, worktree-refused, session-busy, approver-cannot-be-agent. */
  openSession(caller: Caller, request: OpenSessionRequest): Promise<OpenedSession>;
  /** Cancels what it waits for and kills what it runs. */
  closeSession(caller: Caller, session: string): Promise<void>;
  session(caller: Caller, session: string): SessionInfo;
  /** Admin: all. Agent: its own. */
  listSessions(caller: Caller): readonly SessionInfo[];

  /**
   * Judges, records, asks where needed, runs and streams. `decision` is the first event, one of `exit` and `refused`
   * the last, or `started` with `detach`. What is wrong with the request itself is thrown by the first `next()`, before any event. Aborting
   * `signal` (or leaving the loop) cancels the question and kills what was started.
   */
  run(
    caller: Caller,
    session: string,
    request: RunRequest,
    signal: AbortSignal,
  ): AsyncIterable<RunEvent>;
  /** The verdict alone: nothing is recorded, asked or run. */
  check(caller: Caller, session: string, request: CheckRequest): Promise<Verdict>;

  /** Admin: all. Agent: of its own sessions. Newest last; answered ones are kept for a while. */
  approvals(caller: Caller, filter?: ApprovalFilter): readonly PendingApproval[];
  approval(caller: Caller, id: string): PendingApproval;
  /** Admin, and never a uid that agents use (`agent-cannot-approve`). Errors: approval-over, facts-changed. */
  answer(caller: Caller, id: string, answer: Answer): Promise<PendingApproval>;
  /** What waits now, then every change of state, until `signal` aborts. Admin: all. Agent: of its own sessions. */
  watchApprovals(caller: Caller, signal: AbortSignal): AsyncIterable<PendingApproval>;

  /** Commands of a session while they run and after, as jobs. */
  readonly jobs: JobCalls;

  /** An agent's files: its own sessions' worktrees only. */
  readonly files: FileCalls;

  /** Contracts and phases of admins; grants and interfaces of sessions. */
  readonly authority: AuthorityCalls;

  /** Rule files of every source; admins only. */
  readonly ruleFiles: RuleFileCalls;
  /** The sandboxes' own git; admins only. */
  readonly git: GitCalls;
  /** What the journal tells; admins only. */
  readonly history: HistoryCalls;

  /** Admin. What *always* has stored for a project, expired ones left out. */
  rules(caller: Caller, project: string): Promise<readonly StoredRule[]>;
  /** Admin. */
  revokeRule(caller: Caller, project: string, rule: string): Promise<StoredRule>;

  /** Admin: all. Agent: entries of its own sessions. */
  events(caller: Caller, query: EntryQuery): readonly JournalEntry[];
  /** What `events` gives, then each new entry until `signal` aborts. */
  followEvents(caller: Caller, query: EntryQuery, signal: AbortSignal): AsyncIterable<JournalEntry>;
  /** Admin. Reads the whole journal: seconds for millions of entries. */
  verifyJournal(caller: Caller): Promise<VerifyResult>;

  readonly hazards: HazardCalls;
  /** Admin: all. Agent: its own project. */
  projects(caller: Caller): readonly Project[];
  project(caller: Caller, id: string): Project;
  /** Admin. `project` is checked as a file would be; errors: bad-request, bad-config. */
  addProject(caller: Caller, project: Project): Promise<Project>;
  /** Admin. Its sessions are closed and its sandboxes removed. */
  removeProject(caller: Caller, id: string): Promise<void>;
  /** Calls at once and after each change, so that the API opens and closes one agent socket per project. */
  onProjects(listener: (projects: readonly Project[]) => void): () => void;

  /** Admin. */
  sandboxes(caller: Caller): Promise<readonly SandboxInfo[]>;
  /** Admin. Returns how many counters were reset. */
  resetDenials(caller: Caller, key: DenialKey): number;

  /** Anyone who reaches a socket. */
  health(): Promise<Health>;
  /** Refuses new work, ends what waits, gives running commands SHUTDOWN_GRACE_MS, stops watchers, journals, closes. */
  shutdown(): Promise<void>;
}

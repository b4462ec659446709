/** The typed client of the daemon: what an agent may do over its project's socket, and an admin over theirs. */
import { authorityCalls, grantCalls } from "./client-authority.ts";
import { fileCalls } from "./client-files.ts";
import { jobCalls, jobViews } from "./client-jobs.ts";
import { type ClientRunEvent, type ClientRunRequest, carried, runCall } from "./client-run.ts";
import { Transport, type TransportOptions } from "./client-transport.ts";
import type { Answer, Approval, ApprovalState, OpenedSession, Session, Version } from "./schema.ts";
import type {
  DenialKey,
  GitStatus,
  Hazard,
  Health,
  JournalEntry,
  Profile,
  ProfileSummary,
  Project,
  Sandbox,
  StoredRule,
  VerifyResult,
  WorktreeHazards,
} from "./schema-admin.ts";
import type { ReplayLine, ReplayRequest, RulePreview, Stats } from "./schema-history.ts";
import type { Verdict } from "./schema-policy.ts";
import type { RuleFile, SessionRulesRequest } from "./schema-rule-files.ts";
import type { WireRunEvent } from "./schema-run.ts";

export type {
  Answer,
  Approval,
  ClientRunEvent,
  ClientRunRequest,
  Health,
  JournalEntry,
  Project,
  ReplayLine,
  RuleFile,
  RulePreview,
  Session,
  Stats,
  Verdict,
  WireRunEvent,
};
export { carried };

export interface EventFilter {
  readonly after?: number;
  readonly since?: number;
  readonly project?: string;
  readonly event?: string;
  readonly limit?: number;
}

export type AgentClient = ReturnType<typeof agentClient>;
export type AdminClient = ReturnType<typeof adminClient>;

/** All calls throw RecintoError with the daemon's code and hint. */
export function agentClient(options: TransportOptions) {
  const http = new Transport(options);
  return {
    version: () => http.json<Version>({ method: "GET", path: "/v1/version" }),
    sessions: () => http.json<Session[]>({ method: "GET", path: "/v1/sessions" }),
    openSession: (worktree: string) =>
      http.json<OpenedSession>({ method: "POST", path: "/v1/sessions", body: { worktree } }),
    session: (id: string) =>
      http.json<Session>({ method: "GET", path: `/v1/sessions/${encode(id)}` }),
    closeSession: (id: string) =>
      http.json<void>({ method: "DELETE", path: `/v1/sessions/${encode(id)}` }),
    /** `waitMs`: answered once it is over, or after so long. */
    approval: (session: string, id: string, waitMs?: number) =>
      http.json<Approval>({
        method: "GET",
        path: `/v1/sessions/${encode(session)}/approvals/${encode(id)}`,
        query: { waitMs },
      }),
    check: (session: string, command: string, cwd?: string) =>
      http.json<Verdict>({
        method: "POST",
        path: `/v1/sessions/${encode(session)}/check`,
        body: cwd === undefined ? { command } : { command, cwd },
      }),
    ...grantCalls(http),
    files: (session: string) => fileCalls(http, session),
    jobs: (session: string) => jobCalls(http, session),
    run: (session: string, request: ClientRunRequest, signal?: AbortSignal) =>
      runCall(http, session, request, signal),
    close: () => http.close(),
  };
}

/** All calls throw RecintoError with the daemon's code and hint. */
export function adminClient(options: TransportOptions) {
  const http = new Transport(options);
  const get = <T>(path: string, query?: object) =>
    http.json<T>({ method: "GET", path, query: { ...query } });
  return {
    version: () => get<Version>("/v1/version"),
    health: () => get<Health>("/v1/health"),

    projects: () => get<Project[]>("/v1/projects"),
    project: (id: string) => get<Project>(`/v1/projects/${encode(id)}`),
    addProject: (project: Project) =>
      http.json<Project>({ method: "POST", path: "/v1/projects", body: project }),
    removeProject: (id: string) =>
      http.json<void>({ method: "DELETE", path: `/v1/projects/${encode(id)}` }),
    rules: (project: string) => get<StoredRule[]>(`/v1/projects/${encode(project)}/rules`),
    revokeRule: (project: string, rule: string) =>
      http.json<StoredRule>({
        method: "DELETE",
        path: `/v1/projects/${encode(project)}/rules/${encode(rule)}`,
      }),
    ruleFiles: (project: string) => get<RuleFile[]>(`/v1/projects/${encode(project)}/rule-files`),
    trustRuleFile: (project: string, file: string, sha256: string) =>
      http.json<RuleFile>({
        method: "POST",
        path: `/v1/projects/${encode(project)}/trust`,
        body: { file, sha256 },
      }),
    distrustRuleFile: (project: string, file: string) =>
      http.json<{ forgotten: number }>({
        method: "POST",
        path: `/v1/projects/${encode(project)}/distrust`,
        body: { file },
      }),
    giveSessionRules: (project: string, request: SessionRulesRequest) =>
      http.json<RuleFile>({
        method: "POST",
        path: `/v1/projects/${encode(project)}/session-rules`,
        body: request,
      }),
    profiles: () => get<ProfileSummary[]>("/v1/profiles"),
    checkProfile: (name: string, text: string) =>
      http.json<Profile>({ method: "POST", path: "/v1/profiles/check", body: { name, text } }),
    profile: (name: string) => get<Profile>(`/v1/profiles/${encode(name)}`),

    approvals: (filter: { state?: ApprovalState; project?: string; session?: string } = {}) =>
      get<Approval[]>("/v1/approvals", filter),
    approval: (id: string) => get<Approval>(`/v1/approvals/${encode(id)}`),
    answer: (id: string, answer: Answer) =>
      http.json<Approval>({
        method: "POST",
        path: `/v1/approvals/${encode(id)}/answer`,
        body: answer,
      }),
    previewRules: (approval: string) =>
      get<RulePreview[]>(`/v1/approvals/${encode(approval)}/past`),
    watchApprovals: (signal?: AbortSignal) =>
      http.lines<Approval>({ method: "GET", path: "/v1/watch/approvals", ...optional(signal) }),

    sessions: () => get<Session[]>("/v1/sessions"),
    session: (id: string) => get<Session>(`/v1/sessions/${encode(id)}`),
    jobs: (session: string) => jobViews(http, session),
    closeSession: (id: string) =>
      http.json<void>({ method: "DELETE", path: `/v1/sessions/${encode(id)}` }),
    resetDenials: (key: DenialKey) =>
      http.json<{ reset: number }>({ method: "POST", path: "/v1/denials/reset", body: key }),

    events: (filter: EventFilter = {}) => get<JournalEntry[]>("/v1/events", filter),
    followEvents: (filter: EventFilter = {}, signal?: AbortSignal) =>
      http.lines<JournalEntry>({
        method: "GET",
        path: "/v1/watch/events",
        query: { ...filter },
        ...optional(signal),
      }),
    replay: (request: ReplayRequest, signal?: AbortSignal) =>
      http.lines<ReplayLine>({
        method: "POST",
        path: "/v1/replay",
        body: request,
        ...optional(signal),
      }),
    stats: (filter: { project?: string; since?: number } = {}) => get<Stats>("/v1/stats", filter),
    metrics: async () => {
      const { bytes } = await http.bytes({ method: "GET", path: "/metrics" });
      let text = "";
      for await (const chunk of bytes) text += chunk;
      return text;
    },
    verifyJournal: () => get<VerifyResult>("/v1/journal/verify"),
    ...authorityCalls(http),
    hazards: (project?: string) => get<WorktreeHazards[]>("/v1/hazards", { project }),
    acceptHazard: (id: string) =>
      http.json<Hazard>({ method: "POST", path: "/v1/hazards/accept", body: { id } }),
    forgetHazard: (id: string) =>
      http.json<{ forgotten: string }>({
        method: "POST",
        path: "/v1/hazards/forget",
        body: { id },
      }),
    gitStatus: (project?: string) => get<GitStatus[]>("/v1/git", { project }),
    undoImport: (seq: number) =>
      http.json<JournalEntry>({ method: "POST", path: "/v1/git/undo", body: { seq } }),
    sandboxes: () => get<Sandbox[]>("/v1/sandboxes"),
    close: () => http.close(),
  };
}

function encode(part: string): string {
  return encodeURIComponent(part);
}

function optional(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

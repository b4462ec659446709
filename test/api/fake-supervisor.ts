/** A supervisor that keeps its state in memory and does what a test tells it, so that the API is tested alone. */

import { RecintoError } from "../../daemon/errors.ts";
import type { JournalEntry } from "../../daemon/journal/types.ts";
import type { Verdict } from "../../daemon/policy/types.ts";
import type { Project } from "../../daemon/settings/types.ts";
import type { Health, Supervisor } from "../../daemon/supervisor/supervisor-interface.ts";
import type {
  Caller,
  PendingApproval,
  RunEvent,
  RunRequest,
  SessionInfo,
} from "../../daemon/supervisor/types.ts";
import { FakeAuthority } from "./fake-authority.ts";
import { FakeFiles } from "./fake-files.ts";
import { FakeJobs } from "./fake-jobs.ts";

export const VERDICT: Verdict = {
  verdict: "allow",
  effects: ["read"],
  classes: ["read"],
  roots: ["/project"],
  segments: [],
  reason: "everything is in scope",
  bindTo: [],
};

export const DECISION: RunEvent = { type: "decision", action: "a1", verdict: VERDICT };
export const EXIT: RunEvent = {
  type: "exit",
  exec: "e1",
  exitCode: 0,
  timedOut: false,
  cancelled: false,
  oomKilled: false,
  durationMs: 1,
  stdoutBytes: 0,
  stderrBytes: 0,
};

export function project(id: string): Project {
  return { id, root: "/tmp", profile: "default", worktrees: ".", agentGroup: null };
}

export function approval(id: string, session: string): PendingApproval {
  return {
    id,
    action: `action-${id}`,
    session,
    project: "alpha",
    worktree: "/tmp",
    uid: 0,
    command: "rm -rf build",
    cwd: "/tmp",
    verdict: { ...VERDICT, verdict: "ask" },
    facts: { branch: "main", realpath: {}, content: {} },
    cannotTakeEffect: [],
    createdAt: 1,
    expiresAt: 2,
    state: "pending",
  };
}

export const POLICY_FILE: ReturnType<Supervisor["ruleFiles"]["trust"]> = {
  file: "/tmp/coder_policy.json",
  source: "project",
  owner: "alpha",
  state: "trusted",
  merge: true,
  rules: [{ id: "trusted/1", action: "allow", rule: "git fetch *" }],
};

export const STATS: Awaited<ReturnType<Supervisor["history"]["stats"]>> = {
  fromMs: 1,
  toMs: 2,
  actions: 2,
  verdicts: { allow: 1, ask: 1, deny: 0 },
  passes: { total: 1, byRoot: { "/project": 1 } },
  questions: {
    asked: 1,
    per100Actions: 50,
    approvedOnce: 1,
    approvedAlways: 0,
    denied: 0,
    timedOut: 0,
    cancelled: 0,
    answeredAfter: { count: 1, p50Ms: 1_500, p95Ms: 1_500 },
    overAfter: { count: 1, p50Ms: 1_500, p95Ms: 1_500 },
  },
  byRule: [{ rule: "profile/run", asks: 1, denies: 0 }],
  refusals: {
    policy: 0,
    person: 0,
    timeout: 0,
    "facts-changed": 0,
    "not-waiting": 0,
    failure: 0,
  },
};

export const HAZARD = {
  id: "escaping-link-00112233445566aa",
  kind: "escaping-link",
  path: "/tmp/out",
  target: "/etc",
  resolved: "/etc",
  foundAt: 1,
  reason: "leads to /etc, outside the project",
} as const;

type Script = (request: RunRequest, signal: AbortSignal, caller: Caller) => AsyncIterable<RunEvent>;

export class FakeSupervisor implements Supervisor {
  problems: string[] = [];
  readonly callers: Caller[] = [];
  readonly sessionsOpen = new Map<string, { info: SessionInfo; caller: Caller }>();
  readonly questions: PendingApproval[] = [];
  readonly entries: JournalEntry[] = [];
  projectList: Project[] = [];
  /** What the next commands do. */
  script: Script = async function* () {
    yield DECISION;
    yield EXIT;
  };
  #listeners: ((projects: readonly Project[]) => void)[] = [];
  #ids = 0;

  async openSession(caller: Caller, { worktree }: { worktree: string }) {
    this.callers.push(caller);
    if (worktree === "/explode") throw new TypeError("a bug with a secret in it");
    const info: SessionInfo = {
      id: `s${++this.#ids}`,
      project: caller.socket.kind === "agent" ? caller.socket.project : "-",
      worktree,
      profile: "default",
      uid: caller.uid,
      openedAt: 1,
      lastUsedAt: 1,
      sharesApproverUid: false,
      denials: { consecutive: {}, total: 0 },
      blocked: [],
      escalated: false,
    };
    this.sessionsOpen.set(info.id, { info, caller });
    return { session: info, existing: false };
  }

  session(caller: Caller, id: string): SessionInfo {
    const found = this.sessionsOpen.get(id);
    const own =
      caller.socket.kind === "admin" ||
      (found?.info.uid === caller.uid && found.info.project === caller.socket.project);
    if (found === undefined || !own) {
      throw new RecintoError("unknown-session", "there is no such session");
    }
    return found.info;
  }

  async closeSession(caller: Caller, id: string): Promise<void> {
    this.session(caller, id);
    this.sessionsOpen.delete(id);
  }

  listSessions(caller: Caller): SessionInfo[] {
    return [...this.sessionsOpen.values()]
      .map(({ info }) => info)
      .filter((info) => caller.socket.kind === "admin" || info.uid === caller.uid);
  }

  async *run(caller: Caller, session: string, request: RunRequest, signal: AbortSignal) {
    this.session(caller, session);
    yield* this.script(request, signal, caller);
  }

  async check(caller: Caller, session: string) {
    this.session(caller, session);
    return VERDICT;
  }

  approvals(_caller: Caller, filter: { session?: string; state?: string } = {}) {
    return this.questions.filter(
      (one) =>
        (filter.session === undefined || one.session === filter.session) &&
        (filter.state === undefined || one.state === filter.state),
    );
  }

  approval(_caller: Caller, id: string): PendingApproval {
    const found = this.questions.find((one) => one.id === id);
    if (found === undefined) throw new RecintoError("unknown-approval", `no approval ${id}`);
    return found;
  }

  async answer(caller: Caller, id: string, answer: { answer: "approve" | "deny" }) {
    const found = this.approval(caller, id);
    const answered: PendingApproval = {
      ...found,
      state: answer.answer === "approve" ? "approved" : "denied",
      answeredBy: caller.uid,
    };
    this.questions.splice(this.questions.indexOf(found), 1, answered);
    return answered;
  }

  async *watchApprovals(_caller: Caller, signal: AbortSignal) {
    yield* this.questions;
    await aborted(signal);
  }

  /** By project. */
  readonly savedRules: Record<string, Awaited<ReturnType<Supervisor["rules"]>>> = {};

  async rules(_caller: Caller, project: string) {
    return this.savedRules[project] ?? [];
  }

  policyFiles: ReturnType<Supervisor["ruleFiles"]["list"]> = [];
  /** What was trusted: file and hash. */
  readonly trusted: string[] = [];
  readonly sessionRules: Parameters<Supervisor["ruleFiles"]["giveSession"]>[1][] = [];

  /** Files in memory, by path. */
  readonly files = new FakeFiles();
  readonly authority = new FakeAuthority();

  readonly jobs = new FakeJobs();

  readonly ruleFiles: Supervisor["ruleFiles"] = {
    list: () => this.policyFiles,
    trust: (_caller, project, file, sha256) => {
      this.trusted.push(`${file} ${sha256}`);
      return { ...POLICY_FILE, file, owner: project, sha256 };
    },
    distrust: () => 1,
    giveSession: (_caller, request) => {
      this.sessionRules.push(request);
      return {
        ...POLICY_FILE,
        file: request.worktree,
        source: "session",
        owner: String(request.uid ?? "any"),
        state: "in-force",
        expiresAt: null,
      };
    },
  };

  async revokeRule(): Promise<never> {
    throw new RecintoError("not-found", "no such rule");
  }

  readonly git: Supervisor["git"] = {
    status: async () => [],
    undo: async (_caller, seq) => {
      throw new RecintoError("not-found", `entry ${seq} is no import`);
    },
  };

  readonly history: Supervisor["history"] = {
    previewRules: async (caller, id) =>
      (this.approval(caller, id).verdict.always ?? []).map((rule, width) => ({
        rule,
        tried: 12,
        allowed: width + 2,
        examples: ["git fetch origin", "git fetch \u202e--all"],
      })),
    async *replay(_caller, { profile }) {
      yield {
        type: "change",
        seq: 4,
        at: 1,
        project: "alpha",
        command: "node x.js",
        cwd: "/tmp",
        before: { verdict: "ask", rules: ["profile/run"] },
        after: { verdict: "allow", rules: ["scope/run"], reason: "every part stays in /tmp" },
      };
      yield {
        type: "summary",
        profile: profile.name,
        actions: 3,
        same: 2,
        changed: { "ask → allow": 1 },
        left: { denials: 0, gone: 0, incomplete: 0 },
      };
    },
    stats: async () => STATS,
    metrics: async () => "recinto_up 1\n",
  };

  events(_caller: Caller, { afterSeq = 0, limit = 10 }: { afterSeq?: number; limit?: number }) {
    return this.entries.filter(({ seq }) => seq > afterSeq).slice(0, limit);
  }

  async *followEvents(_caller: Caller, _query: object, signal: AbortSignal) {
    yield* this.entries;
    await aborted(signal);
  }

  async verifyJournal() {
    return { ok: true, entries: this.entries.length, pruned: 0, head: "00" };
  }

  readonly hazards: Supervisor["hazards"] = {
    list: () => [],
    accept: (_caller, id) => ({ ...HAZARD, id, acceptedAt: 2 }),
    forget: (_caller, id) => {
      if (id !== HAZARD.id) throw new RecintoError("not-found", `no hazard ${id}`);
    },
  };

  projects(): readonly Project[] {
    return this.projectList;
  }

  project(_caller: Caller, id: string): Project {
    const found = this.projectList.find((one) => one.id === id);
    if (found === undefined) throw new RecintoError("unknown-project", `no project ${id}`);
    return found;
  }

  async addProject(_caller: Caller, added: Project): Promise<Project> {
    this.projectList = [...this.projectList, added];
    this.#changed();
    return added;
  }

  async removeProject(caller: Caller, id: string): Promise<void> {
    this.project(caller, id);
    this.projectList = this.projectList.filter((one) => one.id !== id);
    this.#changed();
  }

  onProjects(listener: (projects: readonly Project[]) => void): () => void {
    this.#listeners.push(listener);
    listener(this.projectList);
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener);
    };
  }

  async sandboxes() {
    return [];
  }

  resetDenials(): number {
    return 3;
  }

  async health(): Promise<Health> {
    return {
      ok: true,
      engine: { reachable: true, name: "fake", version: "1", apiVersion: "1" },
      journal: { ok: true, entries: this.entries.length },
      projects: this.projectList.length,
      sessions: this.sessionsOpen.size,
      running: 0,
      queued: 0,
      pending: this.questions.length,
      agentsShareApproverUid: false,
      startedAt: 1,
      configFile: null,
      problems: this.problems,
    };
  }

  async shutdown(): Promise<void> {}

  #changed(): void {
    for (const listener of this.#listeners) listener(this.projectList);
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

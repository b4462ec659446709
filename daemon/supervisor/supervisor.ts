/** The use cases wired together: each call checks who asks, then does one thing and puts it on record. */

import { RecintoError } from "../errors.ts";
import type { EntryQuery, JournalEntry, NewEntry, VerifyResult } from "../journal/types.ts";
import { EXEC_LOST_AFTER_MS, EXEC_TERM_GRACE_MS, SHUTDOWN_GRACE_MS } from "../limits.ts";
import type { Verdict } from "../policy/types.ts";
import type { Registry } from "../settings/registry.ts";
import type { Project } from "../settings/types.ts";
import { adoptOnce } from "./adoption.ts";
import { Approvals } from "./approvals.ts";
import { AuthorityDesk } from "./authority/authority-desk.ts";
import { DeclaredWatches } from "./declared-watches.ts";
import { DenialBook } from "./denial-book.ts";
import { FileDesk } from "./files/file-desk.ts";
import { followEntries, seenBy, untilStop, watchApprovals } from "./following.ts";
import type { GitDesk } from "./git-desk.ts";
import { HazardDesk } from "./hazard-desk.ts";
import { healthOf } from "./health.ts";
import { HistoryDesk } from "./history-desk.ts";
import { refuseAgentAsApprover, requireAdmin, sees } from "./identity.ts";
import { JobDesk } from "./jobs/job-desk.ts";
import { type NoticingJournal, noticing } from "./noticing-journal.ts";
import type { SandboxPort, SupervisorDeps } from "./ports.ts";
import { prepareCommand } from "./prepared-command.ts";
import { ProjectDesk } from "./project-desk.ts";
import { endProject } from "./project-end.ts";
import { openImports, takeOver } from "./recovery.ts";
import { requireRight } from "./roles.ts";
import { RuleDesk } from "./rule-desk.ts";
import { RuleStore } from "./rule-store.ts";
import { RunDesk } from "./run-desk.ts";
import { withExecutors } from "./sandbox-executors.ts";
import { SessionDesk } from "./session-desk.ts";
import { Sessions } from "./sessions.ts";
import { settleWithin } from "./settling.ts";
import type {
  ApprovalFilter,
  CheckRequest,
  DenialKey,
  Health,
  OpenedSession,
  OpenSessionRequest,
  SandboxInfo,
  StoredRule,
  Supervisor,
} from "./supervisor-interface.ts";
import type {
  Answer,
  Caller,
  PendingApproval,
  RunEvent,
  RunRequest,
  SessionInfo,
} from "./types.ts";
import { careForWorktrees, type WorktreeCare } from "./worktree-care.ts";

/**
 * A supervisor that has closed on record what a former daemon left open. An engine that is away is no error: it is
 * asked again before the first command. Throws `journal-failed`.
 */
export async function createSupervisor(deps: SupervisorDeps): Promise<Supervisor> {
  const supervisor = new TheSupervisor(deps);
  await supervisor.start();
  return supervisor;
}

class TheSupervisor implements Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #journal: NoticingJournal;
  readonly #sessions: Sessions;
  readonly #denials: DenialBook;
  readonly #approvals: Approvals;
  readonly #care: WorktreeCare;
  readonly #projects: ProjectDesk;
  readonly #registry: Registry;
  readonly #sandboxes: SandboxPort;
  readonly #adopt: () => Promise<void>;
  readonly #desk: SessionDesk;
  readonly #declared: DeclaredWatches;
  readonly #runs: RunDesk;
  readonly ruleFiles: RuleDesk;
  readonly git: GitDesk;
  readonly files: FileDesk;
  readonly jobs: JobDesk;
  readonly history: HistoryDesk;
  readonly hazards: HazardDesk;
  readonly authority: AuthorityDesk;
  readonly #startedAt: number;
  readonly #stopping = new AbortController();
  #closing = false;

  constructor(deps: SupervisorDeps) {
    const { now, log } = deps;
    this.#deps = deps;
    this.#startedAt = now();
    const journal = noticing(deps.journal);
    this.#journal = journal;
    const saved = new RuleStore(deps.config.stateDir, now);
    this.#denials = DenialBook.restore(journal);
    this.#sessions = new Sessions({ now, newId: () => deps.newId("session") });
    this.jobs = new JobDesk({
      ...deps,
      journal,
      sessions: this.#sessions,
      stopping: this.#stopping.signal,
    });
    this.#care = careForWorktrees(deps, journal, (id) => this.#registry.project(id));
    this.git = this.#care.git;
    this.#approvals = new Approvals({
      journal,
      denials: this.#denials,
      rules: saved,
      now,
      newId: deps.newId,
      onError: (error) => log.error({ error }, "the end of a question could not be recorded"),
    });
    this.#projects = new ProjectDesk({
      open: deps.openRegistry,
      journal,
      log,
      clear: (project) =>
        endProject(project, {
          deps,
          sessions: this.#sessions,
          desk: this.#desk,
          watches: this.#care.watches,
          sandboxes: this.#sandboxes,
        }),
    });
    this.#registry = this.#projects.registry;
    this.#sandboxes = deps.openSandboxes({
      onEvent: (event, { id, name, image, project, worktree }) => {
        journal.append({ event: `sandbox.${event}`, project, data: { id, name, image, worktree } });
      },
      onError: (error) => log.warn({ error }, "a sandbox could not be stopped"),
    });
    this.#adopt = adoptOnce(this.#sandboxes);
    this.ruleFiles = new RuleDesk({
      ...deps,
      journal,
      registry: this.#registry,
      saved,
      agentUids: (project) => this.#desk.agentUids(project),
    });
    const parts = { journal, registry: this.#registry, rules: this.ruleFiles };
    this.history = new HistoryDesk({
      ...deps,
      ...parts,
      approvals: this.#approvals,
      health: () => this.health(),
    });
    this.hazards = new HazardDesk({
      ...parts,
      ...deps,
      journal,
      watches: this.#care.watches,
      sessions: this.#sessions,
      agentUids: (project) => this.#desk.agentUids(project),
    });
    this.#declared = new DeclaredWatches({ ...parts, log, watches: this.#care.watches });
    this.authority = new AuthorityDesk({
      ...parts,
      deps,
      sessions: this.#sessions,
      approvals: this.#approvals,
      escort: this.#care.escort,
      agentUids: (project) => this.#desk.agentUids(project),
      ensureSandbox: (...place) => this.#ensure(...place),
      stopping: this.#stopping.signal,
    });
    this.#desk = new SessionDesk({
      ...parts,
      authority: this.authority,
      consents: this.hazards.consents,
      approvals: this.#approvals,
      saved,
      deps,
      sessions: this.#sessions,
      denials: this.#denials,
      watches: this.#care.watches,
      sandboxes: this.#sandboxes,
    });
    const work = {
      deps,
      journal,
      approvals: this.#approvals,
      denials: this.#denials,
      sessions: this.#sessions,
      desk: this.#desk,
      authority: this.authority,
      stopping: this.#stopping.signal,
      refuseWhenClosing: () => this.#refuseWhenClosing(),
    };
    this.files = new FileDesk({ ...work, protection: this.#care.protection });
    this.#runs = new RunDesk({
      ...work,
      jobs: this.jobs,
      rules: this.ruleFiles,
      adopt: this.#adopt,
      sandboxes: this.#sandboxes,
    });
  }

  async start(): Promise<void> {
    const started: NewEntry = { event: "daemon.started", data: { pid: process.pid } };
    const imports = await this.git.recover(openImports(this.#journal));
    const { closing, sessions, questions } = takeOver(this.#journal, this.#deps.now());
    // One transaction: a crash in between leaves all of it open for the next start.
    this.#journal.appendAll([...imports, ...closing, started]);
    this.#sessions.restore(sessions);
    this.#approvals.restore(questions);
    await this.#adopt().catch((error) =>
      this.#deps.log.warn({ error }, "the engine does not answer yet; commands wait for it"),
    );
    this.authority.start();
    this.#projects.subscribe((projects) => this.#declared.follow(projects));
  }

  openSession(caller: Caller, request: OpenSessionRequest): Promise<OpenedSession> {
    this.#refuseWhenClosing();
    return this.#desk.open(caller, request);
  }

  async closeSession(caller: Caller, id: string): Promise<void> {
    await this.#desk.close(this.#sessions.visible(caller, id), caller.uid, "it was ended");
  }

  session(caller: Caller, id: string): SessionInfo {
    return this.#desk.describe(this.#sessions.visible(caller, id));
  }

  listSessions(caller: Caller): readonly SessionInfo[] {
    return this.#sessions.visibleTo(caller).map((session) => this.#desk.describe(session));
  }

  run(
    caller: Caller,
    id: string,
    request: RunRequest,
    signal: AbortSignal,
  ): AsyncIterable<RunEvent> {
    return this.#runs.run(caller, id, request, signal);
  }

  async check(caller: Caller, id: string, request: CheckRequest): Promise<Verdict> {
    const session = this.#sessions.visible(caller, id);
    const { profile } = this.#desk.place(session);
    const { command, cwd } = prepareCommand(request, session.worktree, profile);
    return (await this.#desk.judge(session, command, cwd, undefined, request)).verdict;
  }

  approvals(caller: Caller, filter: ApprovalFilter = {}): readonly PendingApproval[] {
    return this.#approvals.matching(filter).filter((approval) => sees(caller, approval));
  }

  approval(caller: Caller, id: string): PendingApproval {
    const approval = this.#approvals.get(id);
    if (sees(caller, approval)) return approval;
    throw new RecintoError("unknown-approval", `no approval ${JSON.stringify(id)}`);
  }

  async answer(caller: Caller, id: string, answer: Answer): Promise<PendingApproval> {
    requireAdmin(caller);
    const question = this.approval(caller, id);
    requireRight(caller, "answer", question.project);
    const own = this.#desk.agentUids(this.#registry.project(question.project));
    refuseAgentAsApprover(caller, new Set([...own, question.uid]), this.#deps.adminWall());
    return this.authority.answer(question, answer, caller.uid);
  }

  watchApprovals(caller: Caller, signal: AbortSignal): AsyncIterable<PendingApproval> {
    return untilStop([signal, this.#stopping.signal], (until) =>
      watchApprovals(this.#approvals, (approval) => sees(caller, approval), until),
    );
  }

  async rules(caller: Caller, project: string): Promise<readonly StoredRule[]> {
    return this.ruleFiles.saved(caller, project);
  }

  async revokeRule(caller: Caller, project: string, id: string): Promise<StoredRule> {
    return this.ruleFiles.revokeSaved(caller, project, id);
  }

  events(caller: Caller, query: EntryQuery): readonly JournalEntry[] {
    return this.#journal.read(seenBy(caller, query, this.#projects, this.#sessions));
  }

  followEvents(
    caller: Caller,
    query: EntryQuery,
    signal: AbortSignal,
  ): AsyncIterable<JournalEntry> {
    const seen = seenBy(caller, query, this.#projects, this.#sessions);
    return untilStop([signal, this.#stopping.signal], (until) =>
      followEntries(this.#journal, seen, until),
    );
  }

  async verifyJournal(caller: Caller): Promise<VerifyResult> {
    requireAdmin(caller);
    return this.#journal.verifyInSteps();
  }

  projects(caller: Caller): readonly Project[] {
    return this.#projects.visible(caller);
  }

  project(caller: Caller, id: string): Project {
    return this.#projects.one(caller, id);
  }

  async addProject(caller: Caller, project: Project): Promise<Project> {
    requireAdmin(caller);
    return this.#projects.add(project, caller.uid);
  }

  async removeProject(caller: Caller, id: string): Promise<void> {
    requireAdmin(caller);
    await this.#projects.remove(id, caller.uid);
  }

  onProjects(listener: (projects: readonly Project[]) => void): () => void {
    return this.#projects.subscribe(listener);
  }

  async sandboxes(caller: Caller): Promise<readonly SandboxInfo[]> {
    requireAdmin(caller);
    return withExecutors(await this.#sandboxes.list(), this.#sandboxes, this.#registry);
  }

  resetDenials(caller: Caller, key: DenialKey): number {
    requireAdmin(caller);
    const reset = this.#denials.reset(key, caller.uid);
    this.#journal.appendAll(reset.entries);
    reset.commit();
    return reset.count;
  }

  health(): Promise<Health> {
    return healthOf({
      ...this.#deps,
      journal: this.#journal,
      projects: this.#registry.projects().length,
      sessions: this.#sessions.all(),
      pending: this.#approvals.pending().length,
      queued: this.#desk.slots.waiting,
      startedAt: this.#startedAt,
      problems: this.#registry.problems().values(),
    });
  }

  async shutdown(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    this.authority.stop();
    const { log } = this.#deps;
    this.#approvals.leave();
    const work = () => this.#sessions.all().flatMap((session) => [...session.work]);
    const background = () => this.#sessions.all().flatMap((session) => [...session.background]);
    await settleWithin(SHUTDOWN_GRACE_MS, work());
    this.#stopping.abort(stopping());
    const gone = await settleWithin(EXEC_TERM_GRACE_MS + EXEC_LOST_AFTER_MS, [
      ...work(),
      ...background(),
    ]);
    if (!gone) log.warn({}, "some commands did not end in time");
    await this.#care.close();
    await this.#desk.egress.close();
    await this.#sandboxes
      .stopAll()
      .catch((error) => log.warn({ error }, "sandboxes could not be stopped"));
    await this.#registry.close();
    this.#journal.append({ event: "daemon.stopped", data: {} });
    this.#journal.close();
  }

  async #ensure(...place: Parameters<SandboxPort["ensure"]>) {
    await this.#adopt();
    return this.#sandboxes.ensure(...place);
  }

  #refuseWhenClosing(): void {
    if (this.#closing) throw stopping();
  }
}

function stopping(): RecintoError {
  return new RecintoError("busy", "recintod is stopping", { hint: "try again once it is back" });
}

/** Authority that ends, as the daemon keeps it: contracts and phases of admins, grants of agents, and what runs on them. */

import { type AuthorityInterface, diffInterfaces, interfaceOf } from "../../authority/interface.ts";
import { newLedger } from "../../authority/ledger.ts";
import type { Outcome } from "../../authority/ledger-types.ts";
import { RecintoError } from "../../errors.ts";
import type { Journal } from "../../journal/types.ts";
import { WATCH_BACKLOG_MAX } from "../../limits.ts";
import type { Registry } from "../../settings/registry.ts";
import type { Profile, Project } from "../../settings/types.ts";
import type { Approvals } from "../approvals.ts";
import { Channel } from "../channel.ts";
import { type Escort, together } from "../escort.ts";
import { untilStop } from "../following.ts";
import { couldApprove, requireAdmin } from "../identity.ts";
import type { SupervisorDeps } from "../ports.ts";
import { requireProject } from "../project-desk.ts";
import { requireRight } from "../roles.ts";
import type { Session, Sessions } from "../sessions.ts";
import type { Answer, Caller, PendingApproval } from "../types.ts";
import { AnsweredGrants } from "./answered-grants.ts";
import type {
  AuthorityCalls,
  ClosureCheck,
  ContractInfo,
  GrantAnswer,
  GrantInfo,
  GrantRequest,
  InterfaceChange,
  WorktreeName,
} from "./authority-calls.ts";
import { type Binding, bind, type Presented } from "./binding.ts";
import { type CheckSandbox, checkPlace } from "./check-place.ts";
import { ClosureWatch } from "./closure-watch.ts";
import { ContractDesk } from "./contract-desk.ts";
import { grantInfo, grantInfos } from "./grant-infos.ts";
import { GrantQuestions } from "./grant-questions.ts";
import { LedgerBook, type LedgerKey } from "./ledger-book.ts";
import { DAEMON, Uses } from "./uses.ts";

export interface AuthorityDeskParts {
  readonly deps: Pick<SupervisorDeps, "adminWall" | "config" | "log" | "newId" | "now">;
  readonly journal: Journal;
  readonly registry: Registry;
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  /** What goes with every command already. */
  readonly escort: Escort;
  readonly agentUids: (project: Project) => ReadonlySet<number>;
  readonly ensureSandbox: (
    project: Project,
    profile: Profile,
    worktree: string,
  ) => Promise<CheckSandbox>;
  /** Aborts when the daemon stops. */
  readonly stopping: AbortSignal;
}

export class AuthorityDesk implements AuthorityCalls {
  readonly #parts: AuthorityDeskParts;
  readonly #now: () => number;
  readonly #book: LedgerBook;
  readonly #watch: ClosureWatch;
  readonly #questions: GrantQuestions;
  readonly #answered: AnsweredGrants;
  readonly #contracts: ContractDesk;
  readonly uses: Uses;
  /** What goes with every command, and sees it end. */
  readonly escort: Escort;
  readonly #noticing: Escort = {
    before: async () => [],
    after: async ({ session, verdict }) => {
      if (verdict.effects.some((effect) => effect !== "read")) this.acted(session);
      return [];
    },
  };
  #stopping = false;

  constructor(parts: AuthorityDeskParts) {
    this.#parts = parts;
    const { deps, journal, approvals, stopping } = parts;
    const { log, newId } = deps;
    const onError = (error: unknown) =>
      log.error({ error }, "a grant could not be looked after; its time still ends it");
    this.#now = deps.now;
    const { stateDir } = deps.config;
    this.#book = new LedgerBook({ journal, stateDir, now: this.#now, log });
    this.uses = new Uses(this.#book, onError);
    const { adminWall } = deps;
    const ending = (key: LedgerKey) => this.uses.ending(key);
    this.#contracts = new ContractDesk({ ...parts, book: this.#book, adminWall, ending });
    this.#questions = new GrantQuestions(approvals, this.#book, onError);
    this.#answered = new AnsweredGrants({ approvals, book: this.#book, newId });
    this.escort = together([parts.escort, this.#noticing]);
    this.#watch = new ClosureWatch({
      book: this.#book,
      now: this.#now,
      onError,
      journal,
      newId,
      stopping,
      ensure: (key) => checkPlace({ ...parts, newId, placeOf: (of) => this.#placeOf(of) }, key),
    });
  }

  /** Nothing that a former daemon started runs any more. */
  start(): void {
    this.uses.settleLost();
    this.#questions.settleLost();
    this.#watch.start();
  }

  stop(): void {
    this.#stopping = true;
    this.#watch.stop();
    this.#book.save();
  }

  /** A session that is new: whatever an earlier one held there ends. */
  sessionOpened({ project, worktree }: LedgerKey): void {
    this.#endSession({ project, worktree }, "its session is over: another one was opened");
  }

  /** A daemon that stops ends nothing: grants go on with their sessions, or end by their time. */
  sessionClosed({ project, worktree, id }: Session): void {
    if (!this.#stopping) this.#endSession({ project, worktree }, `the session ${id} was closed`);
  }

  /** What grants and contract say about an action of the session; null: nothing, and at no cost. */
  bind(session: Session, profile: Profile, presented: Presented): Binding | null {
    const state = this.#book.get(session)?.state ?? null;
    if (state === null && presented.handle === undefined) return null;
    const choice = profile.grants ?? "pick";
    return bind({ state, presented, choice, worktree: session.worktree, now: this.#now() });
  }

  /** Something that the session did may have changed files. */
  acted(session: LedgerKey): void {
    this.#watch.acted(session);
  }

  /** Answers for a person, whose right to was checked. Throws what either kind of answer throws. */
  answer(approval: PendingApproval, answer: Answer, uid: number): PendingApproval {
    const { approvals } = this.#parts;
    const given = this.#answered.answer(approval, answer, uid);
    return given ?? approvals.answer(approval.id, answer, uid);
  }

  setContract(caller: Caller, at: WorktreeName & { readonly text: string }): Promise<ContractInfo> {
    return this.#contracts.setContract(caller, at);
  }

  clearContract(caller: Caller, at: WorktreeName): Promise<void> {
    return this.#contracts.clearContract(caller, at);
  }

  contracts(caller: Caller, project?: string): readonly ContractInfo[] {
    return this.#contracts.contracts(caller, project);
  }

  setPhase(caller: Caller, at: WorktreeName & { readonly phase: string }): Promise<ContractInfo> {
    return this.#contracts.setPhase(caller, at);
  }

  grants(caller: Caller, project?: string): readonly GrantInfo[] {
    requireAdmin(caller);
    if (project !== undefined) requireProject(this.#parts.registry, project);
    return this.#book
      .all()
      .filter((ledger) => project === undefined || ledger.project === project)
      .flatMap((ledger) => grantInfos(ledger, this.#now()));
  }

  async revoke(caller: Caller, handle: string, reason: string): Promise<GrantInfo> {
    requireAdmin(caller);
    const ledger = this.#book.all().find((each) => grantInfo(each, handle, this.#now()) !== null);
    if (ledger === undefined) throw unknownGrant(handle);
    requireRight(caller, "orchestrate", ledger.project);
    this.#contracts.requirePerson(caller, ledger.project);
    const { uid } = caller;
    const waits = ledger.state.pending.some((each) => each.handle === handle);
    const command = waits
      ? ({ type: "refuse", handle, by: `uid ${uid}`, reason } as const)
      : ({ type: "revoke", handle, by: `uid ${uid}`, reason } as const);
    return this.#ended(ledger, command, { uid, session: null });
  }

  interface(caller: Caller, id: string): AuthorityInterface {
    return this.#shown(this.#parts.sessions.visible(caller, id));
  }

  watchInterface(caller: Caller, id: string, signal: AbortSignal): AsyncIterable<InterfaceChange> {
    const session = this.#parts.sessions.visible(caller, id);
    const ends = [signal, session.closed.signal, this.#parts.stopping];
    return untilStop(ends, (until) => this.#changes(session, until));
  }

  async *#changes(session: Session, until: AbortSignal): AsyncGenerator<InterfaceChange> {
    const news = new Channel<null>(WATCH_BACKLOG_MAX);
    const stop = this.#book.subscribe(({ project, worktree }) => {
      // One is enough to look again.
      if (project === session.project && worktree === session.worktree && !news.full) {
        void news.push(null);
      }
    });
    const end = () => news.end();
    until.addEventListener("abort", end, { once: true });
    if (until.aborted) end();
    try {
      let before = this.#shown(session);
      yield { interface: before, diff: null };
      for await (const _ of news) {
        const after = this.#shown(session);
        const diff = diffInterfaces(before, after);
        if (diff === null) continue;
        before = after;
        yield { interface: after, diff };
      }
    } finally {
      stop();
      until.removeEventListener("abort", end);
    }
  }

  async request(
    caller: Caller,
    id: string,
    { rule, reason, narrow, waitMs }: GrantRequest,
    signal: AbortSignal,
    onPending?: (approval: string) => void,
  ): Promise<GrantAnswer> {
    const { adminWall, newId } = this.#parts.deps;
    const session = this.#parts.sessions.owned(caller, id);
    const handle = newId("grant");
    const narrowed = narrow === undefined ? {} : { narrow };
    const command = { type: "request", rule, reason, handle, ...narrowed } as const;
    const by = { uid: session.uid, session: session.id };
    const { outcome, state } = this.#book.step(session, command, by);
    if (!outcome.ok) throw grantRefused(outcome);
    const contract = state.contract;
    const asking = state.pending.find((each) => each.handle === handle);
    if (asking === undefined || contract === null) return this.#granted(session, handle, null);
    const { profile } = this.#placeOf(session);
    let approval: PendingApproval;
    try {
      const agentCouldApprove = couldApprove(caller, adminWall());
      const asker = { session: session.id, uid: session.uid, agentCouldApprove };
      const key = { project: session.project, worktree: session.worktree };
      approval = this.#questions.file(key, asking, contract, asker, profile.approvalWaitMs);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#book.step(session, { type: "refuse", handle, by: "recintod", reason: why }, DAEMON);
      throw error;
    }
    onPending?.(approval.id);
    const over = await this.#answeredIn(approval, waitMs ?? profile.approvalWaitMs, signal);
    if (over.state === "pending") return this.#granted(session, handle, over.id);
    if (over.state === "approved") return this.#granted(session, handle, null);
    const who = over.state === "denied" ? "a person said no" : over.state;
    throw new RecintoError("grant-refused", over.reason ? `${who}: ${over.reason}` : who, {
      details: { code: over.state, approval: over.id },
    });
  }

  grant(caller: Caller, id: string, handle: string): GrantInfo {
    const info = this.#info(this.#parts.sessions.owned(caller, id), handle);
    if (info === null) throw unknownGrant(handle);
    return info;
  }

  async release(caller: Caller, id: string, handle: string): Promise<GrantInfo> {
    const session = this.#parts.sessions.owned(caller, id);
    this.grant(caller, id, handle);
    const by = { uid: session.uid, session: session.id };
    const { project, worktree } = session;
    return this.#ended({ project, worktree }, { type: "release", handle } as const, by);
  }

  async check(caller: Caller, id: string, closure: string): Promise<ClosureCheck> {
    const { project, worktree } = this.#parts.sessions.owned(caller, id);
    return this.#watch.check({ project, worktree }, closure);
  }

  #info(key: LedgerKey, handle: string): GrantInfo | null {
    const ledger = this.#book.get(key);
    return ledger === null ? null : grantInfo(ledger, handle, this.#now());
  }

  /** Ends it and waits until nothing lives on it. */
  async #ended(
    key: LedgerKey,
    command: Extract<Parameters<LedgerBook["step"]>[1], { readonly handle: string }>,
    by: Parameters<LedgerBook["step"]>[2],
  ): Promise<GrantInfo> {
    const { handle } = command;
    const asked = this.#info(key, handle);
    const { outcome } = this.#book.step(key, command, by);
    if (!outcome.ok) throw grantRefused(outcome);
    await this.uses.closed(key, handle);
    // A request that never was a grant leaves nothing to remember.
    const withdrawn = { ...asked, state: "closed", cause: "the request is over" } as const;
    return this.#info(key, handle) ?? (withdrawn as GrantInfo);
  }

  #endSession(key: LedgerKey, reason: string): void {
    const held = this.#book.get(key)?.state;
    if (held === undefined || (held.grants.length === 0 && held.pending.length === 0)) return;
    this.#book.step(key, { type: "sessionEnded", reason }, DAEMON);
  }

  #granted(session: Session, handle: string, approval: string | null): GrantAnswer {
    const shown = this.#shown(session);
    const grant = shown.grants.find((each) => each.handle === handle) ?? null;
    const outcome = approval === null ? "granted" : "pending";
    return { outcome, handle, epoch: shown.epoch, grant, approval };
  }

  async #answeredIn(
    approval: PendingApproval,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<PendingApproval> {
    const { approvals } = this.#parts;
    if (waitMs <= 0 || signal.aborted) return approvals.get(approval.id);
    let give: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      give = resolve;
    });
    const timer = setTimeout(give, Math.min(waitMs, 2 ** 31 - 1));
    signal.addEventListener("abort", give, { once: true });
    const letGo = approvals.wait(approval.id);
    try {
      await Promise.race([approvals.over(approval.id), late]);
      return approvals.get(approval.id);
    } finally {
      letGo();
      clearTimeout(timer);
      signal.removeEventListener("abort", give);
    }
  }

  #shown(session: Session): AuthorityInterface {
    const now = this.#now();
    const state = this.#book.get(session)?.state ?? newLedger(session.id, null, now);
    const { standing } = this.#placeOf(session).profile.policy;
    return interfaceOf({ ...state, session: session.id }, standing, now);
  }

  #placeOf({ project: id }: Pick<Session, "project">) {
    const { registry } = this.#parts;
    const project = registry.project(id);
    return { project, profile: registry.profile(project.profile) };
  }
}

function grantRefused(outcome: Extract<Outcome, { readonly ok: false }>): RecintoError {
  const { code, reason, renewal } = outcome;
  return new RecintoError("grant-refused", reason, {
    details: { code, ...(renewal === undefined ? {} : { renewal }) },
    ...(renewal === undefined ? {} : { hint: renewal.text }),
  });
}

/** The same words for what never was and what is another session's. */
function unknownGrant(handle: string): RecintoError {
  return new RecintoError("unknown-grant", `no grant ${JSON.stringify(handle)}`);
}

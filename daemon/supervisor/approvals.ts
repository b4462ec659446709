/** The questions put to people: filed, answered, timed out or cancelled, each recorded before it counts. */
import { RecintoError } from "../errors.ts";
import type { Journal, JournalEvent, NewEntry } from "../journal/types.ts";
import {
  APPROVAL_UNUSED_MAX_MS,
  APPROVALS_KEPT_MAX,
  PENDING_MAX,
  PENDING_PER_SESSION_MAX,
} from "../limits.ts";
import type { DenialBook } from "./denial-book.ts";
import { namedEndpoints } from "./endpoints.ts";
import { type KeptQuestion, LAPSED, questionData } from "./kept-question.ts";
import type { RuleStore } from "./rule-store.ts";
import type { ApprovalFilter, StoredRule } from "./supervisor-interface.ts";
import type { Answer, AuthorityInfo, PendingApproval } from "./types.ts";

/** What is asked: everything an approver is shown. */
export type Question = Omit<PendingApproval, "id" | "createdAt" | "expiresAt" | "state">;

export interface ApprovalsOptions {
  readonly journal: Journal;
  readonly denials: DenialBook;
  readonly rules: RuleStore;
  readonly now: () => number;
  readonly newId: (kind: "approval" | "authority" | "rule") => string;
  /** Something could not be recorded where nobody is there to be told. */
  readonly onError: (error: unknown) => void;
}

/** What a timer of Node can hold; a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

interface Filed {
  approval: PendingApproval;
  /** Names the same command of the same session; null: it cannot be sent again (its input is a stream). */
  readonly key: string | null;
  /** How many requests are held open by it. */
  waiting: number;
  /** Approved once, and no command has started on it yet. */
  unused: boolean;
  /** Ends the question, or lapses the approval. */
  timer: NodeJS.Timeout;
  readonly over: Promise<PendingApproval>;
  readonly settle: (approval: PendingApproval) => void;
}

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #filed = new Map<string, Filed>();
  readonly #listeners = new Set<(approval: PendingApproval) => void>();
  #left = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** Files a question that stays open for `timeoutMs`. Throws `too-many-pending`, `journal-failed`. */
  file(question: Question, key: string | null, timeoutMs: number): PendingApproval {
    const open = this.pending();
    const own = open.filter(({ session }) => session === question.session).length;
    if (own >= PENDING_PER_SESSION_MAX) throw tooMany(`${own} questions of this session`);
    if (open.length >= PENDING_MAX) throw tooMany(`${open.length} questions`);
    const createdAt = this.#options.now();
    const approval: PendingApproval = {
      ...question,
      id: this.#options.newId("approval"),
      createdAt,
      expiresAt: createdAt + timeoutMs,
      state: "pending",
    };
    this.#options.journal.append(
      this.#entry(approval, "approval.requested", questionData(approval, key)),
    );
    this.#keep(approval, key, timeoutMs);
    this.#prune();
    this.#tell(approval);
    return approval;
  }

  /** Takes over what a former daemon left: open questions, and approvals that no command has used. */
  restore(kept: readonly KeptQuestion[]): void {
    for (const { approval, key, leftMs } of kept) this.#keep(approval, key, leftMs);
  }

  #keep(approval: PendingApproval, key: string | null, leftMs: number): void {
    let settle: Filed["settle"] = () => undefined;
    const over = new Promise<PendingApproval>((resolve) => {
      settle = resolve;
    });
    const unused = approval.state === "approved";
    const timer = this.#timer(approval.id, unused, leftMs);
    const filed = { approval, key, waiting: 0, unused, timer, over, settle };
    this.#filed.set(approval.id, filed);
    if (unused) settle(approval);
  }

  /** By a timer and not by the time of day: a clock that is set prolongs nothing. */
  #timer(id: string, unused: boolean, ms: number): NodeJS.Timeout {
    const end = () =>
      unused ? this.#lapse(id) : this.#end(id, "timed-out", "nobody answered in time");
    return setTimeout(end, Math.min(ms, TIMER_MS_MAX)).unref();
  }

  /** Resolves once it is not pending any more, or this daemon does not wait for it any more. */
  over(id: string): Promise<PendingApproval> {
    return this.#find(id).over;
  }

  /**
   * The open question, or the approval that no command has used, for the same command of the same session: a client
   * that sends its command again takes it up.
   */
  forSame(key: string | null): PendingApproval | null {
    const now = this.#options.now();
    for (const { approval, key: filedKey, waiting, unused } of this.#filed.values()) {
      if (key === null || filedKey !== key || waiting > 0) continue;
      if (approval.state === "pending") return approval;
      const usable = unused && (approval.answeredAt ?? 0) + APPROVAL_UNUSED_MAX_MS > now;
      if (approval.state === "approved" && usable) return approval;
    }
    return null;
  }

  /** A request holds it open now; returns how to let go. */
  wait(id: string): () => void {
    const filed = this.#find(id);
    filed.waiting += 1;
    return () => {
      filed.waiting -= 1;
    };
  }

  /**
   * Uses up an approval: true exactly once, for the command that may start on it, also over a restart: it is on record
   * before the command is. Throws `journal-failed`.
   */
  use(id: string): boolean {
    const filed = this.#find(id);
    if (!filed.unused) return false;
    const { approval } = filed;
    const data = { action: approval.action };
    this.#options.journal.appendSoon([this.#entry(approval, "approval.used", data)]);
    filed.unused = false;
    clearTimeout(filed.timer);
    return true;
  }

  /**
   * Answers for a person; who may is checked by the caller of this. Nothing counts unless it was recorded. Throws
   * `approval-over`, `bad-request` for a width that is not offered, `journal-failed`.
   */
  answer(id: string, answer: Answer, uid: number, given?: AuthorityInfo): PendingApproval {
    const filed = this.#find(id);
    const { approval } = filed;
    if (approval.state !== "pending") {
      throw new RecintoError("approval-over", `approval ${id} is ${approval.state} already`);
    }
    const answered = { ...approval, answeredBy: uid, answeredAt: this.#options.now() };
    const key = { project: approval.project, worktree: approval.worktree, uid: approval.uid };
    if (answer.answer === "deny") {
      const denials = this.#options.denials.refused(key, approval.verdict);
      const reason = answer.reason ?? "";
      const denied = {
        ...answered,
        state: "denied" as const,
        ...(reason === "" ? {} : { reason }),
      };
      this.#record(denied, { answer: "deny", reason }, denials.entries);
      denials.commit();
      return this.#settle(filed, denied);
    }
    if (answer.mode === "grant")
      throw new TypeError("grants are given before they are answered for");
    if (answer.mode === "session" && approval.host === undefined) {
      throw new RecintoError("bad-request", "only a host can be allowed for a session", {
        hint: "approve the command once",
      });
    }
    const rule = answer.mode === "always" ? this.#ruleOf(answered, answer) : null;
    const authority = given ?? this.#authority(answered, rule, answer.mode);
    const approved = { ...answered, state: "approved" as const, authority };
    const denials = this.#options.denials.approved(key, approval.verdict);
    // The file comes first: a rule on record that was never stored would be the worse lie.
    if (rule !== null) this.#options.rules.save(approval.project, rule);
    const saved = rule === null ? [] : [this.#entry(approved, "rule.saved", { ...rule })];
    try {
      this.#record(approved, { answer: "approve", mode: answer.mode, authority }, [
        ...saved,
        ...denials.entries,
      ]);
    } catch (error) {
      if (rule !== null) this.#options.rules.revoke(approval.project, rule.id);
      throw error;
    }
    denials.commit();
    filed.unused = true;
    this.#settle(filed, approved);
    filed.timer = this.#timer(id, true, APPROVAL_UNUSED_MAX_MS);
    return approved;
  }

  /** Ends a question that nobody waits for any more; one that is over stays as it is. */
  cancel(id: string, reason: string): void {
    this.#end(id, "cancelled", reason);
  }

  /** What was asked or approved on a worktree, but not run, counts no more. Requests of grants end with their ledger. */
  withdraw(at: Pick<PendingApproval, "project" | "worktree">, reason: string): void {
    for (const [id, { approval }] of this.#filed) {
      if (approval.project !== at.project || approval.worktree !== at.worktree) continue;
      if (approval.grant !== undefined) continue;
      if (approval.state === "pending") this.cancel(id, reason);
      else this.#lapse(id, reason);
    }
  }

  /** The daemon stops: nobody waits on, and what is open stays open on record for the next one. */
  leave(): void {
    this.#left = true;
    for (const { timer, approval, settle } of this.#filed.values()) {
      clearTimeout(timer);
      settle(approval);
    }
  }

  get left(): boolean {
    return this.#left;
  }

  get(id: string): PendingApproval {
    return this.#find(id).approval;
  }

  /** Oldest first; answered ones as long as they are kept. */
  all(): readonly PendingApproval[] {
    return [...this.#filed.values()].map(({ approval }) => approval);
  }

  /** Oldest first. */
  matching({ state, project, session }: ApprovalFilter): readonly PendingApproval[] {
    return this.all().filter(
      (approval) =>
        (state === undefined || approval.state === state) &&
        (project === undefined || approval.project === project) &&
        (session === undefined || approval.session === session),
    );
  }

  pending(): readonly PendingApproval[] {
    return this.all().filter(({ state }) => state === "pending");
  }

  subscribe(listener: (approval: PendingApproval) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #end(id: string, state: "timed-out" | "cancelled", reason: string): void {
    const filed = this.#filed.get(id);
    if (filed === undefined || filed.approval.state !== "pending") return;
    const ended = { ...filed.approval, state, reason };
    const event = state === "timed-out" ? "approval.timed_out" : "approval.cancelled";
    try {
      this.#options.journal.append(
        this.#entry(ended, event, { approval: id, action: ended.action, reason }),
      );
    } catch (error) {
      // It ends all the same: nothing runs because of it, and recovery closes it on record at the next start.
      this.#options.onError(error);
    }
    this.#settle(filed, ended);
  }

  /** It stays approved to look at, but no command may start on it any more. */
  #lapse(id: string, reason = LAPSED): void {
    const filed = this.#filed.get(id);
    if (filed === undefined || !filed.unused) return;
    filed.unused = false;
    clearTimeout(filed.timer);
    const { approval } = filed;
    const data = { action: approval.action, reason };
    try {
      this.#options.journal.append(this.#entry(approval, "approval.lapsed", data));
    } catch (error) {
      // The next start finds its time over and records it then.
      this.#options.onError(error);
    }
  }

  #settle(filed: Filed, approval: PendingApproval): PendingApproval {
    clearTimeout(filed.timer);
    filed.approval = approval;
    filed.settle(approval);
    this.#tell(approval);
    return approval;
  }

  #ruleOf(approval: PendingApproval, answer: Extract<Answer, { mode: "always" }>): StoredRule {
    const offered = approval.verdict.always ?? [];
    const rule = offered[answer.width];
    if (rule === undefined) {
      throw new RecintoError(
        "bad-request",
        offered.length === 0
          ? "always is not offered for this command"
          : `width ${answer.width} is not one of the ${offered.length} offered`,
        { hint: "approve once, or show the approval to see which rules it offers" },
      );
    }
    const savedAt = this.#options.now();
    return {
      ...rule,
      id: this.#options.newId("rule"),
      savedAt,
      savedBy: approval.answeredBy ?? 0,
      expiresAt: answer.expiresInMs === undefined ? null : savedAt + answer.expiresInMs,
      savedFor: approval.command,
    };
  }

  #authority(
    approval: PendingApproval,
    rule: StoredRule | null,
    mode: "once" | "session" | "always",
  ): AuthorityInfo {
    const { session, command, cwd, verdict, host, answeredAt = 0 } = approval;
    const id = this.#options.newId("authority");
    if (rule === null && host !== undefined) {
      const until = mode === "session" ? "session" : "command";
      const resource = { kind: "host", host, until } as const;
      return { id, session, effects: ["network"], resource, hosts: [host], expires: null };
    }
    if (rule === null) {
      const hosts = namedEndpoints(verdict);
      return {
        id,
        session,
        effects: verdict.effects,
        resource: { kind: "command", command, cwd },
        ...(hosts.length === 0 ? {} : { hosts }),
        expires: answeredAt + APPROVAL_UNUSED_MAX_MS,
      };
    }
    const { prefix, effects, paths, hosts, expiresAt } = rule;
    const named = hosts === undefined ? {} : { hosts };
    const resource = { kind: "rule", rule: { prefix, effects, paths, ...named } } as const;
    return { id, session, effects, resource, ...named, expires: expiresAt };
  }

  #record(
    approval: PendingApproval,
    data: Readonly<Record<string, unknown>>,
    more: readonly NewEntry[],
  ): void {
    const { id, action } = approval;
    const waitedMs = (approval.answeredAt ?? approval.createdAt) - approval.createdAt;
    const whole = { approval: id, action, waitedMs, ...data };
    this.#options.journal.appendAll([this.#entry(approval, "approval.answered", whole), ...more]);
  }

  /** Caused by who answered; while nobody has, by who asked. */
  #entry(
    approval: PendingApproval,
    event: JournalEvent,
    data: Readonly<Record<string, unknown>>,
  ): NewEntry {
    const { project, session, uid, answeredBy, id } = approval;
    return { event, project, session, uid: answeredBy ?? uid, data: { approval: id, ...data } };
  }

  #find(id: string): Filed {
    const filed = this.#filed.get(id);
    if (filed === undefined) {
      throw new RecintoError("unknown-approval", `no approval ${JSON.stringify(id)}`);
    }
    return filed;
  }

  #prune(): void {
    let answered = this.#filed.size - this.pending().length;
    for (const [id, { approval, waiting }] of this.#filed) {
      if (answered <= APPROVALS_KEPT_MAX) return;
      if (approval.state === "pending" || waiting > 0) continue;
      this.#filed.delete(id);
      answered -= 1;
    }
  }

  #tell(approval: PendingApproval): void {
    for (const listener of this.#listeners) listener(approval);
  }
}

function tooMany(what: string): RecintoError {
  return new RecintoError("too-many-pending", `${what} wait for an answer already`);
}

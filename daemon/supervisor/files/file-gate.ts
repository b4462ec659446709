/** One file operation, start to end: judged, recorded, asked about, done, recorded; the same steps as for a command. */
import { createHash } from "node:crypto";
import type { Contract } from "../../authority/types.ts";
import { RecintoError } from "../../errors.ts";
import type { Journal } from "../../journal/types.ts";
import { evaluateFile, type FileRequest, fileText } from "../../policy/evaluate-file.ts";
import type { EvaluateInput, Verdict } from "../../policy/types.ts";
import type { Approvals } from "../approvals.ts";
import { type Asked, askPerson } from "../ask-person.ts";
import type { AuthorityDesk } from "../authority/authority-desk.ts";
import type { Rests } from "../authority/binding.ts";
import type { Use } from "../authority/uses.ts";
import type { DenialBook } from "../denial-book.ts";
import type { Escort } from "../escort.ts";
import { couldApprove } from "../identity.ts";
import { joinSignals } from "../joined-signal.ts";
import type { Judged } from "../judge.ts";
import type { SupervisorDeps } from "../ports.ts";
import {
  type ActionContext,
  actionEntry,
  type RunContext,
  refusalEntry,
  refusedByPolicy,
  refusedUse,
  throwIfOver,
} from "../run-context.ts";
import type { SessionDesk } from "../session-desk.ts";
import type { Sessions } from "../sessions.ts";
import type { Caller, Refusal } from "../types.ts";
import type { FileCall } from "./file-calls.ts";
import { GrantedFiles, type JudgedBy, unserved } from "./granted-files.ts";
import { type StagedContent, Stages } from "./staged-content.ts";
import { whileAllowed } from "./while-allowed.ts";

export interface FileGateParts {
  readonly deps: Pick<SupervisorDeps, "adminWall" | "config" | "newId" | "now">;
  readonly journal: Journal;
  readonly approvals: Approvals;
  readonly denials: DenialBook;
  readonly sessions: Sessions;
  readonly desk: SessionDesk;
  readonly authority: Pick<AuthorityDesk, "acted" | "uses">;
  /** Told of an approved change of a protected file, which would be taken back otherwise. */
  readonly protection: Escort;
  /** Aborts when the daemon stops. */
  readonly stopping: AbortSignal;
  /** Throws when nothing new may begin. */
  readonly refuseWhenClosing: () => void;
}

export interface Operation {
  readonly request: FileRequest;
  /** What else makes it this operation and no other, in a few words: shown and part of what is approved. */
  readonly detail?: string;
  /** What is to be written. It is read before a person is asked, and else as it comes. */
  readonly content?: AsyncIterable<Uint8Array>;
  /** What an approver is shown of the content, when not its beginning. */
  readonly show?: (staged: StagedContent) => Promise<string>;
}

/** An operation that may be done now. `done` or `failed` ends it, exactly once. */
export interface Granted {
  readonly files: GrantedFiles;
  readonly content: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
  /** Puts the outcome on record. Throws `file-changed` when a protected file was put back after all. */
  done(outcome: Readonly<Record<string, unknown>>): Promise<void>;
  /** Puts on record that it failed. */
  failed(error: unknown): Promise<void>;
}

/** Resolves with why a protected file was put back, or null. */
type Guard = () => Promise<string | null>;

type FileContext = Omit<RunContext, "command">;

export class FileGate {
  readonly #parts: FileGateParts;
  readonly #stages: Stages;

  constructor(parts: FileGateParts) {
    this.#parts = parts;
    const { config, newId } = parts.deps;
    this.#stages = new Stages(`${config.stateDir}/staged`, () => newId("action"));
  }

  /** The session's worktree, to make paths absolute before anything else. Throws `unknown-session`, `not-permitted`. */
  worktree({ caller, session }: Pick<FileCall, "caller" | "session">): string {
    return this.#parts.sessions.owned(caller, session).worktree;
  }

  /** The verdict alone. */
  async check(caller: Caller, id: string, request: FileRequest): Promise<Verdict> {
    const { sessions, desk } = this.#parts;
    const session = sessions.owned(caller, id);
    const text = fileText(request, session.worktree);
    const judge = (input: EvaluateInput) => evaluateFile({ ...input, request });
    return (await desk.judge(session, text, session.worktree, judge)).verdict;
  }

  /** Does it and records it. */
  async run<T>(
    call: FileCall,
    operation: Operation,
    act: (granted: Granted) => Promise<T> | T,
    outcome: (result: T) => Readonly<Record<string, unknown>>,
  ): Promise<T> {
    const granted = await this.open(call, operation);
    let result: T;
    try {
      result = await act(granted);
    } catch (error) {
      await granted.failed(error);
      throw error;
    }
    await granted.done(outcome(result));
    return result;
  }

  /** Throws the refusal, `not-served`, and what the content's source throws. */
  async open(call: FileCall, operation: Operation): Promise<Granted> {
    const { refuseWhenClosing, sessions, desk, deps, stopping } = this.#parts;
    refuseWhenClosing();
    const session = sessions.owned(call.caller, call.session);
    const over = sessions.begin(session);
    const giveUp = joinSignals(call.signal, session.closed.signal, stopping);
    const ends: (() => void)[] = [over, () => giveUp.release()];
    try {
      const { project, profile } = desk.place(session);
      const context: FileContext = {
        session,
        project,
        profile,
        action: deps.newId("action"),
        agentCouldApprove: couldApprove(call.caller, deps.adminWall()),
        signal: giveUp.signal,
      };
      const { verdict, by, staged, rests, contract } = await this.#judge(call, operation, context);
      if (staged !== null) ends.push(() => void staged.close());
      throwIfOver(giveUp.signal);
      const guard = await this.#guarded(context, verdict);
      const use = this.#begin(context, verdict, rests, contract);
      const held = joinSignals(giveUp.signal, use.signal);
      ends.push(
        () => use.finish(),
        () => held.release(),
      );
      const { signal } = held;
      const files = this.#recorded(context, () => new GrantedFiles(verdict, by, rests?.fit));
      ends.push(() => files.close());
      const content = staged?.read() ?? operation.content ?? nothing();
      return this.#granted({ ...context, signal }, files, content, ends, guard);
    } catch (error) {
      for (const end of ends.reverse()) end();
      throw error;
    }
  }

  /** The check under the lock, right before anything is done. Throws the refusal. */
  #begin(
    context: FileContext,
    verdict: Verdict,
    rests: Rests | null,
    contract: Contract | null,
  ): Use {
    const on = rests ?? { handles: [], contract };
    const use = this.#parts.authority.uses.begin(context.session, on, context.action);
    if (!("refused" in use)) return use;
    const refusal = refusedUse(context, use);
    this.#parts.journal.append(refusalEntry(context, refusal));
    throw refusedError(refusal, verdict);
  }

  #granted(
    context: FileContext,
    files: GrantedFiles,
    content: AsyncIterable<Uint8Array>,
    ends: (() => void)[],
    guard: Guard,
  ): Granted {
    const { signal } = context;
    const end = async (
      event: "file.done" | "file.failed",
      data: Readonly<Record<string, unknown>>,
    ) => {
      try {
        const restored = await guard();
        if (restored !== null && event === "file.done") {
          this.#parts.journal.append(actionEntry(context, "file.failed", { reason: restored }));
          throw new RecintoError("file-changed", restored);
        }
        this.#parts.journal.append(actionEntry(context, event, data));
      } finally {
        for (const each of ends.splice(0).reverse()) each();
        this.#parts.authority.acted(context.session);
      }
    };
    return {
      files,
      signal,
      content: whileAllowed(content, signal),
      done: (outcome) => end("file.done", outcome),
      failed: (error) => end("file.failed", failure(error)),
    };
  }

  /** A protected file that a person let change is held to be as it is then. Asked when it was done. */
  async #guarded(context: FileContext, verdict: Verdict): Promise<Guard> {
    const { session, project, profile, action } = context;
    const rules = verdict.segments.flatMap(({ matches }) => matches.map(({ rule }) => rule));
    if (!rules.includes("ceiling/protected-file")) return async () => null;
    const sandbox = { exec: () => Promise.reject(new TypeError("no command runs here")) };
    const change = { session, project, profile, action, verdict, sandbox, approved: true };
    const { protection } = this.#parts;
    await protection.before(change);
    return async () => {
      const [restored] = await protection.after(change, false);
      return restored?.reason ?? null;
    };
  }

  async #judge(
    call: FileCall,
    operation: Operation,
    context: FileContext,
  ): Promise<{
    verdict: Verdict;
    by: JudgedBy;
    staged: StagedContent | null;
    /** null: a person approved it, or neither contract nor grants say anything. */
    rests: Rests | null;
    contract: Contract | null;
  }> {
    const { journal, denials } = this.#parts;
    const { request } = operation;
    const { session } = context;
    let by: JudgedBy | null = null;
    const evaluate = (input: EvaluateInput) => {
      by = input;
      return evaluateFile({ ...input, request });
    };
    const judge = () => this.#parts.desk.judge(session, text, session.worktree, evaluate, call);
    const text = fileText(request, session.worktree);
    const judged = await judge();
    const { verdict, settings } = judged;
    const denied = verdict.verdict === "deny" ? refusedByPolicy(context, verdict) : null;
    const counted = denied === null ? null : denials.refused(session, verdict);
    journal.appendAll([
      proposed(context, operation, judged, text),
      ...(denied === null ? [] : [refusalEntry(context, denied)]),
      ...(counted?.entries ?? []),
    ]);
    counted?.commit();
    if (denied !== null) throw refusedError(denied, verdict);
    const beyond = unserved(request, verdict, settings);
    if (beyond !== null) {
      return this.#recorded(context, () => {
        throw beyond;
      });
    }
    if (by === null) throw new TypeError("the policy was not asked");
    const contract = judged.rests?.contract ?? null;
    if (verdict.verdict === "allow") {
      return { verdict, by, staged: null, rests: judged.rests, contract };
    }
    const { asked, staged } = await this.#ask(call, operation, context, judged, judge);
    return { verdict: asked.verdict, by, staged, rests: null, contract };
  }

  async #ask(
    call: FileCall,
    operation: Operation,
    context: FileContext,
    judged: Judged,
    judge: () => ReturnType<SessionDesk["judge"]>,
  ): Promise<{ asked: Asked; staged: StagedContent | null }> {
    const { journal, approvals, denials, deps } = this.#parts;
    const { request, detail, content, show } = operation;
    const { session, profile, signal } = context;
    const waitMs = Math.min(call.waitMs ?? Number.POSITIVE_INFINITY, profile.approvalWaitMs);
    const staged =
      content === undefined ? null : await this.#stages.take(whileAllowed(content, signal));
    try {
      const what = [
        ...(detail === undefined ? [] : [detail]),
        ...(staged === null ? [] : [`${staged.bytes} bytes`, `sha256 ${staged.sha256}`]),
      ];
      const text = fileText(request, session.worktree);
      const command = {
        command: what.length === 0 ? text : `${text} (${what.join(", ")})`,
        cwd: session.worktree,
        stdin: undefined,
        ...(staged === null ? {} : { stdinShown: await (show?.(staged) ?? staged.shown) }),
        tty: null,
        detach: false,
        timeoutMs: 0,
        idleTimeoutMs: null,
        outputBytesMax: 0,
        waitMs,
        key: digest(JSON.stringify([request, detail, staged?.sha256])),
      };
      const whole = { ...context, command };
      const asking = askPerson({ approvals, denials, now: deps.now, judge }, whole, judged);
      for (;;) {
        const step = await asking.next();
        if (!step.done) {
          if (step.value.type === "pending") call.onPending?.(step.value.approval);
          continue;
        }
        if (step.value.type === "approved") return { asked: step.value, staged };
        journal.append(refusalEntry(whole, step.value));
        throw refusedError(step.value, judged.verdict);
      }
    } catch (error) {
      await staged?.close();
      throw error;
    }
  }

  /** What goes wrong before anything is done is a refusal on record. */
  #recorded<T>(context: FileContext, act: () => T): T {
    try {
      return act();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#parts.journal.append(actionEntry(context, "action.refused", { by: "failure", reason }));
      throw error;
    }
  }
}

function proposed(
  context: ActionContext,
  { request, detail }: Operation,
  { verdict }: Judged,
  command: string,
) {
  const { effects, classes, roots, reason, segments } = verdict;
  // Without what a command is judged again by: an operation is no text that could be.
  return actionEntry(context, "proposed_action.created", {
    command,
    cwd: context.session.worktree,
    file: { ...request, ...(detail === undefined ? {} : { detail }) },
    verdict: verdict.verdict,
    effects,
    classes,
    roots,
    reason,
    rules: segments.map(({ text, verdict, rung, rule }) => ({ text, verdict, rung, rule })),
  });
}

function refusedError(refusal: Refusal, { verdict, segments }: Verdict): RecintoError {
  const { by, action, reason, instead, approval } = refusal;
  const rule = segments.find((segment) => segment.verdict === verdict)?.rule;
  const details = {
    by,
    action,
    ...(rule === undefined ? {} : { rule }),
    ...(approval === undefined ? {} : { approval }),
  };
  return new RecintoError("refused", reason, {
    details,
    ...(instead === undefined ? {} : { hint: instead }),
  });
}

function failure(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof RecintoError)) return { code: "internal", reason: String(error) };
  return { code: error.code, reason: error.message, ...error.details };
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

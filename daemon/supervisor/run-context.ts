/** What the steps of one command share: who, where, what, and how they put it on record. */
import { RecintoError } from "../errors.ts";
import type { Journal, JournalEvent, NewEntry } from "../journal/types.ts";
import type { Verdict } from "../policy/types.ts";
import type { Profile, Project } from "../settings/types.ts";
import type { Approvals } from "./approvals.ts";
import type { RefusedUse, Uses } from "./authority/uses.ts";
import type { CommandSlots } from "./command-slots.ts";
import type { DenialBook } from "./denial-book.ts";
import type { EgressDesk } from "./egress-desk.ts";
import type { Escort } from "./escort.ts";
import type { NewId } from "./ids.ts";
import type { JobDesk } from "./jobs/job-desk.ts";
import type { SandboxPort } from "./ports.ts";
import type { PreparedCommand } from "./prepared-command.ts";
import type { JudgedInSession } from "./session-desk.ts";
import type { Session } from "./sessions.ts";
import type { Refusal } from "./types.ts";
import type { WorktreePolicy } from "./worktree-policies.ts";

export interface RunDeps {
  readonly journal: Journal;
  readonly approvals: Approvals;
  readonly denials: DenialBook;
  readonly ensureSandbox: () => ReturnType<SandboxPort["ensure"]>;
  /** Goes with each command that is started. */
  readonly escort: Escort;
  readonly egress: Pick<EgressDesk, "open">;
  readonly slots: Pick<CommandSlots, "enter">;
  readonly jobs: Pick<JobDesk, "begin" | "add">;
  /** What runs on grants is begun and ended there. */
  readonly uses: Pick<Uses, "begin">;
  readonly now: () => number;
  readonly newId: NewId;
  /** Judges under rules, facts and counters as they are at this moment. */
  readonly judge: () => Promise<JudgedInSession>;
  /** Those of the policy files that the agent was not told about yet, recorded as told. */
  readonly tell: (ignored: readonly WorktreePolicy[]) => readonly WorktreePolicy[];
}

export interface RunContext {
  readonly session: Session;
  readonly project: Project;
  readonly profile: Profile;
  readonly command: PreparedCommand;
  readonly action: string;
  /** The agent's user could answer its own question. */
  readonly agentCouldApprove: boolean;
  /** What approving this verdict cannot reach outside of the sandbox, each with its reason. */
  readonly unreachable?: (verdict: Verdict) => readonly string[];
  /** The client left, the session was closed or the daemon stops. */
  readonly signal: AbortSignal;
}

/** What an entry about an action needs of it. */
export type ActionContext = Pick<RunContext, "action" | "session">;

/** An entry about this action, caused by its session's user. */
export function actionEntry(
  { session, action }: ActionContext,
  event: JournalEvent,
  data: Readonly<Record<string, unknown>>,
): NewEntry {
  const { project, id, uid } = session;
  return { event, project, session: id, uid, data: { action, ...data } };
}

export function refusalEntry(context: ActionContext, refusal: Refusal): NewEntry {
  const { type: _, action: __, ...data } = refusal;
  return actionEntry(context, "action.refused", data);
}

/** A grant was not there any more when it was to start. */
export function refusedUse(
  { action }: Pick<ActionContext, "action">,
  { refused, instead }: RefusedUse,
): Refusal {
  const more = instead === undefined ? {} : { instead };
  return { type: "refused", by: "policy", action, reason: refused, ...more };
}

export function refusedByPolicy(
  { action }: Pick<ActionContext, "action">,
  verdict: Verdict,
): Refusal {
  const instead = verdict.instead === undefined ? {} : { instead: verdict.instead };
  return { type: "refused", by: "policy", action, reason: verdict.reason, ...instead };
}

/** Throws why the command is given up, once it is. */
export function throwIfOver(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const { reason } = signal;
  throw reason instanceof RecintoError
    ? reason
    : new RecintoError("busy", "the command was given up before it started", {
        hint: "send it again",
      });
}

/** What stands by the entries so far: kept beside them in the same transaction, so that a start need not read them all. */
import type { JournalEvent } from "./types.ts";

/**
 * `question`: until it is over; one that was approved until a command has used it. `approval`: the answer to such a
 * one. `exec`, `import`, `background` (what a command left running): begun, and its end is not on record. `denials`, `session-rules`, `contract`: the newest state of each key.
 */
export type StandingKind =
  | "session"
  | "exec"
  | "background"
  | "question"
  | "approval"
  | "import"
  | "denials"
  | "session-rules"
  | "contract";

export interface StandingChange {
  readonly kind: StandingKind;
  readonly id: string;
  /** false: it is over with this entry. */
  readonly stands: boolean;
}

export interface Changing {
  readonly event: JournalEvent;
  readonly project: string | null;
  readonly session: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

type Rule = (entry: Changing) => readonly StandingChange[];

const opens =
  (kind: StandingKind, field: string): Rule =>
  ({ data }) => [{ kind, id: String(data[field]), stands: true }];
const ends =
  (kinds: readonly StandingKind[], field: string): Rule =>
  ({ data }) =>
    kinds.map((kind) => ({ kind, id: String(data[field]), stands: false }));

const questionOver = ends(["question", "approval"], "approval");

const denials: Rule = ({ data }) => {
  const { project, worktree, uid, state } = data as {
    project: unknown;
    worktree: unknown;
    uid: unknown;
    state: { total: number; consecutive: object };
  };
  const stands = state.total > 0 || Object.keys(state.consecutive).length > 0;
  return [{ kind: "denials", id: JSON.stringify([project, worktree, uid]), stands }];
};

const sessionRules: Rule = ({ data }) => {
  const { project, worktree, forUid, rules, merge } = data;
  // No rules and no merging still says something: that no lower source holds.
  const stands = (rules as readonly unknown[]).length > 0 || merge !== true;
  return [{ kind: "session-rules", id: JSON.stringify([project, worktree, forUid]), stands }];
};

const contract: Rule = ({ project, data }) => {
  const { contract } = (data.step ?? {}) as { contract?: unknown };
  const stands = contract !== null && contract !== undefined;
  return [{ kind: "contract", id: JSON.stringify([project, data.worktree]), stands }];
};

const RULES: Readonly<Partial<Record<JournalEvent, Rule>>> = {
  "session.opened": ({ session }) => [{ kind: "session", id: String(session), stands: true }],
  "session.closed": ({ session }) => [{ kind: "session", id: String(session), stands: false }],
  "exec.started": opens("exec", "exec"),
  "exec.exited": ends(["exec"], "exec"),
  "exec.lost": ends(["exec"], "exec"),
  "job.left": opens("background", "exec"),
  "job.ended": ends(["background"], "exec"),
  "approval.requested": opens("question", "approval"),
  "approval.answered": (entry) =>
    entry.data.answer === "approve" ? opens("approval", "approval")(entry) : questionOver(entry),
  "approval.timed_out": questionOver,
  "approval.cancelled": questionOver,
  "approval.used": questionOver,
  "approval.lapsed": questionOver,
  "git.import.intended": opens("import", "action"),
  "git.imported": ends(["import"], "action"),
  "git.left": ends(["import"], "action"),
  "denials.changed": denials,
  "denials.reset": denials,
  "session.rules": sessionRules,
  "contract.set": contract,
};

/** The events that change what stands. */
export const STANDING_EVENTS = Object.keys(RULES) as readonly JournalEvent[];

export function standingChanges(entry: Changing): readonly StandingChange[] {
  return RULES[entry.event]?.(entry) ?? [];
}

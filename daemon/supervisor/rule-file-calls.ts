/** What admins may call about rule files: see them, trust one that an agent can write, give a session its own. */
import type { Decision } from "../policy/types.ts";
import type { Caller } from "./types.ts";

/** One rule file as it stands: an admin's, one in a worktree, or what was given to a session. */
export interface RuleFileInfo {
  /** Absolute; the worktree for rules of a session. */
  readonly file: string;
  readonly source: "session" | "project" | "user";
  /** The project, the user it is named for, or the uid that a session's rules are for (`any`). */
  readonly owner: string;
  /**
   * `kept`: an edit cannot be used, what it said before holds. `broken`: it cannot be used, and where an admin holds
   * it everything asks meanwhile. `not-trusted`: it counts for nothing until a person trusts this content.
   */
  readonly state: "in-force" | "kept" | "broken" | "trusted" | "not-trusted";
  /** False: lower sources do not hold. */
  readonly merge: boolean;
  readonly rules: readonly {
    readonly id: string;
    readonly action: Decision;
    /** As people write it. */
    readonly rule: string;
    readonly justification?: string;
  }[];
  /** Of a file in a worktree, hex. */
  readonly sha256?: string;
  readonly problem?: string;
  /** Of a session's rules. Unix milliseconds; null: until they are taken back. */
  readonly expiresAt?: number | null;
}

export interface SessionRulesRequest {
  readonly project: string;
  /** Absolute, or relative to the project's root. */
  readonly worktree: string;
  /** Whom they are for; anybody on the worktree when absent. */
  readonly uid?: number;
  /** A rule file in either format; one without rules takes back what was given. */
  readonly text: string;
  readonly expiresInMs?: number;
}

/** Off the admin socket each of them is `not-permitted`; without such a project `unknown-project`. */
export interface RuleFileCalls {
  list(caller: Caller, project: string): readonly RuleFileInfo[];
  /**
   * A person has read `file`, whose content has this SHA-256. Never a uid that agents use (`agent-cannot-approve`).
   * Errors: not-found, bad-rules, facts-changed.
   */
  trust(caller: Caller, project: string, file: string, sha256: string): RuleFileInfo;
  /** Forgets every trusted content of the file's name (absolute or below a root); how many there were. */
  distrust(caller: Caller, project: string, file: string): number;
  /** Rules for whoever works on a worktree, above the project's own. Errors: unknown-worktree, bad-rules, agent-cannot-approve. */
  giveSession(caller: Caller, request: SessionRulesRequest): RuleFileInfo;
}

/** What admins may ask about the private git dirs of sandboxes, and take back. */
import type { JournalEntry } from "../journal/types.ts";
import type { Caller } from "./types.ts";

/** One sandbox's git beside its host's. Branch names are short; null: detached, or cannot be told. */
export interface GitStatus {
  readonly project: string;
  readonly worktree: string;
  /** The host's common dir. */
  readonly repository: string;
  readonly host: string | null;
  /** What the sandbox says that it is on. */
  readonly sandbox: string | null;
  /** Where the host's worktree stands; null: on a branch without a commit. */
  readonly commit: string | null;
  /** The sandbox's own branches besides the one its worktree is on. */
  readonly own: readonly string[];
  /** Why commits stayed in the sandbox last time; null: they did not. */
  readonly left: string | null;
}

/** Off the admin socket all reject: `not-permitted`. */
export interface GitCalls {
  /** Errors: unknown-project. */
  status(caller: Caller, project?: string): Promise<readonly GitStatus[]>;
  /** Takes the `git.imported` at `seq` of the journal back. Errors: not-found, import-over. */
  undo(caller: Caller, seq: number): Promise<JournalEntry>;
}

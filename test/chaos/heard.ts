/** What the load is told to do, and what it writes down. */

export interface LoadOptions {
  readonly name: string;
  readonly uid: number;
  readonly socketPath: string;
  readonly worktree: string;
  /** Where it writes what it hears, one JSON object a line. */
  readonly heard: string;
  readonly seed: number;
}

/** What a client was told; whatever it was told must be on record. */
export type Heard =
  | { readonly type: "action"; readonly id: string; readonly action: string }
  | { readonly type: "pending"; readonly id: string; readonly approval: string }
  | { readonly type: "started"; readonly id: string; readonly exec: string }
  | {
      readonly type: "exit";
      readonly id: string;
      readonly exec: string;
      readonly exitCode: number | null;
    }
  | { readonly type: "refused"; readonly id: string; readonly by: string }
  | { readonly type: "failed"; readonly id: string; readonly code: string };

/** What no other program on the machine sleeps for, so that a process that stays behind is known. */
export const MARK_SECONDS = 31_415.926;

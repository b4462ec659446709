/** What a worktree's watcher reports and what the policy is told about paths. */

export type HazardKind =
  | "escaping-link"
  | "nested-git"
  | "fifo"
  | "socket"
  | "device"
  | "setuid"
  | "odd-name";

export interface Hazard {
  /** Stable for the same kind and path while it lasts. */
  readonly id: string;
  readonly kind: HazardKind;
  /** Absolute path of the thing. */
  readonly path: string;
  /** For links: the text of the link, and where it leads (null: dangling or a loop). */
  readonly target?: string;
  readonly resolved?: string | null;
  readonly foundAt: number;
  readonly reason: string;
}

export interface WatcherStatus {
  readonly mode: "watch" | "scan" | "chokidar";
  readonly ready: boolean;
  readonly folders: number;
  readonly watches: number;
  /** Why it is not watching everything at once, when it is not. */
  readonly degraded: string | null;
}

export interface WorktreeWatcher {
  /**
   * Resolves when the whole tree was walked once and every folder is watched. Setuid files that were there before are
   * found a moment later.
   */
  readonly ready: Promise<void>;
  hazards(): readonly Hazard[];
  /** Resolves when everything that happened before this call was looked at. */
  settled(): Promise<void>;
  status(): WatcherStatus;
  close(): Promise<void>;
}

/** What the use cases need from the rest of the daemon; main.ts passes the real ones, unit tests small ones. */
import type { Journal } from "../journal/types.ts";
import type { EvaluateInput, Verdict } from "../policy/types.ts";
import type { EngineInfo } from "../sandbox/engine.ts";
import type { Sandboxes, SandboxesOptions, SandboxHandle } from "../sandbox/sandboxes.ts";
import type { Registry, RegistryEvent } from "../settings/registry.ts";
import type { DaemonConfig, Profile, Project } from "../settings/types.ts";
import type { PrivateGits } from "../worktree/private-git/private-gits.ts";
import type { WorktreeWatcher } from "../worktree/types.ts";
import type { WatcherOptions } from "../worktree/watcher.ts";
import type { EgressDeskParts } from "./egress-desk.ts";
import type { AdminWall } from "./identity.ts";
import type { NewId } from "./ids.ts";

export interface SandboxPort
  extends Pick<Sandboxes, "adopt" | "executor" | "list" | "remove" | "removeProject" | "stopAll"> {
  ensure(
    project: Project,
    profile: Profile,
    worktree: string,
  ): Promise<
    Pick<SandboxHandle, "id" | "spec" | "confine" | "exec"> &
      Partial<Pick<SandboxHandle, "privateGit" | "executor">>
  >;
}

/** Lines for the daemon's log; pino's own shape. */
export interface Log {
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
}

/** All fields are required: nothing here has a default that a caller could forget. */
export interface SupervisorDeps {
  readonly config: Pick<DaemonConfig, "stateDir" | "agentsShareApproverUid">;
  /** What `config` was read from; null: no file, the defaults. */
  readonly configFile: string | null;
  /** Closed by `shutdown`. */
  readonly journal: Journal;
  readonly openRegistry: (onEvent: (event: RegistryEvent) => void) => Registry;
  readonly openSandboxes: (
    hooks: Required<Pick<SandboxesOptions, "onEvent" | "onError">>,
  ) => SandboxPort;
  /** The proxy for what leaves sandboxes; `record` throws where it could not be recorded. */
  readonly openEgress: EgressDeskParts["openEgress"];
  /** The git folders of sandboxes; the same that `openSandboxes` mounts. */
  readonly gits: PrivateGits;
  /** Throws `engine-unreachable`. */
  readonly engineInfo: () => Promise<EngineInfo>;
  readonly watch: (options: WatcherOptions) => WorktreeWatcher;
  readonly evaluate: (input: EvaluateInput) => Verdict;
  /** Read anew for each session and answer: an admin may change a group any time. */
  readonly adminWall: () => AdminWall;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly newId: NewId;
  readonly log: Log;
}

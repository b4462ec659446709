/** The words of authority that ends: what a contract comes to once it is compiled (C1). Plain values, all of them. */

/** What a grant or an envelope may be about. Engines, processes, privilege and the unknown are never granted. */
export const GRANTABLE_EFFECTS = [
  "read",
  "write",
  "run",
  "git-write",
  "network",
  "install",
] as const;
export type GrantableEffect = (typeof GRANTABLE_EFFECTS)[number];

/** What an effect is on. An empty list says nothing about its dimension. */
export interface Resource {
  /** Relative to the worktree: globs for reading; for writing `dir/**`, `**` or one file. */
  readonly paths: readonly string[];
  /** `example.org`, `*.example.org`, `**.example.org`, each with `:PORT` behind it where it is not 80 and 443. */
  readonly hosts: readonly string[];
  /** Beginnings of argument vectors. */
  readonly commands: readonly (readonly string[])[];
}

/** Part of the initial envelope E0. */
export interface EnvelopeEntry extends Resource {
  readonly effect: Exclude<GrantableEffect, "network" | "install">;
}

/** Part of Γ: something that may be asked for. */
export interface GrantRule extends Resource {
  readonly name: string;
  readonly effect: GrantableEffect;
  /** Why the rule is there: shown with every request and in the audit. */
  readonly description: string;
  /** The phases in which it may be asked for and lives; empty: any. */
  readonly phases: readonly string[];
  /** Names of closures. */
  readonly closes: readonly string[];
  readonly ttlMs: number;
  /** Whether the contract names the ttl, for the linter. */
  readonly ttlNamed: boolean;
  /** null: not counted. */
  readonly uses: number | null;
  readonly approval: "none" | "person";
}

/** What must be seen for a closure to fire; who sees it is the daemon, never the agent (C5). */
export type ClosureCondition =
  /** The daemon runs `argv` in the sandbox; it fires when that exits with `exit`. */
  | {
      readonly kind: "command";
      readonly argv: readonly string[];
      readonly exit: number;
      /** Relative to the worktree, "" for the worktree itself. */
      readonly cwd: string;
    }
  /** The orchestrator enters this phase. */
  | { readonly kind: "phase"; readonly phase: string }
  | { readonly kind: "file"; readonly path: string; readonly test: FileTest }
  /** So long after the grant was given. */
  | { readonly kind: "ttl"; readonly ms: number };

export type FileTest =
  | { readonly kind: "exists"; readonly exists: boolean }
  /** Lower-case hex of the whole content. */
  | { readonly kind: "sha256"; readonly hex: string }
  | { readonly kind: "contains"; readonly text: string };

/** Part of Λ. */
export interface Closure {
  readonly name: string;
  readonly when: ClosureCondition;
}

export interface Contract {
  readonly task: string;
  /** In the order they are worked through; the first is where a session starts. Empty: the task has none. */
  readonly phases: readonly string[];
  readonly envelope: readonly EnvelopeEntry[];
  readonly grants: readonly GrantRule[];
  readonly closures: readonly Closure[];
  /** G: what nothing below lifts. Any path glob; a command is denied by its beginning. */
  readonly deny: Resource;
}

export const NO_RESOURCE: Resource = { paths: [], hosts: [], commands: [] };

/** Contracts, phases, grants and interfaces as every way to the use cases calls them (docs/authority.md). */
import type { AuthorityInterface, InterfaceDiff, ShownGrant } from "../../authority/interface.ts";
import type { Narrowing } from "../../authority/ledger-types.ts";
import type { GrantableEffect, Resource } from "../../authority/types.ts";
import type { Caller } from "../types.ts";

/** A worktree of a project; on input by path or name, as for sessions. */
export interface WorktreeName {
  readonly project: string;
  readonly worktree: string;
}

/** Something in a contract, where it stands. Lines and columns start at 1. */
export interface ContractRemark {
  readonly line: number;
  readonly column: number;
  readonly key: string;
  readonly message: string;
}

/** A contract in force. */
export interface ContractInfo extends WorktreeName {
  readonly task: string;
  readonly phases: readonly string[];
  /** null: it has none. */
  readonly phase: string | null;
  readonly epoch: number;
  readonly text: string;
  readonly setAt: number;
  readonly setBy: number;
  /** What the linter says of it. */
  readonly warnings: readonly ContractRemark[];
}

export interface GrantRequest {
  /** A rule of the interface's `requestable`. */
  readonly rule: string;
  /** Why, for the audit and for the person who may be asked. */
  readonly reason: string;
  readonly narrow?: Narrowing;
  /** How long to wait for a person; 0: the answer is `pending` at once. The profile's when absent. */
  readonly waitMs?: number;
}

/** What a request came to. What is refused is thrown: `grant-refused`, with `code` and `renewal` in the details. */
export interface GrantAnswer {
  readonly outcome: "granted" | "pending";
  readonly handle: string;
  /** The epoch whose interface shows it. */
  readonly epoch: number;
  /** null: it waits. */
  readonly grant: ShownGrant | null;
  /** The question that a person is asked. */
  readonly approval: string | null;
}

/** A grant with all that is known of it, wherever it is in its life. */
export interface GrantInfo extends Resource {
  readonly project: string;
  readonly worktree: string;
  readonly handle: string;
  readonly state: "pending" | "live" | "spent" | "closing" | "closed";
  readonly rule: string | null;
  /** null: closed, and only its end is remembered; the journal has the rest. */
  readonly effect: GrantableEffect | null;
  readonly reason: string;
  /** Who let it be. null: nobody yet. */
  readonly by: string | null;
  readonly grantedAt: number | null;
  readonly expiresAt: number | null;
  /** null: not counted. */
  readonly usesLeft: number | null;
  /** Commands and file operations that run on it now. */
  readonly running: readonly string[];
  /** What ends it before its time. */
  readonly endsWith: readonly string[];
  /** What ended it. */
  readonly cause: string | null;
  /** How it comes back. */
  readonly renewal: string;
}

export interface InterfaceChange {
  readonly interface: AuthorityInterface;
  /** null: the first one. */
  readonly diff: InterfaceDiff | null;
}

/** What the daemon saw when it looked at a closure. */
export interface ClosureCheck {
  readonly closure: string;
  readonly fired: boolean;
  /** Of a command that ran; null: it did not, or was killed. */
  readonly exitCode: number | null;
  /** What was seen, in a few words. */
  readonly evidence: string;
  /** Handles that it ended. */
  readonly closed: readonly string[];
}

/**
 * Contracts and phases come from the admin side alone, never from a uid that agents use. An agent sees and touches the
 * authority of its own sessions.
 */
export interface AuthorityCalls {
  /** Admin. Every session on the worktree is under it from now on; what was granted under another one ends. Errors: bad-contract. */
  setContract(caller: Caller, at: WorktreeName & { readonly text: string }): Promise<ContractInfo>;
  /** Admin. The profile's standing permission is the envelope again. Errors: not-found. */
  clearContract(caller: Caller, at: WorktreeName): Promise<void>;
  /** Admin. */
  contracts(caller: Caller, project?: string): readonly ContractInfo[];
  /** Admin: the orchestrator moves on. Errors: not-found, bad-request for a phase that there is not. */
  setPhase(caller: Caller, at: WorktreeName & { readonly phase: string }): Promise<ContractInfo>;
  /** Admin. Pending ones and those that live or are closing, of all worktrees or of one project. */
  grants(caller: Caller, project?: string): readonly GrantInfo[];
  /** Admin. Resolves when nothing lives on it any more. Errors: unknown-grant, grant-refused. */
  revoke(caller: Caller, handle: string, reason: string): Promise<GrantInfo>;

  /** Exactly the authority that the session has now. */
  interface(caller: Caller, session: string): AuthorityInterface;
  /** What there is now, then every change, until `signal` aborts. */
  watchInterface(
    caller: Caller,
    session: string,
    signal: AbortSignal,
  ): AsyncIterable<InterfaceChange>;
  /** The session's owner. `onPending` is called when a person is asked. Errors: grant-refused, too-many-pending. */
  request(
    caller: Caller,
    session: string,
    request: GrantRequest,
    signal: AbortSignal,
    onPending?: (approval: string) => void,
  ): Promise<GrantAnswer>;
  /** The session's owner. Errors: unknown-grant. */
  grant(caller: Caller, session: string, handle: string): GrantInfo;
  /** The session's owner gives it back, or withdraws the request. Errors: unknown-grant, grant-refused. */
  release(caller: Caller, session: string, handle: string): Promise<GrantInfo>;
  /** The session's owner asks the daemon to look at a closure of a live grant. Errors: not-found, busy. */
  check(caller: Caller, session: string, closure: string): Promise<ClosureCheck>;
}

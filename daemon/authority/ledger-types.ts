/** The words of the ledger: its state, the commands that change it, what it answers and what it reports. Plain JSON. */
import type { Closure, Contract, GrantableEffect, Resource } from "./types.ts";

/** The layout of `LedgerState`; a state of another version is not read. */
export const LEDGER_VERSION = 1;

/** What ended a grant, or is ending it. */
export interface CloseCause {
  readonly kind: "closure" | "phase" | "ttl" | "uses" | "revoked" | "released";
  /** One sentence that names it: which test, which phase, who. */
  readonly text: string;
}

/** How a closed grant may come back. The agent alone only renews what ended by time or by itself (C5). */
export interface Renewal {
  readonly by: "request" | "person" | "phase" | "nobody";
  readonly text: string;
}

/** A temporary right, live or on its way out (C3). */
export interface Grant extends Resource {
  /** Opaque: random, given by the caller. Means nothing to any other session. */
  readonly handle: string;
  /** Rule of the contract; null for what a person gave besides it. */
  readonly rule: string | null;
  readonly effect: GrantableEffect;
  /** Why it is there, in the words of who asked or gave (C7). */
  readonly reason: string;
  /** Who let it be: the contract by itself, or a person. */
  readonly by: string;
  /** The first epoch whose interface shows it. */
  readonly epoch: number;
  /** Where it may live; empty: in any phase. */
  readonly phases: readonly string[];
  readonly closes: readonly Closure[];
  readonly grantedAt: number;
  readonly expiresAt: number;
  /** null: not counted. */
  readonly usesLeft: number | null;
  /** Commands and connections that run on it now. */
  readonly running: readonly string[];
  /**
   * `live`: usable. `spent`: its last use still runs, there is no other. `closing`: what runs on it is being killed.
   * Only a live one is in the interface.
   */
  readonly state: "live" | "spent" | "closing";
  readonly cause: CloseCause | null;
  readonly closingAt: number | null;
}

export interface PendingGrant extends Resource {
  readonly handle: string;
  readonly rule: string;
  readonly reason: string;
  readonly ttlMs: number;
  readonly uses: number | null;
  readonly requestedAt: number;
}

/** Kept so that a replay is told what closed it. */
export interface ClosedGrant {
  readonly handle: string;
  readonly rule: string | null;
  readonly closedAt: number;
  readonly cause: CloseCause;
  readonly renewal: Renewal;
}

export interface AuditEntry {
  readonly at: number;
  readonly event: LedgerEvent["type"];
  readonly handle: string | null;
  readonly text: string;
}

/** One session's authority. Everything in it survives `JSON.parse(JSON.stringify(…))`. */
export interface LedgerState {
  readonly version: typeof LEDGER_VERSION;
  readonly session: string;
  readonly contract: Contract | null;
  /** Grows whenever the interface changes, never otherwise and never back. */
  readonly epoch: number;
  /** null: the contract has no phases. */
  readonly phase: string | null;
  /** The latest time seen, Unix milliseconds: a clock that is set back prolongs nothing. */
  readonly now: number;
  readonly pending: readonly PendingGrant[];
  readonly grants: readonly Grant[];
  /** The oldest first. */
  readonly closed: readonly ClosedGrant[];
  /** Rules that only a person (or the phase, entered anew) renews, since a trusted event or a person ended them. */
  readonly spent: readonly { readonly rule: string; readonly cause: CloseCause }[];
  /** Uses of counted rules since a person or a phase last renewed them: releasing and asking again gives no more. */
  readonly counts: readonly { readonly rule: string; readonly used: number }[];
  /** The oldest first. */
  readonly audit: readonly AuditEntry[];
}

/** How a request narrows the rule it chose: each part must lie within the rule. */
export interface Narrowing {
  readonly paths?: readonly string[];
  readonly hosts?: readonly string[];
  readonly commands?: readonly (readonly string[])[];
  readonly ttlMs?: number;
  readonly uses?: number;
}

/** `now`: Unix milliseconds. `by`: who, as the audit names people and programs. */
export type LedgerCommand =
  /** The agent chooses a rule (C2). Nothing runs. */
  | {
      readonly type: "request";
      readonly rule: string;
      readonly reason: string;
      readonly narrow?: Narrowing;
      readonly handle: string;
      readonly now: number;
    }
  | {
      readonly type: "approve";
      readonly handle: string;
      readonly by: string;
      /** A person may shorten it, and name more that ends it: the phase that is now, other closures. */
      readonly ttlMs?: number;
      readonly thisPhase?: boolean;
      readonly closes?: readonly Closure[];
      readonly now: number;
    }
  | {
      readonly type: "refuse";
      readonly handle: string;
      readonly by: string;
      readonly reason: string;
      readonly now: number;
    }
  /** A person gives a right besides the contract: an approval that outlives one command. G still comes first. */
  | {
      readonly type: "give";
      readonly handle: string;
      readonly by: string;
      readonly reason: string;
      readonly effect: GrantableEffect;
      readonly resource: Resource;
      readonly ttlMs: number;
      readonly uses?: number;
      /** Ends with the phase that is now. */
      readonly thisPhase?: boolean;
      readonly closes?: readonly Closure[];
      readonly now: number;
    }
  /**
   * Under the lock that starts the process or opens the connection (C4): checks the handles and counts one use of each,
   * all or none. `invocation` names what runs; it is `finish`ed when that has ended.
   */
  | {
      readonly type: "invoke";
      readonly handles: readonly string[];
      readonly invocation: string;
      /** The interface that the caller acted on. */
      readonly epoch?: number;
      readonly now: number;
    }
  | { readonly type: "finish"; readonly invocation: string; readonly now: number }
  /** The daemon saw the condition of a closure come true (C5). `handle`: of this grant only. */
  | {
      readonly type: "closureFired";
      readonly closure: string;
      readonly handle?: string;
      readonly evidence: string;
      readonly now: number;
    }
  | {
      readonly type: "phaseChanged";
      readonly phase: string;
      readonly by: string;
      readonly now: number;
    }
  | { readonly type: "tick"; readonly now: number }
  | {
      readonly type: "revoke";
      readonly handle: string;
      readonly by: string;
      readonly reason: string;
      readonly now: number;
    }
  /** The agent gives its own handle back. */
  | { readonly type: "release"; readonly handle: string; readonly now: number }
  /** An admin puts another contract, or none, in its place: nothing that was given under the old one stays. */
  | {
      readonly type: "contractSet";
      readonly contract: Contract | null;
      readonly by: string;
      readonly now: number;
    }
  /** Whom the grants were given to is gone. Counts, spent rules and the phase stay: a new session resets nothing. */
  | { readonly type: "sessionEnded"; readonly reason: string; readonly now: number }
  /** Everything that lived on the handle is dead and cut. */
  | { readonly type: "closingDone"; readonly handle: string; readonly now: number };

export type LedgerEvent =
  | {
      readonly type: "grant.requested";
      readonly handle: string;
      readonly rule: string;
      readonly reason: string;
    }
  | { readonly type: "grant.granted"; readonly grant: Grant }
  | { readonly type: "grant.refused"; readonly handle: string; readonly reason: string }
  | {
      readonly type: "grant.used";
      readonly handle: string;
      readonly invocation: string;
      readonly usesLeft: number | null;
    }
  /** A use was refused: of what, and what to do instead. */
  | { readonly type: "grant.stale"; readonly handle: string; readonly reason: string }
  /** No new use from here on. `running` has to be killed before `closingDone`. */
  | {
      readonly type: "grant.closing";
      readonly handle: string;
      readonly cause: CloseCause;
      readonly running: readonly string[];
    }
  /** Nothing lives on it any more. `closingMs`: since `grant.closing`. */
  | {
      readonly type: "grant.closed";
      readonly handle: string;
      readonly cause: CloseCause;
      readonly renewal: Renewal;
      readonly closingMs: number;
    }
  | { readonly type: "phase.changed"; readonly from: string | null; readonly to: string }
  /** Of which task; null: there is no contract any more. */
  | { readonly type: "contract.set"; readonly task: string | null; readonly phase: string | null }
  | { readonly type: "epoch.bumped"; readonly epoch: number };

export type RefusalCode =
  | "unknown-rule"
  | "wrong-phase"
  | "beyond-rule"
  | "denied"
  | "bad-value"
  | "too-many"
  | "handle-used"
  | "not-pending"
  | "stale"
  | "not-yet-visible"
  | "no-uses-left"
  | "unknown-phase"
  | "not-closing";

/** What a command came to. A refusal is a value: code, what is wrong, what to do. */
export type Outcome =
  | { readonly ok: true; readonly result: "granted" | "pending" | "done" | "nothing" }
  | {
      readonly ok: false;
      readonly code: RefusalCode;
      readonly reason: string;
      readonly renewal?: Renewal;
    };

export interface Step {
  readonly state: LedgerState;
  readonly events: readonly LedgerEvent[];
  readonly outcome: Outcome;
}

/** The names of all of them, as they stand in the audit and in the journal. */
export const LEDGER_EVENTS = [
  "grant.requested",
  "grant.granted",
  "grant.refused",
  "grant.used",
  "grant.stale",
  "grant.closing",
  "grant.closed",
  "phase.changed",
  "contract.set",
  "epoch.bumped",
] as const satisfies readonly LedgerEvent["type"][];

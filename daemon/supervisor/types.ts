/** The words of the use cases: who calls, what a session is, what a command yields. The API and MCP speak these. */

import type { GrantableEffect, Resource } from "../authority/types.ts";
import type { Effect, SavedRule, Verdict } from "../policy/types.ts";
import type { Rights } from "./roles.ts";

/** Who is calling, from the socket's peer credentials. Never from anything the caller says. */
export interface Caller {
  readonly uid: number;
  readonly gid: number;
  readonly pid: number;
  /** Supplementary groups of the peer, when they could be read. */
  readonly groups: readonly number[];
  /** Which socket: an agent's, with its project, or the admin's. */
  readonly socket:
    | { readonly kind: "agent"; readonly project: string }
    /** `rights` absent: everything. */
    | { readonly kind: "admin"; readonly rights?: Rights | undefined };
}

export interface SessionInfo {
  readonly id: string;
  readonly project: string;
  /** Absolute path. */
  readonly worktree: string;
  readonly profile: string;
  readonly uid: number;
  readonly openedAt: number;
  readonly lastUsedAt: number;
  /** Agents could approve their own asks here (agentsShareApproverUid). */
  readonly sharesApproverUid: boolean;
  readonly denials: {
    readonly consecutive: Readonly<Record<string, number>>;
    readonly total: number;
  };
  /** Classes of action that are blocked after refusals in a row, and whether everything asks. */
  readonly blocked: readonly string[];
  readonly escalated: boolean;
}

export interface RunRequest {
  readonly command: string;
  /** Absolute, or relative to the worktree; the worktree when absent. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Standard input; absent: end of file at once. Bytes that are here from the start are shown to an approver; a stream
   * cannot be, and is read only while the command runs. `open`: it comes by `jobs.write`, and from who is attached.
   */
  readonly stdin?: Uint8Array | AsyncIterable<Uint8Array> | "open";
  /** It runs on a terminal of this size, whose input is open; its output is all `stdout`. */
  readonly tty?: TerminalSize;
  readonly timeoutMs?: number;
  /** No output and no input for this long: it is ended, and its exit says `idleTimedOut`. */
  readonly idleTimeoutMs?: number;
  readonly outputBytesMax?: number;
  /** `started` is the last event, and the command goes on as a job of its session whatever becomes of this request. */
  readonly detach?: boolean;
  /**
   * Runs in this shell of its session: in the folder and with the exported variables that the last command in it left,
   * where the request says nothing else.
   */
  readonly shell?: string;
  /**
   * How long this request waits for a person. 0: nobody is asked, the answer is `not-waiting` at once. Less than the
   * profile's wait: the answer is `not-waiting` then, the question stays open, and sending the same command again
   * takes it up, or runs at once when it was approved meanwhile.
   */
  readonly waitMs?: number;
  /** The grant that this command acts on; absent: the daemon picks one where the profile lets it. */
  readonly handle?: string;
  /** The epoch of the interface that it acts on: what came later does not carry it. */
  readonly epoch?: number;
}

/** Of a terminal, in characters. */
export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * What happened to a command, one event after another. `decision` is first, one of `exit` and `refused` is last, or
 * `started` for a command that was detached.
 */
export type RunEvent =
  | { readonly type: "decision"; readonly action: string; readonly verdict: Verdict }
  /** A person is asked. Sent when the question is filed and again now and then while it waits. */
  | {
      readonly type: "pending";
      readonly approval: string;
      readonly waitedMs: number;
      readonly timeoutMs: number;
    }
  | { readonly type: "approved"; readonly approval: string; readonly authority: AuthorityInfo }
  /**
   * Something to know that stops nothing: that it waits its turn; paths in scope that are not in the sandbox; or, before
   * the exit, that the command failed where the kernel held it to its verdict, and what to ask for.
   */
  | {
      readonly type: "note";
      readonly code:
        | "queued"
        | "not_mounted"
        | "disk_limit"
        | "confined"
        | "git_imported"
        | "git_left"
        | "git_apart"
        | "protected_restored"
        | "policy_not_trusted"
        | "no_way_out"
        | "grant_closed";
      readonly paths: readonly string[];
      readonly reason: string;
    }
  | {
      readonly type: "started";
      readonly exec: string;
      readonly confinement: string;
      readonly at: number;
    }
  | { readonly type: "stdout"; readonly data: Uint8Array }
  | { readonly type: "stderr"; readonly data: Uint8Array }
  /** Output was over its limit: how much was left out so far. */
  | { readonly type: "truncated"; readonly stream: "stdout" | "stderr"; readonly bytes: number }
  | {
      readonly type: "exit";
      readonly exec: string;
      readonly exitCode: number | null;
      readonly timedOut: boolean;
      readonly cancelled: boolean;
      readonly oomKilled: boolean;
      /** It wrote more into the worktree than the profile allows and was stopped. */
      readonly diskLimit?: true;
      /** It was silent for longer than its request allowed and was stopped. */
      readonly idleTimedOut?: true;
      /** The shell's folder when it ended; absent: not known. Nothing rests on it: a request names its own. */
      readonly cwd?: string;
      /** Processes that it left running in the background: it is a job of its session as long as they are there. */
      readonly left?: number;
      readonly durationMs: number;
      readonly stdoutBytes: number;
      readonly stderrBytes: number;
    }
  | Refusal;

/** The command did not run. `by`: the policy, a person, nobody in time, or what was approved had changed. */
export interface Refusal {
  readonly type: "refused";
  readonly by: "policy" | "person" | "timeout" | "facts-changed" | "not-waiting";
  readonly action: string;
  readonly reason: string;
  readonly instead?: string;
  readonly approval?: string;
}

/** What an approval yields: a right with an end. */
export interface AuthorityInfo {
  readonly id: string;
  readonly session: string;
  readonly effects: readonly Effect[];
  /** What it is for: the exact command, or the saved rule. */
  readonly resource:
    | { readonly kind: "command"; readonly command: string; readonly cwd: string }
    | { readonly kind: "rule"; readonly rule: SavedRule }
    | { readonly kind: "host"; readonly host: string; readonly until: "command" | "session" }
    /** What was given for longer than the command, or what was requested. */
    | { readonly kind: "grants"; readonly handles: readonly string[] };
  /** Hosts that the command names and so may reach, where its profile lets anything out. */
  readonly hosts?: readonly string[];
  /** Unix milliseconds; null: as long as the saved rule is kept. */
  readonly expires: number | null;
}

/** What was shown to the approver; the approval holds only while it is still so. */
export interface BoundFacts {
  readonly branch: string | null | undefined;
  readonly realpath: Readonly<Record<string, string | null>>;
  /** Absolute path of each named script or program → SHA-256, null when absent. */
  readonly content: Readonly<Record<string, string | null>>;
}

/** A right that can be given for longer than one command; paths are relative to the worktree. */
export interface OfferedGrant extends Resource {
  readonly effect: GrantableEffect;
}

/** A rule of the contract as it was requested. */
export interface AskedGrant extends OfferedGrant {
  readonly handle: string;
  readonly rule: string;
  readonly ttlMs: number;
  /** null: not counted. */
  readonly uses: number | null;
  readonly endsWith: readonly string[];
}

export interface PendingApproval {
  readonly id: string;
  readonly action: string;
  readonly session: string;
  readonly project: string;
  readonly worktree: string;
  readonly uid: number;
  readonly command: string;
  readonly cwd: string;
  readonly verdict: Verdict;
  readonly facts: BoundFacts;
  /** Set: a running command reaches for this `HOST:PORT`, and its connection waits. */
  readonly host?: string;
  /** Set: the agent requests this rule of its contract. */
  readonly grant?: AskedGrant;
  /** What approving for longer than this command would give; absent: that is not to be had. */
  readonly offers?: readonly OfferedGrant[];
  /** Paths that approving cannot reach, since they are not in the sandbox; and networks, with the reason. */
  readonly cannotTakeEffect: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly state: "pending" | "approved" | "denied" | "timed-out" | "cancelled";
  readonly answeredBy?: number;
  readonly answeredAt?: number;
  readonly reason?: string;
  /** Beginning of the standard input that was given with the command, as text, or what it is when it cannot be shown. */
  readonly stdin?: string;
  /** It asks again: what is no longer as it was when it was approved, one sentence each. */
  readonly changed?: readonly string[];
  /** What the approval gave. */
  readonly authority?: AuthorityInfo;
  /** The agent's user could answer this itself (agentsShareApproverUid). */
  readonly agentCouldApprove?: boolean;
}

export type Answer =
  | { readonly answer: "approve"; readonly mode: "once" }
  /** For a question about a host alone: as long as the session. */
  | { readonly answer: "approve"; readonly mode: "session" }
  /** Index into verdict.always: which width. */
  | {
      readonly answer: "approve";
      readonly mode: "always";
      readonly width: number;
      readonly expiresInMs?: number;
    }
  /** A grant with an end: after a time (30 minutes when not said), with this phase, when a closure fires. */
  | {
      readonly answer: "approve";
      readonly mode: "grant";
      readonly forMs?: number;
      readonly thisPhase?: boolean;
      /** A closure of the contract, or a command that ends it once it succeeds. */
      readonly until?: { readonly closure: string } | { readonly command: readonly string[] };
    }
  | { readonly answer: "deny"; readonly reason?: string };

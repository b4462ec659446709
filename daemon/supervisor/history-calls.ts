/** What admins may ask of the journal: what a rule would have allowed, what another profile would have said, how often people were asked. */
import type { Decision, SavedRule } from "../policy/types.ts";
import type { Caller, Refusal } from "./types.ts";

/** One of the rules that an approval offers with *always*, tried on what was asked before (A6). */
export interface RulePreview {
  readonly rule: SavedRule;
  /** Past questions of the project that it was tried on, the newest. */
  readonly tried: number;
  /** How many of them it would have let pass. */
  readonly allowed: number;
  /** Some of those commands, the newest first. */
  readonly examples: readonly string[];
}

export interface ReplayRequest {
  /** A profile that the daemon knows, or one that is given here as a file's text. */
  readonly profile: { readonly name: string } | { readonly name: string; readonly text: string };
  readonly project?: string;
  /** Unix milliseconds. */
  readonly sinceMs?: number;
}

/** How an action was judged, or would be. */
export interface ReplayVerdict {
  readonly verdict: Decision;
  /** The rules that decided. */
  readonly rules: readonly string[];
}

export type ReplayLine =
  | {
      readonly type: "change";
      readonly seq: number;
      readonly at: number;
      readonly project: string;
      readonly command: string;
      readonly cwd: string;
      readonly before: ReplayVerdict;
      readonly after: ReplayVerdict & { readonly reason: string };
    }
  | {
      readonly type: "summary";
      readonly profile: string;
      readonly actions: number;
      readonly same: number;
      /** `ask → allow` and how many. */
      readonly changed: Readonly<Record<string, number>>;
      /** Not judged again: decided by the denial tracker, of a project that is gone, recorded without what it takes. */
      readonly left: {
        readonly denials: number;
        readonly gone: number;
        readonly incomplete: number;
      };
    };

export interface StatsRequest {
  readonly project?: string;
  readonly sinceMs?: number;
}

export interface Waits {
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** A7 and A13, from the journal. */
export interface Stats {
  /** Of the first and the last entry counted; null: there is none. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly actions: number;
  readonly verdicts: Readonly<Record<Decision, number>>;
  /** Automatic passes in all, and by the root that authorised them; a pass over two roots counts for both. */
  readonly passes: { readonly total: number; readonly byRoot: Readonly<Record<string, number>> };
  readonly questions: {
    readonly asked: number;
    readonly per100Actions: number | null;
    readonly approvedOnce: number;
    readonly approvedAlways: number;
    readonly denied: number;
    readonly timedOut: number;
    readonly cancelled: number;
    /** Until somebody answered. */
    readonly answeredAfter: Waits;
    /** Until it was over, however it ended. */
    readonly overAfter: Waits;
  };
  /** Rules that made actions ask or be denied, the most frequent first. */
  readonly byRule: readonly {
    readonly rule: string;
    readonly asks: number;
    readonly denies: number;
  }[];
  /** Actions that did not run, by who or what refused. */
  readonly refusals: Readonly<Record<Refusal["by"] | "failure", number>>;
}

/** Off the admin socket each of them is `not-permitted`. */
export interface HistoryCalls {
  /** For each width that the approval offers. Errors: unknown-approval. */
  previewRules(caller: Caller, approval: string): Promise<readonly RulePreview[]>;
  /** Each verdict that changes, the oldest first, then the summary. Errors: bad-profile, unknown-project. */
  replay(caller: Caller, request: ReplayRequest, signal: AbortSignal): AsyncIterable<ReplayLine>;
  /** Errors: unknown-project. */
  stats(caller: Caller, request: StatsRequest): Promise<Stats>;
  /** Figures for a monitor, in Prometheus' text form, since the daemon started. */
  metrics(caller: Caller): Promise<string>;
}

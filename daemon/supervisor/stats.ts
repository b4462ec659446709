/** Counts what the journal says about questions and passes (A7, A13): entries in, figures out. */
import type { JournalEntry, JournalEvent } from "../journal/types.ts";
import type { Stats, Waits } from "./history-calls.ts";
import { decidingRules, pastAction } from "./past-actions.ts";

/** The entries that are counted. */
export const COUNTED_EVENTS: readonly JournalEvent[] = [
  "proposed_action.created",
  "approval.requested",
  "approval.answered",
  "approval.timed_out",
  "approval.cancelled",
  "action.refused",
];

type End = "approvedOnce" | "approvedAlways" | "denied" | "timedOut" | "cancelled";
type Writable<T> = { -readonly [K in keyof T]: T[K] };

export class StatsCount {
  readonly #verdicts = { allow: 0, ask: 0, deny: 0 };
  readonly #byRoot = new Map<string, number>();
  readonly #rules = new Map<string, { asks: number; denies: number }>();
  readonly #refusals: Writable<Stats["refusals"]> = {
    policy: 0,
    person: 0,
    timeout: 0,
    "facts-changed": 0,
    "not-waiting": 0,
    failure: 0,
  };
  readonly #ends = { approvedOnce: 0, approvedAlways: 0, denied: 0, timedOut: 0, cancelled: 0 };
  readonly #answered: number[] = [];
  readonly #over: number[] = [];
  /** When each open question was asked. */
  readonly #askedAt = new Map<string, number>();
  #asked = 0;
  #from: number | null = null;
  #to: number | null = null;

  add(entry: JournalEntry): void {
    const { event, at, data } = entry;
    this.#from ??= at;
    this.#to = at;
    switch (event) {
      case "proposed_action.created":
        this.#proposed(entry);
        return;
      case "approval.requested":
        this.#asked += 1;
        this.#askedAt.set(String(data.approval), at);
        return;
      case "approval.answered": {
        const end =
          data.answer === "deny"
            ? "denied"
            : data.mode === "always"
              ? "approvedAlways"
              : "approvedOnce";
        const waited = this.#ended(end, data.approval, at);
        if (waited !== null) this.#answered.push(waited);
        return;
      }
      case "approval.timed_out":
        this.#ended("timedOut", data.approval, at);
        return;
      case "approval.cancelled":
        this.#ended("cancelled", data.approval, at);
        return;
      case "action.refused": {
        const by = data.by as keyof Stats["refusals"];
        if (Object.hasOwn(this.#refusals, by)) this.#refusals[by] += 1;
      }
    }
  }

  result(): Stats {
    const { allow, ask, deny } = this.#verdicts;
    const actions = allow + ask + deny;
    return {
      fromMs: this.#from,
      toMs: this.#to,
      actions,
      verdicts: { allow, ask, deny },
      passes: { total: allow, byRoot: Object.fromEntries(sorted(this.#byRoot, (count) => count)) },
      questions: {
        asked: this.#asked,
        per100Actions: actions === 0 ? null : Math.round((this.#asked / actions) * 1_000) / 10,
        ...this.#ends,
        answeredAfter: waits(this.#answered),
        overAfter: waits(this.#over),
      },
      byRule: sorted(this.#rules, ({ asks, denies }) => asks + denies).map(([rule, counts]) => ({
        rule,
        ...counts,
      })),
      refusals: { ...this.#refusals },
    };
  }

  #proposed(entry: JournalEntry): void {
    const action = pastAction(entry);
    this.#verdicts[action.verdict] += 1;
    if (action.verdict === "allow") {
      for (const root of entry.data.roots as readonly string[]) {
        this.#byRoot.set(root, (this.#byRoot.get(root) ?? 0) + 1);
      }
      return;
    }
    for (const rule of decidingRules(action)) {
      const counts = this.#rules.get(rule) ?? { asks: 0, denies: 0 };
      counts[action.verdict === "ask" ? "asks" : "denies"] += 1;
      this.#rules.set(rule, counts);
    }
  }

  /** How long it waited; null when it was asked before the first entry that is counted. */
  #ended(end: End, approval: unknown, at: number): number | null {
    this.#ends[end] += 1;
    const askedAt = this.#askedAt.get(String(approval));
    if (askedAt === undefined) return null;
    this.#askedAt.delete(String(approval));
    this.#over.push(at - askedAt);
    return at - askedAt;
  }
}

function sorted<T>(counts: ReadonlyMap<string, T>, weight: (value: T) => number) {
  return [...counts].sort(([a, x], [b, y]) => weight(y) - weight(x) || (a < b ? -1 : 1));
}

/** The nearest rank: a figure that was really measured. */
function waits(values: readonly number[]): Waits {
  const ordered = [...values].sort((a, b) => a - b);
  const rank = (share: number) =>
    ordered[Math.max(0, Math.ceil(share * ordered.length) - 1)] ?? null;
  return { count: ordered.length, p50Ms: rank(0.5), p95Ms: rank(0.95) };
}

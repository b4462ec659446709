/** Actions of the past as the journal has them, and judging one again by what was known when it was proposed. */
import { setImmediate } from "node:timers/promises";
import type { EntryQuery, Journal, JournalEntry } from "../journal/types.ts";
import { HISTORY_PAGE } from "../limits.ts";
import { NO_DENIALS } from "../policy/denials.ts";
import type {
  Decision,
  EvaluateInput,
  Facts,
  PolicySettings,
  Rule,
  Rung,
  Verdict,
} from "../policy/types.ts";

export interface PastAction {
  readonly seq: number;
  readonly at: number;
  readonly project: string;
  readonly uid: number;
  readonly action: string;
  readonly command: string;
  readonly cwd: string;
  /** Absent in entries of old. */
  readonly worktree?: string;
  readonly verdict: Decision;
  readonly rules: readonly {
    readonly verdict: Decision;
    readonly rung: Rung;
    readonly rule: string;
  }[];
  readonly facts?: Facts;
}

/** Entries of a query page by page, letting other work go on in between. Stops when `signal` aborts. */
export async function* pagesOf(
  journal: Pick<Journal, "read">,
  query: Omit<EntryQuery, "limit" | "newest" | "afterSeq">,
  signal?: AbortSignal,
): AsyncGenerator<readonly JournalEntry[]> {
  for (let afterSeq = 0; signal?.aborted !== true; ) {
    const page = journal.read({ ...query, afterSeq, limit: HISTORY_PAGE });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < HISTORY_PAGE) return;
    afterSeq = last.seq;
    await setImmediate();
  }
}

export function pastAction(entry: JournalEntry): PastAction {
  const { seq, at, project, uid, data } = entry;
  return { ...(data as unknown as PastAction), seq, at, project: project ?? "", uid: uid ?? 0 };
}

/** The ids of the rules that decided. */
export function decidingRules({ verdict, rules }: Pick<PastAction, "verdict" | "rules">): string[] {
  return [...new Set(rules.filter((one) => one.verdict === verdict).map(({ rule }) => rule))];
}

/** Whether the refusals of that time decided: judged again without them, it says nothing about rules. */
export function decidedByDenials({ verdict, rules }: PastAction): boolean {
  return rules.some((one) => one.verdict === verdict && one.rung === "denials");
}

/** Under other settings and rules, with the facts of then and no refusals. */
export function judgeAgain(
  evaluate: (input: EvaluateInput) => Verdict,
  { command, cwd, facts = {} }: PastAction,
  settings: PolicySettings,
  rules: readonly Rule[],
): Verdict {
  return evaluate({
    request: { command, cwd },
    settings,
    facts,
    rules: { rules },
    authority: { grants: [] },
    denials: NO_DENIALS,
  });
}

/** An ask holds the request open: the question, the wait, and the look whether all is still as it was shown. */
import { RecintoError } from "../errors.ts";
import { APPROVAL_REASKS_MAX, PENDING_KEEPALIVE_MS } from "../limits.ts";
import { blockedIn } from "../policy/denials.ts";
import type { Verdict } from "../policy/types.ts";
import type { Question } from "./approvals.ts";
import { offeredGrants } from "./authority/offered-grants.ts";
import { differences } from "./differences.ts";
import { boundFacts, isBelowAny, mountedRoots } from "./facts.ts";
import type { Judged } from "./judge.ts";
import { type RunContext, type RunDeps, refusedByPolicy, throwIfOver } from "./run-context.ts";
import type { AuthorityInfo, PendingApproval, Refusal, RunEvent } from "./types.ts";

type AskDeps = Pick<RunDeps, "approvals" | "denials" | "judge" | "now">;

/** What an approved command needs to start at once: had only when it was approved, and not while it is asked about again. */
export interface Ready {
  prepare(): AsyncIterable<RunEvent>;
  undo(): void;
}

/** What was approved, as it was judged a moment before it starts. */
export interface Asked {
  readonly type: "approved";
  readonly approval: string;
  readonly authority: AuthorityInfo;
  readonly verdict: Verdict;
}

/**
 * Asks until a person answers about what is really there; `ready` is done before the last look at it, so that the
 * command can start right after. A time-out, a wait that the client cut short and a change of
 * facts are each told as what they are.
 */
export async function* askPerson(
  deps: AskDeps,
  context: RunContext,
  first: Judged,
  ready?: Ready,
): AsyncGenerator<RunEvent, Asked | Refusal> {
  const { command, action, session, profile } = context;
  const refusal = (by: Refusal["by"], reason: string, approval?: string): Refusal => {
    const instead = first.verdict.instead === undefined ? {} : { instead: first.verdict.instead };
    const which = approval === undefined ? {} : { approval };
    return { type: "refused", by, action, reason, ...instead, ...which };
  };
  const key = command.key === null ? null : JSON.stringify([session.id, command.key]);
  // A wait as long as the question stays open ends with the question, not a moment before it.
  const short = command.waitMs < profile.approvalWaitMs;
  const giveUpAt = short ? deps.now() + command.waitMs : Number.POSITIVE_INFINITY;
  let judged = first;
  let changed: readonly string[] = [];
  for (let round = 0; round <= APPROVAL_REASKS_MAX; round++) {
    let approval = deps.approvals.forSame(key);
    if (approval === null && command.waitMs === 0) {
      return round === 0
        ? refusal("not-waiting", `a person would have to be asked: ${first.verdict.reason}`)
        : refusal("facts-changed", changed.join("; "));
    }
    approval ??= deps.approvals.file(
      await questionOf(context, judged, changed),
      key,
      profile.approvalWaitMs,
    );
    const letGo = deps.approvals.wait(approval.id);
    let ended: PendingApproval;
    try {
      ended = yield* held(deps, context, approval, giveUpAt);
    } finally {
      letGo();
    }
    const { id, state, reason = "" } = ended;
    switch (state) {
      case "denied":
        return {
          ...refusal("person", reason === "" ? "a person said no" : reason, id),
          ...blockedNow(deps, session, judged),
        };
      case "timed-out":
        return refusal("timeout", "nobody answered in time; no person refused this", id);
      case "pending":
        return refusal(
          "not-waiting",
          `nobody answered yet; the question stays open until ${new Date(ended.expiresAt).toISOString()}. Send the same command again to wait on, or once it is approved`,
          id,
        );
      case "cancelled":
        throwIfOver(context.signal);
        return refusal("not-waiting", `the question was cancelled: ${reason}`, id);
    }
    if (ready !== undefined) yield* ready.prepare();
    judged = await deps.judge();
    if (judged.verdict.verdict === "deny") {
      deps.approvals.use(id);
      return refusedByPolicy(context, judged.verdict);
    }
    changed = differences(
      ended.facts,
      await boundFacts(judged.verdict, judged.facts, judged.settings),
    );
    // Taken either way: an approval of what is not there any more is no approval.
    const usable = deps.approvals.use(id);
    const { authority } = ended;
    if (changed.length === 0 && usable && authority !== undefined) {
      yield { type: "approved", approval: id, authority };
      return { type: "approved", approval: id, authority, verdict: ended.verdict };
    }
    ready?.undo();
  }
  return refusal(
    "facts-changed",
    `what was approved changed each time before it could start: ${changed.join("; ")}`,
  );
}

/** After a refusal that was one too many, the agent learns that asking again is in vain. */
function blockedNow(
  { denials }: AskDeps,
  session: RunContext["session"],
  { verdict, settings }: Judged,
): { readonly instead?: string } {
  const keys = blockedIn(denials.state(session), verdict, settings.denials);
  if (keys.length === 0) return {};
  const { consecutive } = settings.denials;
  const what = keys.join(", ");
  return {
    instead: `${what} was refused ${consecutive} times in a row and is blocked now, however it is written; everything else goes on as before, and only an admin can reset it`,
  };
}

async function questionOf(
  context: RunContext,
  { verdict, facts, settings }: Judged,
  changed: readonly string[],
): Promise<Question> {
  const { session, action, command, agentCouldApprove } = context;
  const there = [...mountedRoots(settings), ...settings.scratch, settings.home];
  const touched = verdict.segments.flatMap((segment) => segment.paths);
  const cannotTakeEffect = touched
    .map(({ path, real }) => real ?? path)
    .filter((path) => !isBelowAny(path, there));
  const offers = offeredGrants(verdict, session.worktree);
  const networks = context.unreachable?.(verdict) ?? [];
  return {
    action,
    session: session.id,
    project: session.project,
    worktree: session.worktree,
    uid: session.uid,
    command: command.command,
    cwd: command.cwd,
    verdict,
    facts: await boundFacts(verdict, facts, settings),
    cannotTakeEffect: [...new Set(cannotTakeEffect)].sort().concat(networks),
    ...(offers.length === 0 ? {} : { offers }),
    ...(command.stdinShown === undefined ? {} : { stdin: command.stdinShown }),
    ...(changed.length === 0 ? {} : { changed }),
    ...(agentCouldApprove ? { agentCouldApprove } : {}),
  };
}

/** `pending` now and again until it is answered, over, or the client's own wait has run out (then still pending). */
async function* held(
  deps: AskDeps,
  { signal }: RunContext,
  approval: PendingApproval,
  giveUpAt: number,
): AsyncGenerator<RunEvent, PendingApproval> {
  const { id, createdAt, expiresAt } = approval;
  const over = deps.approvals.over(id);
  const giveUp = () => deps.approvals.cancel(id, whyOver(signal));
  // Not only when the reader comes back: a question must not outlive who asked it.
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  let settled = false;
  try {
    for (;;) {
      const now = deps.now();
      const current = deps.approvals.get(id);
      if (current.state !== "pending" || now >= giveUpAt || deps.approvals.left) {
        settled = true;
        return current;
      }
      const timeoutMs = Math.min(expiresAt, giveUpAt) - createdAt;
      yield { type: "pending", approval: id, waitedMs: now - createdAt, timeoutMs };
      await within(Math.min(PENDING_KEEPALIVE_MS, giveUpAt - deps.now()), over);
    }
  } finally {
    signal.removeEventListener("abort", giveUp);
    if (!settled) deps.approvals.cancel(id, "the client went away");
  }
}

function whyOver({ reason }: AbortSignal): string {
  return reason instanceof RecintoError ? reason.message : "the client went away";
}

async function within(ms: number, event: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([event, late]);
  clearTimeout(timer);
}

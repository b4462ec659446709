/** Requests that wait for a person: as questions in the same inbox as all others, and answered there. */
import { endingText } from "../../authority/interface.ts";
import type { PendingGrant } from "../../authority/ledger-types.ts";
import type { Contract } from "../../authority/types.ts";
import type { ActionClass, Effect, SegmentVerdict, Verdict } from "../../policy/types.ts";
import type { Approvals, Question } from "../approvals.ts";
import type { AskedGrant, PendingApproval } from "../types.ts";
import type { LedgerBook, LedgerKey } from "./ledger-book.ts";
import { DAEMON } from "./uses.ts";

export interface Asker {
  readonly session: string;
  readonly uid: number;
  readonly agentCouldApprove: boolean;
}

export class GrantQuestions {
  readonly #approvals: Approvals;
  readonly #book: LedgerBook;
  readonly #onError: (error: unknown) => void;

  constructor(approvals: Approvals, book: LedgerBook, onError: (error: unknown) => void) {
    this.#onError = onError;
    this.#approvals = approvals;
    this.#book = book;
    approvals.subscribe((approval) => this.#over(approval));
    book.subscribe(({ project, worktree, state: { contract } }, { events }) => {
      for (const event of events) {
        // A person who answered did not know of it.
        if (event.type === "contract.set" && contract !== null) {
          const reason = `the contract ${contract.task} came into force: send it again`;
          approvals.withdraw({ project, worktree }, reason);
        }
        if (event.type !== "grant.refused") continue;
        const open = this.of({ project, worktree }, event.handle);
        if (open !== null) approvals.cancel(open.id, event.reason);
      }
    });
  }

  /** Throws `too-many-pending`, `journal-failed`. */
  file(
    key: LedgerKey,
    asking: PendingGrant,
    contract: Contract,
    asker: Asker,
    timeoutMs: number,
  ): PendingApproval {
    const { session, uid, agentCouldApprove } = asker;
    const question: Question = {
      action: asking.handle,
      session,
      ...key,
      uid,
      command: `request ${asking.rule}: ${asking.reason}`,
      cwd: key.worktree,
      verdict: verdictOf(asking, contract),
      facts: { branch: undefined, realpath: {}, content: {} },
      cannotTakeEffect: [],
      grant: askedGrant(asking, contract),
      ...(agentCouldApprove ? { agentCouldApprove } : {}),
    };
    return this.#approvals.file(question, null, timeoutMs);
  }

  /** Requests whose question did not survive the daemon that filed it: they can be made again. */
  settleLost(): void {
    for (const { project, worktree, state } of this.#book.all()) {
      const key = { project, worktree };
      for (const { handle } of state.pending) {
        if (this.of(key, handle) !== null) continue;
        const reason = "its question ended with the daemon that asked: request it again";
        this.#book.step(key, { type: "refuse", handle, by: "recintod", reason }, DAEMON);
      }
    }
  }

  /** The open question about a request, or null. */
  of(key: LedgerKey, handle: string): PendingApproval | null {
    return (
      this.#approvals
        .pending()
        .find(
          ({ project, worktree, grant }) =>
            project === key.project && worktree === key.worktree && grant?.handle === handle,
        ) ?? null
    );
  }

  /** Nobody answered, or the one who asked is gone: the request waits no more. */
  #over({ project, worktree, state, grant, reason = "" }: PendingApproval): void {
    if (grant === undefined || (state !== "timed-out" && state !== "cancelled")) return;
    const { handle } = grant;
    const waits = this.#book.get({ project, worktree })?.state.pending ?? [];
    if (!waits.some((each) => each.handle === handle)) return;
    const by = state === "timed-out" ? "the time" : "recintod";
    // In a turn of its own: the ledger may have told of it in the middle of a step.
    queueMicrotask(() => {
      try {
        this.#book.step({ project, worktree }, { type: "refuse", handle, by, reason }, DAEMON);
      } catch (error) {
        this.#onError(error);
      }
    });
  }
}

function askedGrant(asking: PendingGrant, contract: Contract): AskedGrant {
  const { handle, rule, paths, hosts, commands, ttlMs, uses } = asking;
  const declared = contract.grants.find(({ name }) => name === rule);
  const closes = contract.closures.filter(({ name }) => declared?.closes.includes(name) ?? false);
  return {
    handle,
    rule,
    effect: declared?.effect ?? "read",
    paths,
    hosts,
    commands,
    ttlMs,
    uses,
    endsWith: closes.map(endingText),
  };
}

/** The request in the words in which people and the denial counters know every question. */
function verdictOf({ rule, reason, hosts }: PendingGrant, contract: Contract): Verdict {
  const declared = contract.grants.find(({ name }) => name === rule);
  const effects: Effect[] = [declared?.effect ?? "unknown"];
  const classes = effects as ActionClass[];
  const why = `asks for the rule ${rule} of the contract ${contract.task}`;
  const segment: SegmentVerdict = {
    text: `request ${rule}: ${reason}`,
    form: `request ${rule}`,
    ...(hosts.length === 0 ? {} : { hosts }),
    cwds: [],
    verdict: "ask",
    rung: "default",
    rule: `contract/${rule}`,
    reason: declared?.description ? `${why}: ${declared.description}` : why,
    effects,
    classes,
    paths: [],
    matches: [],
  };
  return {
    verdict: "ask",
    effects,
    classes,
    roots: [],
    segments: [segment],
    reason: `the agent ${segment.reason}`,
    bindTo: [],
  };
}

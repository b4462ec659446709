/** A person's answer that is a grant: to a request of the contract, or to a command, for longer than that command. */
import type { Outcome } from "../../authority/ledger-types.ts";
import type { Closure } from "../../authority/types.ts";
import { RecintoError } from "../../errors.ts";
import { GRANT_TTL_DEFAULT_MS } from "../../limits-authority.ts";
import type { Approvals } from "../approvals.ts";
import type { NewId } from "../ids.ts";
import type { Answer, AuthorityInfo, PendingApproval } from "../types.ts";
import type { LedgerBook, LedgerKey } from "./ledger-book.ts";

export interface AnsweredGrantsParts {
  readonly approvals: Approvals;
  readonly book: LedgerBook;
  readonly newId: NewId;
}

type ForLonger = Extract<Answer, { readonly mode: "grant" }>;

export class AnsweredGrants {
  readonly #parts: AnsweredGrantsParts;

  constructor(parts: AnsweredGrantsParts) {
    this.#parts = parts;
  }

  /** null: no grant has to do with it. Throws `approval-over`, `bad-request`, `grant-refused`, `journal-failed`. */
  answer(approval: PendingApproval, answer: Answer, uid: number): PendingApproval | null {
    if (approval.grant !== undefined) return this.#toRequest(approval, answer, uid);
    if (answer.answer === "deny" || answer.mode !== "grant") return null;
    return this.#toCommand(approval, answer, uid);
  }

  #toRequest(approval: PendingApproval, answer: Answer, uid: number): PendingApproval {
    const { approvals, book } = this.#parts;
    const { id, grant } = approval;
    if (approval.state !== "pending" || grant === undefined) throw over(approval);
    const { project, worktree } = approval;
    const key = { project, worktree };
    const { handle } = grant;
    const by = `uid ${uid}`;
    const who = { uid, session: approval.session };
    if (answer.answer === "deny") {
      const denied = approvals.answer(id, answer, uid);
      const reason = answer.reason ?? "no reason given";
      book.step(key, { type: "refuse", handle, by, reason }, who);
      return denied;
    }
    if (answer.mode === "always" || answer.mode === "session") {
      throw new RecintoError(
        "bad-request",
        "a request for a grant is no rule: the grant has an end",
        {
          hint: "approve it as it is, or for less: --for 2h, --until CLOSURE, --phase",
        },
      );
    }
    const ends = answer.mode === "grant" ? this.#ends(key, answer) : {};
    const { ttlMs, ...others } = ends;
    const shorter = ttlMs === undefined ? {} : { ttlMs: Math.min(ttlMs, grant.ttlMs) };
    checked(book.step(key, { type: "approve", handle, by, ...others, ...shorter }, who).outcome);
    return approvals.answer(
      id,
      { answer: "approve", mode: "once" },
      uid,
      this.#given(approval, [handle]),
    );
  }

  #toCommand(approval: PendingApproval, answer: ForLonger, uid: number): PendingApproval {
    const { approvals, book, newId } = this.#parts;
    const { id, project, worktree, session, offers = [] } = approval;
    if (approval.state !== "pending") throw over(approval);
    if (offers.length === 0) {
      throw new RecintoError("bad-request", "what this asks for cannot be given as a grant", {
        hint: "approve it once",
      });
    }
    const key = { project, worktree };
    const { ttlMs = GRANT_TTL_DEFAULT_MS, ...others } = this.#ends(key, answer);
    const by = `uid ${uid}`;
    const reason = approval.command.slice(0, REASON_CHARS);
    const who = { uid, session };
    const handles: string[] = [];
    try {
      for (const { effect, ...resource } of offers) {
        const handle = newId("grant");
        const what = { handle, by, reason, effect, resource, ttlMs, ...others };
        checked(book.step(key, { type: "give", ...what }, who).outcome);
        handles.push(handle);
      }
    } catch (error) {
      // All or none of what the person was shown.
      const undo = { by, reason: "another part of the same answer could not be given" };
      for (const handle of handles) book.step(key, { type: "revoke", handle, ...undo }, who);
      throw error;
    }
    return approvals.answer(
      id,
      { answer: "approve", mode: "once" },
      uid,
      this.#given(approval, handles),
    );
  }

  /** What the answer yields, with the end of the first that ends. */
  #given(approval: PendingApproval, handles: readonly string[]): AuthorityInfo {
    const { project, worktree, session, verdict } = approval;
    const grants = this.#parts.book.get({ project, worktree })?.state.grants ?? [];
    const given = grants.filter(({ handle }) => handles.includes(handle));
    return {
      id: this.#parts.newId("authority"),
      session,
      effects: verdict.effects,
      resource: { kind: "grants", handles },
      expires: Math.min(...given.map(({ expiresAt }) => expiresAt)),
    };
  }

  #ends(key: LedgerKey, { forMs, until, thisPhase }: ForLonger) {
    return {
      ...(forMs === undefined ? {} : { ttlMs: forMs }),
      ...(thisPhase ? { thisPhase } : {}),
      ...(until === undefined ? {} : { closes: [this.#closure(key, until)] }),
    };
  }

  /** One of the contract by its name, or a command whose success ends it: until the tests pass. */
  #closure(key: LedgerKey, until: NonNullable<ForLonger["until"]>): Closure {
    if ("command" in until) {
      const when = { kind: "command", argv: until.command, exit: 0, cwd: "" } as const;
      return { name: until.command.join(" ").slice(0, NAME_CHARS), when };
    }
    const closures = this.#parts.book.get(key)?.state.contract?.closures ?? [];
    const found = closures.find(({ name }) => name === until.closure);
    if (found !== undefined) return found;
    const names = closures.map(({ name }) => name);
    throw new RecintoError("bad-request", `there is no closure ${JSON.stringify(until.closure)}`, {
      hint:
        names.length === 0
          ? "no contract declares any: name a command that ends it when it succeeds"
          : `there are ${names.join(", ")}`,
    });
  }
}

/** Of the command that was approved, as the reason of the grant. */
const REASON_CHARS = 200;
/** Of a closure that is named by its command. */
const NAME_CHARS = 64;

function checked(outcome: Outcome): void {
  if (outcome.ok) return;
  throw new RecintoError("grant-refused", outcome.reason, { details: { code: outcome.code } });
}

function over({ id, state }: PendingApproval): RecintoError {
  return new RecintoError("approval-over", `approval ${id} is ${state} already`);
}

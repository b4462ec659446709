/** One command's hold on the grants that it runs on: from the check under the lock to its end, or to theirs. */
import type { Contract } from "../../authority/types.ts";
import { namesHost } from "../../policy/host-patterns.ts";
import type { ExecProcess } from "../../sandbox/engine.ts";
import type { Reach } from "../egress-desk.ts";
import { type Note, note } from "../escort.ts";
import type { Job } from "../jobs/job.ts";
import { type JoinedSignal, joinSignals } from "../joined-signal.ts";
import type { Session } from "../sessions.ts";
import type { Rests } from "./binding.ts";
import type { RefusedUse, Use, Uses } from "./uses.ts";

export interface Held {
  /** null: it runs on no grant. */
  readonly rests: Rests | null;
  readonly contract: Contract | null;
}

export class GrantHold {
  readonly #uses: Pick<Uses, "begin">;
  readonly #session: Session;
  readonly #held: Held;
  readonly #invocation: string;
  readonly #closing = new AbortController();
  readonly #joined: JoinedSignal;
  /** Aborts when the given one does, when a grant closes, or when another contract comes into force. */
  readonly signal: AbortSignal;
  #use: Use | null = null;
  #cut: (reason: string) => void = () => undefined;

  constructor(
    uses: Pick<Uses, "begin">,
    session: Session,
    held: Held,
    invocation: string,
    signal: AbortSignal,
  ) {
    this.#uses = uses;
    this.#session = session;
    this.#held = held;
    this.#invocation = invocation;
    this.#joined = joinSignals(signal, this.#closing.signal);
    this.signal = this.#joined.signal;
  }

  /** What of the network it may reach; null: contract and grants say nothing. */
  get reach(): Reach | null {
    const { rests, contract } = this.#held;
    if (contract === null && (rests?.handles.length ?? 0) === 0) return null;
    const hosts = (rests?.grants ?? [])
      .filter(({ effect }) => effect === "network" || effect === "install")
      .flatMap((grant) => grant.hosts);
    return {
      hosts: () => (this.#use?.live() ? hosts : []),
      denies: (host) =>
        contract !== null && namesHost(contract.deny.hosts, host)
          ? `the contract ${contract.task} denies it`
          : null,
      contract,
    };
  }

  /** How its connections end when a grant closes. */
  cutBy(cut: (reason: string) => void): void {
    this.#cut = cut;
  }

  /** The check under the lock: start it in the same turn, or look at `signal` before. null: it may. */
  begin(): RefusedUse | null {
    const { rests, contract } = this.#held;
    const on = rests ?? { handles: [], contract };
    const use = this.#uses.begin(this.#session, on, this.#invocation);
    if ("refused" in use) return use;
    this.#use = use;
    use.onClosing((reason) => {
      this.#cut(reason);
      this.#closing.abort(use.signal.reason);
    });
    return null;
  }

  /** Killed at once when a grant closes, with what it leaves running; over once nothing of it is left. */
  attach(process: ExecProcess, job: Pick<Job, "whenOver">): void {
    this.#use?.attach({
      kill: (signal) => {
        process.control?.signal(signal, true);
        return process.kill(signal);
      },
    });
    // Not when its reader comes to the end: a client that does not read holds no grant open.
    job.whenOver(() => this.finish());
  }

  notes(): readonly Note[] {
    const cause = this.#use?.cause ?? null;
    if (cause === null) return [];
    const reason = `it was killed, since what it ran on is over: ${cause.text}`;
    return [note("grant_closed", reason)];
  }

  /** Nothing of it runs any more. */
  finish(): void {
    this.#use?.finish();
  }

  close(): void {
    this.finish();
    this.#joined.release();
  }
}

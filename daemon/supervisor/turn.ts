/** One command's turn among those that run at once: taken when it may start, told about while it waits, given back at its end. */
import { RecintoError } from "../errors.ts";
import type { Slot } from "./command-slots.ts";
import { actionEntry, type RunContext, type RunDeps, throwIfOver } from "./run-context.ts";
import type { RunEvent } from "./types.ts";

export class Turn {
  readonly #deps: Pick<RunDeps, "slots" | "journal">;
  readonly #context: RunContext;
  #slot: Slot | null = null;

  constructor(deps: Pick<RunDeps, "slots" | "journal">, context: RunContext) {
    this.#deps = deps;
    this.#context = context;
  }

  /** Whether `come` has something to wait for. */
  get waits(): boolean {
    return this.#slot?.turn != null;
  }

  /** Takes a slot or a place in the queue. Throws `queue-full`, on record. `approved`: a person has said yes to it. */
  take({ approved }: { readonly approved: boolean }): void {
    const { session, profile, signal } = this.#context;
    const { commandsPerSession, commandsPerProject, commandsQueued } = profile.limits;
    try {
      this.#slot = this.#deps.slots.enter({
        project: session.project,
        session: session.id,
        limits: {
          perSession: commandsPerSession,
          perProject: commandsPerProject,
          queued: commandsQueued,
        },
        approved,
        signal,
      });
    } catch (error) {
      if (error instanceof RecintoError) this.#refused(error.message);
      throw error;
    }
  }

  /** Says that it waits, and resolves when its turn has come. Throws why it was given up, on record. */
  async *come(): AsyncGenerator<RunEvent, void> {
    const slot = this.#slot;
    if (slot === null || slot.turn === null) return;
    const { commandsPerSession, commandsPerProject } = this.#context.profile.limits;
    const before = slot.ahead === 0 ? "it is next" : `${slot.ahead} of this session wait before it`;
    const reason = `it waits its turn, since so many commands run already (at most ${commandsPerSession} of a session and ${commandsPerProject} of a project at once): ${before}`;
    yield { type: "note", code: "queued", paths: [], reason };
    await slot.turn;
    try {
      throwIfOver(this.#context.signal);
    } catch (error) {
      this.#refused("it was given up while it waited its turn");
      throw error;
    }
  }

  /** Others may run. Also before it began; a second call does nothing. */
  end(): void {
    this.#slot?.release();
    this.#slot = null;
  }

  #refused(reason: string): void {
    this.#deps.journal.append(
      actionEntry(this.#context, "action.refused", { by: "failure", reason }),
    );
  }
}

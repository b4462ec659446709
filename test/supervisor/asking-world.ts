/** A world whose commands are asked about: what waits for a person, and the answers to it. */
import { expect } from "vitest";
import type { PendingApproval, RunEvent } from "../../daemon/supervisor/types.ts";
import { admin, run, World } from "./world.ts";

export const once = { answer: "approve", mode: "once" } as const;
export const no = (reason?: string) =>
  ({ answer: "deny", ...(reason === undefined ? {} : { reason }) }) as const;

export const types = (events: readonly RunEvent[]) => events.map(({ type }) => type);

export class AskingWorld extends World {
  pending(): readonly PendingApproval[] {
    return this.supervisor.approvals(admin(), { state: "pending" });
  }

  /** Runs until it is asked, without waiting for the end. */
  async ask(session: string, command = "touch a", signal = new AbortController().signal) {
    const done = run(this, session, command, { signal });
    done.catch(() => undefined);
    await expect.poll(() => this.pending().length).toBeGreaterThan(0);
    return { done, question: this.pending().at(-1) as PendingApproval };
  }
}

/** The session that the tools of one MCP connection work in: opened at the first use, and again where it was ended. */
import type { AgentClient } from "../api/client.ts";
import { RecintoError } from "../errors.ts";

export class AgentSession {
  readonly client: AgentClient;
  readonly #worktree: string;
  readonly #opened: (session: string) => void;
  #opening: Promise<string> | undefined;

  /** `opened` is told of each session, before it is used. */
  constructor(client: AgentClient, worktree: string, opened: (session: string) => void) {
    this.client = client;
    this.#worktree = worktree;
    this.#opened = opened;
  }

  /** Runs `call` with the session's id. A session that is gone was ended before the call began: it is made anew, once. */
  async use<T>(call: (session: string) => Promise<T>): Promise<T> {
    const opening = this.#open();
    try {
      return await call(await opening);
    } catch (error) {
      if (!(error instanceof RecintoError && error.code === "unknown-session")) throw error;
      if (this.#opening === opening) this.#opening = undefined;
      return await call(await this.#open());
    }
  }

  #open(): Promise<string> {
    this.#opening ??= this.client.openSession(this.#worktree).then(
      ({ session }) => {
        this.#opened(session.id);
        return session.id;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }
}

/** Follows a session's interface, so that a client hears of every change of its authority. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentClient } from "../api/client.ts";
import type { Interface } from "../api/client-authority.ts";
import { RecintoError } from "../errors.ts";
import { MCP_WATCH_RETRY_MS } from "../limits.ts";

export class InterfaceWatch {
  readonly #client: AgentClient;
  readonly #changed: () => void;
  readonly #ended = new AbortController();
  #following: AbortController | undefined;
  /** The interface that the client has last been shown or told of; undefined: none yet. */
  #told: string | undefined;

  constructor(client: AgentClient, changed: () => void) {
    this.#client = client;
    this.#changed = changed;
  }

  /** The interface as it is now, which the client is about to be shown. */
  async shown(session: string): Promise<Interface> {
    const now = await this.#client.interface(session);
    this.#told = JSON.stringify(now);
    return now;
  }

  /** The client was shown less than there may be: it hears of it once that is known. */
  notShown(): void {
    this.#told = "";
  }

  /** From here on this session's, in place of the one before. */
  follow(session: string): void {
    this.#following?.abort();
    this.#following = new AbortController();
    void this.#run(session, AbortSignal.any([this.#following.signal, this.#ended.signal]));
  }

  end(): void {
    this.#ended.abort();
  }

  async #run(session: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const change of this.#client.watchInterface(session, signal)) {
          this.#see(JSON.stringify(change.interface));
        }
      } catch (error) {
        // Whoever ended the session does not want it back; the next call opens another one.
        if (error instanceof RecintoError && error.code === "unknown-session") return;
      }
      await sleep(MCP_WATCH_RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Also what had changed while nobody watched, as when the daemon was away. */
  #see(now: string): void {
    if (now === this.#told) return;
    const first = this.#told === undefined;
    this.#told = now;
    if (!first) this.#changed();
  }
}

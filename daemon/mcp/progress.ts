/** What a client is told while a call goes on, so that a wait looks like one and no time-out ends it. */
import { MCP_HEARTBEAT_MS, MCP_PROGRESS_CHARS_MAX, MCP_PROGRESS_EVERY_MS } from "../limits.ts";

/** Sends one notification; absent where the client asked for none. */
export type Notify = (progress: number, message: string) => void;

export class Progress {
  readonly #notify: Notify | undefined;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #begunMs = performance.now();
  #sent = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  #state = "working";

  constructor(notify: Notify | undefined) {
    this.#notify = notify;
    this.#heartbeat = setInterval(() => this.#send(this.#state), MCP_HEARTBEAT_MS).unref();
  }

  /** A new state, told at once and repeated while nothing else happens. */
  state(text: string): void {
    if (text === this.#state) return;
    this.#state = text;
    this.#send(text);
  }

  waiting(approval: string): void {
    this.state(`waiting for a person: recinto approvals show ${approval}`);
  }

  /** The newest line of output; most is left out. It is told as that: a program must not speak in the place of a state. */
  output(line: string): void {
    if (performance.now() - this.#lastMs < MCP_PROGRESS_EVERY_MS) return;
    // Neither a line break nor what moves, hides or turns text.
    this.#send(`output: ${line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}")}`);
  }

  end(): void {
    clearInterval(this.#heartbeat);
  }

  #send(text: string): void {
    this.#lastMs = performance.now();
    const seconds = Math.round((this.#lastMs - this.#begunMs) / 1000);
    // It has to grow with every notification; how far it is, nobody knows.
    this.#notify?.(++this.#sent, `${text.slice(0, MCP_PROGRESS_CHARS_MAX)} (${seconds} s)`);
  }
}

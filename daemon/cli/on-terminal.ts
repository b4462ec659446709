/** A command on the caller's terminal: keys and sizes go to it in order, output comes back as it is. */
import type { AgentClient, ClientRunRequest } from "../api/client.ts";
import type { TwoWay } from "../api/client-two-way.ts";
import { RecintoError } from "../errors.ts";
import { RawTerminal, terminalSize } from "./raw-terminal.ts";
import { exitCodeOf, exitCodeOfSignal, type SignalName, shower } from "./run-events.ts";

/** Keys that wait to be sent; a paste of more waits in the terminal. */
const KEYS_BYTES_MAX = 64 * 1024;
/** As other tools have it: these two keys leave a job that goes on. */
const DETACH = Buffer.from([0x10, 0x11]);

/** How it ended, and the shell's folder then, where that is known. */
export interface EndedOnTerminal {
  readonly code: number;
  readonly cwd?: string;
}

/** Runs a command there. Errors: those of the API. */
export async function runOnTerminal(
  client: AgentClient,
  session: string,
  request: Omit<ClientRunRequest, "stdin" | "tty">,
): Promise<EndedOnTerminal> {
  const loan = new Loan();
  const show = shower({ quiet: false });
  try {
    let ended: EndedOnTerminal | undefined;
    const given = { ...request, tty: terminalSize() };
    const connection = await client.jobs(session).interact(given, loan.signal);
    for await (const event of connection.events) {
      // Until then Ctrl-C is this program's: whoever waits for a person can leave.
      if (event.type === "started") loan.begin(connection, { detachable: false });
      const code = exitCodeOf(event);
      if (code !== undefined) {
        loan.end();
        const { cwd } = event as { cwd?: string };
        ended = cwd === undefined ? { code } : { code, cwd };
      }
      await show(event);
    }
    if (ended !== undefined) return ended;
    if (loan.by !== null) return { code: exitCodeOfSignal(loan.by) };
    throw new RecintoError("daemon-unreachable", "the stream ended before the command did");
  } catch (error) {
    if (loan.by !== null) return { code: exitCodeOfSignal(loan.by) };
    throw error;
  } finally {
    loan.end();
  }
}

/** The terminal, lent to one job. */
export class Loan {
  /** What made it give up. */
  by: SignalName | null = null;
  /** Its user pressed the keys that leave it running. */
  detached = false;
  readonly #terminal = new RawTerminal();
  readonly #aborting = new AbortController();
  readonly #onSignal = new Map<SignalName, () => void>();
  #keys: Keys | null = null;
  #onResize: () => void = () => {};

  constructor() {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
      const leave = () => this.#leave(name);
      this.#onSignal.set(name, leave);
      process.on(name, leave);
    }
    process.stdout.on("error", this.#onGone);
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  begin(
    connection: Pick<TwoWay<unknown>, "write" | "resize">,
    { detachable }: { readonly detachable: boolean },
  ): void {
    this.#terminal.enter();
    this.#keys = new Keys({
      send: (data) => connection.write(data),
      detach: () => {
        this.detached = true;
        this.#aborting.abort();
      },
      detachable,
    });
    this.#onResize = () => connection.resize(terminalSize());
    process.stdout.on("resize", this.#onResize);
    // It may have changed between the request and now.
    this.#onResize();
  }

  /** Gives the terminal back as it was. A second call does nothing. */
  end(): void {
    this.#keys?.stop();
    this.#keys = null;
    process.stdout.off("resize", this.#onResize);
    process.stdout.off("error", this.#onGone);
    for (const [name, leave] of this.#onSignal) process.off(name, leave);
    this.#onSignal.clear();
    this.#terminal.leave();
  }

  readonly #onGone = () => this.#leave("SIGPIPE");

  #leave(name: SignalName): void {
    this.by ??= name;
    this.#terminal.restore();
    this.#aborting.abort();
  }
}

interface KeysParts {
  readonly send: (data: Uint8Array) => Promise<void>;
  readonly detach: () => void;
  readonly detachable: boolean;
}

/** What is typed, sent in its order: one piece at a time, with all that came meanwhile. */
class Keys {
  readonly #parts: KeysParts;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #sending = false;
  #held = false;

  constructor(parts: KeysParts) {
    this.#parts = parts;
    process.stdin.on("data", this.#onData);
    process.stdin.resume();
  }

  stop(): void {
    process.stdin.off("data", this.#onData);
    process.stdin.pause();
  }

  readonly #onData = (data: Buffer) => {
    const keys = this.#parts.detachable ? this.#withoutDetach(data) : data;
    if (keys === null) return;
    this.#waiting.push(keys);
    this.#bytes += keys.length;
    if (this.#bytes > KEYS_BYTES_MAX) process.stdin.pause();
    void this.#send();
  };

  /** null: those were the keys that leave. A first one alone is held until the next tells what it was. */
  #withoutDetach(data: Buffer): Buffer | null {
    const all = this.#held ? Buffer.concat([DETACH.subarray(0, 1), data]) : data;
    this.#held = false;
    if (all.includes(DETACH)) {
      this.#parts.detach();
      return null;
    }
    if (all.at(-1) !== DETACH[0]) return all;
    this.#held = true;
    return all.subarray(0, -1);
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    try {
      while (this.#bytes > 0) {
        const data = Buffer.concat(this.#waiting);
        this.#waiting = [];
        this.#bytes = 0;
        if (process.stdin.isPaused()) process.stdin.resume();
        await this.#parts.send(data);
      }
    } catch {
      // The command is over, or the daemon gone: its stream says which.
    } finally {
      this.#sending = false;
    }
  }
}

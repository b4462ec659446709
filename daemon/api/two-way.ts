/** One upgraded connection with frames both ways: a command's events to the client, input and control from it. */
import type { Duplex } from "node:stream";
import { RecintoError } from "../errors.ts";
import { TWO_WAY_AHEAD_BYTES, TWO_WAY_KEEPALIVE_MS } from "../limits.ts";
import { Channel } from "../supervisor/channel.ts";
import type { JobCalls } from "../supervisor/jobs/job-calls.ts";
import type { Caller } from "../supervisor/types.ts";
import { parsePart } from "./router.ts";
import { ControlSchema } from "./schema-jobs.ts";
import { inputDecoder, keepAlive, writeFrames } from "./stream-frames.ts";

export type Sent =
  | { readonly type: "input"; readonly data: Buffer }
  | { readonly type: "json"; readonly value: unknown };

/** What the client sends, no faster than it is taken. Throws `bad-request`, `bad-json`. */
export async function* sentOn(connection: Duplex): AsyncGenerator<Sent, void> {
  const decoder = inputDecoder();
  try {
    for await (const chunk of connection.iterator({ destroyOnReturn: false })) {
      for (const event of decoder.push(chunk)) {
        yield event.type === "input" ? event : { type: "json", value: parsed(event.text) };
      }
    }
  } catch (error) {
    if (error instanceof RecintoError) throw error;
    // The connection is gone: nothing more is sent on it.
  }
}

export type Feed = (sent: Sent) => Promise<void>;

export interface TwoWayParts {
  readonly connection: Duplex;
  readonly sent: AsyncIterator<Sent, void>;
  /** What goes to the client; `signal` aborts when it leaves, or sends what it should not. */
  readonly events: (signal: AbortSignal) => AsyncIterable<object>;
  /** Who takes what the client sends, once somebody does; null: nobody will. */
  readonly feed: Promise<Feed | null>;
  readonly failure: (error: unknown) => object;
}

/**
 * Both ways until the events end or the client leaves, which it does by closing its side. A fault in what it sends ends
 * the events and is told instead of their end.
 */
export async function serveTwoWay(parts: TwoWayParts): Promise<void> {
  const { connection, sent, failure } = parts;
  const over = new AbortController();
  const gone = new AbortController();
  const faults: unknown[] = [];
  const leave = () => {
    gone.abort();
    over.abort();
  };
  const fault = (error: unknown) => {
    faults.push(error);
    over.abort();
  };
  connection.once("close", leave);
  // Read ahead of whoever takes it, so that leaving is seen meanwhile; and where too much waits, tried from time to time.
  const inbox = new Channel<Sent>(TWO_WAY_AHEAD_BYTES);
  const trying = setInterval(() => keepAlive(connection), TWO_WAY_KEEPALIVE_MS).unref();
  connection.once("close", () => clearInterval(trying));
  const receive = async () => {
    for (let next = await sent.next(); !next.done; next = await sent.next()) {
      await inbox.push(next.value, next.value.type === "input" ? next.value.data.length : 1);
    }
    leave();
  };
  const feed = async () => {
    const take = await parts.feed;
    for await (const one of inbox) await take?.(one);
  };
  async function* untilFault() {
    yield* parts.events(over.signal);
    if (faults.length > 0) throw faults[0];
  }
  const events = untilFault();
  const begun = events.next();
  receive().catch(fault);
  feed().catch(fault);
  let first: IteratorResult<object>;
  try {
    first = await begun;
  } catch (error) {
    first = { done: false, value: failure(error) };
  }
  await writeFrames(connection, events, first, gone.signal, failure);
  clearInterval(trying);
  inbox.end();
}

/** Input, size and signals for a job. What comes too late for it, or that it does not take, is dropped. */
export function feeder(jobs: JobCalls, caller: Caller, session: string, job: string): Feed {
  return async (sent) => {
    try {
      if (sent.type === "input") return await jobs.write(caller, session, job, sent.data);
      const control = parsePart(ControlSchema, "body", sent.value);
      switch (control.type) {
        case "end":
          return jobs.endInput(caller, session, job);
        case "resize":
          return jobs.resize(caller, session, job, control);
        case "signal":
          return jobs.signal(caller, session, job, control.signal, control.tree ?? false);
      }
    } catch (error) {
      if (!(error instanceof RecintoError) || !TOO_LATE.has(error.code)) throw error;
    }
  };
}

const TOO_LATE: ReadonlySet<string> = new Set(["job-over", "input-closed", "unknown-job"]);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RecintoError("bad-json", `a j frame is not JSON: ${(error as Error).message}`);
  }
}

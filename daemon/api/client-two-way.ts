/** The client's end of an upgraded connection: a command's events from it, input and control to it. */
import { type Call, lineValue, type Transport } from "./client-transport.ts";
import type { Control, Signal } from "./schema-jobs.ts";
import { FRAMES_PROTOCOL, inputHead, jsonFrame, outputDecoder } from "./stream-frames.ts";

export interface TwoWay<Event> {
  /** For one reader. Leaving the loop closes the connection. */
  readonly events: AsyncGenerator<Event, void>;
  /** Resolves when there is room for more. What comes too late for the command is dropped. */
  write(data: Uint8Array): Promise<void>;
  /** End of the input. */
  end(): void;
  resize(size: { readonly rows: number; readonly columns: number }): void;
  signal(signal: Signal, options?: { readonly tree?: boolean }): void;
  close(): void;
}

interface Opening {
  readonly call: Call;
  /** After these events nothing follows. */
  readonly last: readonly string[];
  /** Sent first. */
  readonly begin?: object;
}

/** Resolves with the first event there; rejects with the daemon's error where it comes instead. */
export async function twoWay<Event extends { readonly type: string }>(
  http: Transport,
  { call, last, begin }: Opening,
): Promise<TwoWay<Event>> {
  const connection = await http.upgraded(call, FRAMES_PROTOCOL);
  let broken: unknown = null;
  connection.on("error", (error) => {
    broken = error;
  });
  const leave = () => connection.destroy();
  call.signal?.addEventListener("abort", leave, { once: true });
  if (call.signal?.aborted) leave();
  const send = (value: object) => {
    if (connection.writable) connection.write(jsonFrame(value));
  };
  const control = (value: Control) => send(value);
  if (begin !== undefined) send(begin);

  async function* read(): AsyncGenerator<Event, void> {
    const decoder = outputDecoder();
    let over = false;
    try {
      for await (const chunk of connection) {
        for (const event of decoder.push(chunk)) {
          // Output is an event as it comes.
          const value = event.type === "json" ? lineValue<Event>(event.text) : (event as object);
          over = last.includes((value as Event).type);
          yield value as Event;
        }
      }
    } catch (error) {
      // Leaving is no fault of the connection.
      if (broken === null && !call.signal?.aborted) throw error;
    } finally {
      call.signal?.removeEventListener("abort", leave);
      connection.destroy();
    }
    // The daemon may close while something is on its way to it: all the same it has said everything.
    if (over || call.signal?.aborted) return;
    throw http.unreachable(broken ?? new Error("before its end"));
  }

  const events = read();
  const first = await events.next();
  async function* all(): AsyncGenerator<Event, void> {
    try {
      if (first.done) return;
      yield first.value;
      yield* events;
    } finally {
      await events.return();
    }
  }
  return {
    events: all(),
    write: (data) =>
      new Promise((resolve) => {
        if (!connection.writable) return resolve();
        connection.write(inputHead(data.length));
        connection.write(data, () => resolve());
      }),
    end: () => control({ type: "end" }),
    resize: (size) => control({ type: "resize", ...size }),
    signal: (signal, { tree = false } = {}) => control({ type: "signal", signal, tree }),
    close: () => connection.destroy(),
  };
}

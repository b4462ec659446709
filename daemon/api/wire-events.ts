/** Turns what happens to a command into lines, and lines of stdin into bytes: text where bytes are UTF-8, else base64. */
import { isUtf8 } from "node:buffer";
import type { JobEvent } from "../supervisor/jobs/job-calls.ts";
import type { RunEvent } from "../supervisor/types.ts";
import { parsePart } from "./router.ts";
import type { WireJobEvent } from "./schema-jobs.ts";
import { type Bytes, StdinSchema, type WireRunEvent } from "./schema-run.ts";

/** Before these everything that came is told, whole character or not. */
const FLUSHING: ReadonlySet<string> = new Set(["exit", "truncated", "at", "end"]);

/** Events in the same order; output that ends inside a character waits for the rest of it. */
export function wireEvents(events: AsyncIterable<RunEvent>): AsyncGenerator<WireRunEvent>;
export function wireEvents(events: AsyncIterable<JobEvent>): AsyncGenerator<WireJobEvent>;
export async function* wireEvents(
  events: AsyncIterable<RunEvent | JobEvent>,
): AsyncGenerator<WireRunEvent | WireJobEvent> {
  const pieces = { stdout: new Utf8Pieces(), stderr: new Utf8Pieces() };
  for await (const event of events) {
    if (event.type === "stdout" || event.type === "stderr") {
      const piece = pieces[event.type].push(event.data);
      if (piece !== null) yield { type: event.type, ...piece };
      continue;
    }
    if (FLUSHING.has(event.type)) {
      for (const stream of ["stdout", "stderr"] as const) {
        const piece = pieces[stream].flush();
        if (piece !== null) yield { type: stream, ...piece };
      }
    }
    // Everything but output is the same on both sides (MIRRORS_RUN, MIRRORS_JOBS); only readonly differs.
    yield event as WireRunEvent | WireJobEvent;
  }
}

/** Cuts a stream of bytes into pieces that never end inside a character. */
export class Utf8Pieces {
  #begun: Buffer = Buffer.alloc(0);

  /** The next piece, or null when all there is so far is the beginning of a character. */
  push(bytes: Uint8Array): Bytes | null {
    const all =
      this.#begun.length === 0
        ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : Buffer.concat([this.#begun, bytes]);
    const whole = all.length - unfinishedBytes(all);
    const head = all.subarray(0, whole);
    if (!isUtf8(head)) {
      this.#begun = Buffer.alloc(0);
      return { base64: all.toString("base64") };
    }
    // A copy: the rest of a large chunk must not be kept alive by its last byte.
    this.#begun = Buffer.from(all.subarray(whole));
    return whole === 0 ? null : { text: head.toString("utf8") };
  }

  flush(): Bytes | null {
    const rest = this.#begun;
    this.#begun = Buffer.alloc(0);
    return rest.length === 0 ? null : { base64: rest.toString("base64") };
  }
}

/** How many bytes at the end begin a character that is not all there: 0 to 3. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

export function bytesOf(carried: Bytes): Buffer {
  return "text" in carried
    ? Buffer.from(carried.text, "utf8")
    : Buffer.from(carried.base64, "base64");
}

/** The rest of an NDJSON request as bytes of stdin. A faulty line throws `bad-request`, `bad-json` or `bad-utf8`. */
export async function* stdinOf(lines: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void> {
  for await (const line of lines) yield bytesOf(parsePart(StdinSchema, "body", line));
}

/** The framed stream of a command (docs/api-streams.md): output as bytes, everything else as JSON. Both directions of it. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { RecintoError } from "../errors.ts";
import { STREAM_AHEAD_BYTES, STREAM_FRAME_JSON_BYTES_MAX } from "../limits.ts";

export const FRAMES_TYPE = "application/vnd.recinto.frames";

/** u32 payload length, little endian; u8 type; payload. */
const HEAD_BYTES = 5;
const JSON_FRAME = "j".charCodeAt(0);
const STDOUT = "o".charCodeAt(0);
const STDERR = "e".charCodeAt(0);

type Output = { readonly type: "stdout" | "stderr"; readonly data: Uint8Array };

function isOutput(event: object): event is Output {
  return "data" in event && event.data instanceof Uint8Array;
}

function head(type: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES);
  bytes.writeUInt32LE(length, 0);
  bytes[4] = type;
  return bytes;
}

/** Like `sendLines`, in frames. What comes in the same turn of the event loop goes out in one system call. */
export async function sendFrames(
  response: ServerResponse,
  source: AsyncIterable<object>,
  signal: AbortSignal,
  failure: (error: unknown) => object,
): Promise<void> {
  const events = source[Symbol.asyncIterator]();
  let next = await events.next();
  response.writeHead(200, { "content-type": FRAMES_TYPE });
  try {
    for (; !next.done && !signal.aborted; next = await events.next()) {
      writeFrame(response, next.value);
      if (response.writableLength >= STREAM_AHEAD_BYTES) await drained(response, signal);
    }
  } catch (error) {
    writeFrame(response, failure(error));
  } finally {
    if (!next.done) await events.return?.();
    response.end();
  }
}

function writeFrame(response: ServerResponse, event: object): void {
  if (response.writableCorked === 0) {
    response.cork();
    setImmediate(() => response.uncork());
  }
  if (!isOutput(event)) {
    const payload = Buffer.from(JSON.stringify(event));
    response.write(Buffer.concat([head(JSON_FRAME, payload.length), payload]));
    return;
  }
  // Two writes and not one, so that the output is not copied.
  response.write(head(event.type === "stdout" ? STDOUT : STDERR, event.data.length));
  response.write(event.data);
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, "drain", { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

export type FrameEvent =
  | { readonly type: "stdout" | "stderr"; readonly data: Buffer }
  | { readonly type: "json"; readonly text: string };

/** Takes a framed stream apart. Output is given as it comes, also in the middle of its frame: the bytes are what counts. */
export class FrameDecoder {
  #begun: Buffer = Buffer.alloc(0);
  #type = 0;
  #left = 0;

  /** Throws `daemon-unreachable` when the bytes are no such stream. */
  push(chunk: Buffer): readonly FrameEvent[] {
    const events: FrameEvent[] = [];
    let at = 0;
    while (at < chunk.length) {
      if (this.#type === 0) {
        at = this.#readHead(chunk, at);
      } else if (this.#type === JSON_FRAME) {
        at = this.#readJson(chunk, at, events);
      } else {
        const data = chunk.subarray(at, at + this.#left);
        at += data.length;
        this.#left -= data.length;
        events.push({ type: this.#type === STDOUT ? "stdout" : "stderr", data });
        if (this.#left === 0) this.#type = 0;
      }
    }
    return events;
  }

  /** Whether the stream may end here. */
  get whole(): boolean {
    return this.#type === 0 && this.#begun.length === 0;
  }

  #readHead(chunk: Buffer, from: number): number {
    const to = from + HEAD_BYTES - this.#begun.length;
    this.#begun = Buffer.concat([this.#begun, chunk.subarray(from, to)]);
    if (this.#begun.length < HEAD_BYTES) return chunk.length;
    const type = this.#begun.readUInt8(4);
    this.#left = this.#begun.readUInt32LE(0);
    this.#begun = Buffer.alloc(0);
    const json = type === JSON_FRAME && this.#left <= STREAM_FRAME_JSON_BYTES_MAX;
    if (!json && type !== STDOUT && type !== STDERR) {
      const what = `a frame of type ${type} with ${this.#left} bytes`;
      throw new RecintoError("daemon-unreachable", `the stream of the daemon is broken: ${what}`);
    }
    this.#type = this.#left === 0 ? 0 : type;
    return to;
  }

  #readJson(chunk: Buffer, from: number, events: FrameEvent[]): number {
    const part = chunk.subarray(from, from + this.#left);
    this.#left -= part.length;
    this.#begun = this.#begun.length === 0 ? part : Buffer.concat([this.#begun, part]);
    if (this.#left === 0) {
      events.push({ type: "json", text: this.#begun.toString("utf8") });
      this.#begun = Buffer.alloc(0);
      this.#type = 0;
    }
    return from + part.length;
  }
}

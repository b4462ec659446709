/** The framed stream of a command (docs/api-streams.md): output as bytes, everything else as JSON. Both directions of it. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { RecintoError } from "../errors.ts";
import {
  REQUEST_BODY_BYTES_MAX,
  STREAM_AHEAD_BYTES,
  STREAM_FRAME_JSON_BYTES_MAX,
  STREAM_HOLD_MS,
} from "../limits.ts";

export const FRAMES_TYPE = "application/vnd.recinto.frames";
/** Frames both ways on one connection, as a name in `Upgrade`. */
export const FRAMES_PROTOCOL = "recinto-frames";

/** u32 payload length, little endian; u8 type; payload. */
const HEAD_BYTES = 5;
const JSON_FRAME = "j".charCodeAt(0);
const STDOUT = "o".charCodeAt(0);
const STDERR = "e".charCodeAt(0);
const INPUT = "i".charCodeAt(0);

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

/**
 * Like `sendLines`, in frames. What comes in the same turn of the event loop goes out in one system call, and what is no
 * output waits a moment for what follows: a command that is over by then is one answer of known length.
 */
export async function sendFrames(
  response: ServerResponse,
  source: AsyncIterable<object>,
  signal: AbortSignal,
  failure: (error: unknown) => object,
): Promise<void> {
  const events = source[Symbol.asyncIterator]();
  const first = await events.next();
  // Without a length it is in chunks, as what streams is.
  const begin = (length?: number) => {
    if (response.headersSent) return;
    const known = length === undefined ? {} : { "content-length": length };
    response.writeHead(200, { "content-type": FRAMES_TYPE, ...known });
  };
  await writeFrames(response, events, first, signal, failure, begin);
}

/** Sends `first` and what follows it, then the end. What goes wrong meanwhile is sent as `failure` says. */
export async function writeFrames(
  to: Writable,
  events: AsyncIterator<object>,
  first: IteratorResult<object>,
  signal: AbortSignal,
  failure: (error: unknown) => object,
  begin: (length?: number) => void = () => {},
): Promise<void> {
  const frames = new FrameWriter(to, begin);
  let next = first;
  try {
    for (; !next.done && !signal.aborted; next = await events.next()) {
      frames.write(next.value);
      if (frames.waiting >= STREAM_AHEAD_BYTES) {
        frames.flush();
        if (to.writableNeedDrain) await drained(to, signal);
      }
    }
  } catch (error) {
    frames.write(failure(error));
  } finally {
    if (!next.done) await events.return?.();
    frames.end();
  }
}

class FrameWriter {
  readonly #to: Writable;
  /** Called before each write; with the length where all of it is known. */
  readonly #begin: (length?: number) => void;
  #held: Buffer[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Output of this turn: pieces of one stream are one frame. */
  #output: { readonly type: "stdout" | "stderr"; readonly pieces: Uint8Array[] } | null = null;
  #outputBytes = 0;
  #begun = false;

  constructor(to: Writable, begin: (length?: number) => void) {
    this.#to = to;
    this.#begin = begin;
  }

  /** Bytes that the connection has not taken. */
  get waiting(): number {
    return this.#to.writableLength + this.#outputBytes;
  }

  write(event: object): void {
    if (isOutput(event)) {
      this.#flushHeld();
      if (this.#output?.type !== event.type) this.#flushOutput();
      this.#output ??= { type: event.type, pieces: [] };
      this.#output.pieces.push(event.data);
      this.#outputBytes += event.data.length;
      return;
    }
    this.#flushOutput();
    this.#held.push(jsonFrame(event));
    // Somebody is asked: that takes longer than any moment.
    if ("type" in event && event.type === "pending") this.#flushHeld();
    else this.#timer ??= setTimeout(() => this.#flushHeld(), STREAM_HOLD_MS);
  }

  flush(): void {
    this.#flushHeld();
    this.#flushOutput();
  }

  end(): void {
    this.#flushOutput();
    if (this.#timer !== null) clearTimeout(this.#timer);
    const rest = Buffer.concat(this.#held);
    if (!this.#begun) this.#begin(rest.length);
    this.#to.end(rest);
  }

  #flushHeld(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#gather();
    if (!this.#begun) this.#begin();
    this.#begun = true;
    if (this.#held.length > 0) this.#to.write(Buffer.concat(this.#held));
    this.#held = [];
  }

  /** A write for each piece, so that the output is not copied. */
  #flushOutput(): void {
    if (this.#output === null) return;
    const { type, pieces } = this.#output;
    this.#to.write(head(type === "stdout" ? STDOUT : STDERR, this.#outputBytes));
    for (const piece of pieces) this.#to.write(piece);
    this.#output = null;
    this.#outputBytes = 0;
  }

  /** What is written in this turn goes out at its end. */
  #gather(): void {
    if (this.#to.writableCorked > 0) return;
    this.#to.cork();
    setImmediate(() => {
      this.#flushOutput();
      this.#to.uncork();
    });
  }
}

export function jsonFrame(value: object): Buffer {
  const payload = Buffer.from(JSON.stringify(value));
  return Buffer.concat([head(JSON_FRAME, payload.length), payload]);
}

/** A frame of nothing: a client that is gone is noticed by it. */
export function keepAlive(to: Writable): void {
  if (to.writable && to.writableLength === 0) to.write(head(STDOUT, 0));
}

/** To be followed by as many bytes of input. */
export function inputHead(length: number): Buffer {
  return head(INPUT, length);
}

async function drained(to: Writable, signal: AbortSignal): Promise<void> {
  try {
    await once(to, "drain", { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

export type FrameEvent<Stream extends string = "stdout" | "stderr"> =
  | { readonly type: Stream; readonly data: Buffer }
  | { readonly type: "json"; readonly text: string };

/** What one direction carries besides JSON, and what a fault in it is. */
interface Direction<Stream extends string> {
  readonly streams: ReadonlyMap<number, Stream>;
  readonly jsonBytesMax: number;
  readonly fault: (what: string) => RecintoError;
}

const FROM_DAEMON: Direction<"stdout" | "stderr"> = {
  streams: new Map([
    [STDOUT, "stdout"],
    [STDERR, "stderr"],
  ]),
  jsonBytesMax: STREAM_FRAME_JSON_BYTES_MAX,
  fault: (what) =>
    new RecintoError("daemon-unreachable", `the stream of the daemon is broken: ${what}`),
};

const TO_DAEMON: Direction<"input"> = {
  streams: new Map([[INPUT, "input"]]),
  jsonBytesMax: REQUEST_BODY_BYTES_MAX,
  fault: (what) =>
    new RecintoError("bad-request", `${what} is no frame that is taken here`, {
      hint: "send i and j frames; docs/api-streams.md",
    }),
};

export const outputDecoder = () => new FrameDecoder(FROM_DAEMON);
export const inputDecoder = () => new FrameDecoder(TO_DAEMON);

/** Takes a framed stream apart. Output is given as it comes, also in the middle of its frame: the bytes are what counts. */
export class FrameDecoder<Stream extends string> {
  readonly #direction: Direction<Stream>;
  #begun: Buffer = Buffer.alloc(0);
  #type = 0;
  #left = 0;

  constructor(direction: Direction<Stream>) {
    this.#direction = direction;
  }

  /** Throws `daemon-unreachable`, or `bad-request` for what a client sends, when the bytes are no such stream. */
  push(chunk: Buffer): readonly FrameEvent<Stream>[] {
    const events: FrameEvent<Stream>[] = [];
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
        events.push({ type: this.#direction.streams.get(this.#type) as Stream, data });
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
    const { streams, jsonBytesMax, fault } = this.#direction;
    const json = type === JSON_FRAME && this.#left <= jsonBytesMax;
    if (!json && !streams.has(type)) {
      throw fault(`a frame of type ${type} with ${this.#left} bytes`);
    }
    this.#type = this.#left === 0 ? 0 : type;
    return to;
  }

  #readJson(chunk: Buffer, from: number, events: FrameEvent<Stream>[]): number {
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

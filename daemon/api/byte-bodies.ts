/** Bodies that are bytes and no JSON: what a client sends, read as it comes, and what it gets, sent as it is read. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { RecintoError } from "../errors.ts";
import { FILE_BODY_IDLE_MS, FILE_DRAIN_BYTES_MAX } from "../limits.ts";

/** An answer of bytes. `close` is called in any case, also when nothing was read. */
export interface BytesAnswer {
  readonly type: string;
  /** Absent: it ends when it ends. */
  readonly length?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: AsyncIterable<Uint8Array>;
  close(): Promise<void>;
  /** What can be told only after the last byte. */
  readonly trailers?: () => Readonly<Record<string, string>>;
}

/** The first piece is awaited before the head goes out; an error after it breaks the connection off. */
export async function sendBytes(
  response: ServerResponse,
  answer: BytesAnswer,
  signal: AbortSignal,
): Promise<void> {
  const { type, length, headers, bytes, trailers } = answer;
  try {
    const pieces = bytes[Symbol.asyncIterator]();
    let next = await pieces.next();
    response.writeHead(200, {
      ...headers,
      "content-type": type,
      ...(length === undefined ? {} : { "content-length": length }),
      ...(trailers === undefined ? {} : { trailer: Object.keys(trailers()).join(", ") }),
    });
    for (; !next.done && !signal.aborted; next = await pieces.next()) {
      if (!response.write(next.value)) await once(response, "drain", { signal });
    }
    if (signal.aborted) return;
    if (trailers !== undefined) response.addTrailers(trailers());
    response.end();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await answer.close();
  }
}

/**
 * What a client sends. It is asked for (`100 Continue`) when the first piece is wanted, so that a client which waits for
 * that sends nothing that is refused anyway.
 */
export class BytesBody implements AsyncIterable<Uint8Array> {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #begun = false;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    this.#begin();
    const pieces = this.#request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
    for (;;) {
      const next = await inTime(pieces.next());
      if (next.done) return;
      yield next.value;
    }
  }

  /** Before a refusal is sent: a client that is still sending would meet a reset instead. */
  async drain(): Promise<void> {
    if (!this.#begun && this.#awaits()) return;
    let left = FILE_DRAIN_BYTES_MAX;
    try {
      for await (const piece of this) {
        left -= piece.length;
        if (left <= 0) return;
      }
    } catch {
      // It broke off: then there is nobody to tell.
    }
  }

  #begin(): void {
    if (!this.#begun && this.#awaits()) this.#response.writeContinue();
    this.#begun = true;
  }

  #awaits(): boolean {
    return this.#request.headers.expect !== undefined;
  }
}

async function inTime<T>(piece: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const what = `nothing more of the body came for ${FILE_BODY_IDLE_MS} ms`;
      reject(new RecintoError("request-timeout", what));
    }, FILE_BODY_IDLE_MS);
  });
  try {
    return await Promise.race([piece, late]);
  } catch (error) {
    if (error instanceof RecintoError) throw error;
    throw new RecintoError("bad-http", "the request body broke off", { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Tells a client that waits where the question is, and keeps the connection from looking dead (103 Early Hints). */
export function announcer(response: ServerResponse): (path: string) => void {
  return (path) => {
    if (!response.headersSent) response.writeEarlyHints({ link: `<${path}>; rel=monitor` });
  };
}

/** Reads what a request carries: one JSON object, or a first object followed by lines, each within its limit. */
import type { IncomingMessage } from "node:http";
import { RecintoError } from "../errors.ts";
import { REQUEST_BODY_BYTES_MAX, REQUEST_TIMEOUT_MS } from "../limits.ts";

/** Bytes of bodies that may be held at one moment; one for all sockets of a daemon. */
export class BodyBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): void {
    if (bytes > this.#left) {
      throw new RecintoError("busy", "too many request bodies are being read at once");
    }
    this.#left -= bytes;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

/** The whole body as a JSON value; `undefined` when it is empty. */
export async function readJson(request: IncomingMessage, budget: BodyBudget): Promise<unknown> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > REQUEST_BODY_BYTES_MAX) throw tooLarge(declared);
  const body = await withinTime(() => wholeBody(request, budget));
  return body.length === 0 ? undefined : parseJson(body);
}

/** By events and not by iteration, which costs every small request more than its parsing. */
function wholeBody(request: IncomingMessage, budget: BodyBudget): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let release = () => {};
  const read = new Promise<Buffer>((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      try {
        budget.take(chunk.length);
        bytes += chunk.length;
        if (bytes > REQUEST_BODY_BYTES_MAX) throw tooLarge(bytes);
        chunks.push(chunk);
      } catch (error) {
        reject(error);
      }
    };
    const onEnd = () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    // It closes after its end too.
    const onClose = () => {
      if (!request.readableEnded)
        reject(new RecintoError("bad-http", "the request body broke off"));
    };
    request.on("data", onData).once("end", onEnd).once("error", reject).once("close", onClose);
    release = () => {
      // What is left of it is not read: the answer still goes out on the connection.
      request.off("data", onData).off("end", onEnd).off("error", reject).off("close", onClose);
      if (!request.readableEnded) request.pause();
      budget.give(bytes);
    };
  });
  return read.finally(() => release());
}

export interface Lines {
  /** The first line's value; `undefined` when there is none. */
  readonly first: unknown;
  /** The lines after it, as they come. */
  readonly rest: AsyncGenerator<unknown, void>;
}

/** A body of NDJSON. The first line must come in time, the others whenever they like. */
export async function readLines(request: IncomingMessage): Promise<Lines> {
  const lines = splitLines(request);
  const first = await withinTime(() => lines.next());
  return { first: first.done ? undefined : first.value, rest: lines };
}

async function* splitLines(request: IncomingMessage): AsyncGenerator<unknown, void> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of chunksOf(request)) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...begun, chunk.subarray(from, end)]);
      begun = [];
      begunBytes = 0;
      from = end + 1;
      if (line.length > 0) yield parseJson(line);
    }
    if (from === chunk.length) continue;
    begun.push(chunk.subarray(from));
    begunBytes += chunk.length - from;
    if (begunBytes > REQUEST_BODY_BYTES_MAX) throw tooLarge(begunBytes);
  }
  if (begunBytes > 0) yield parseJson(Buffer.concat(begun));
}

function chunksOf(request: IncomingMessage): AsyncIterable<Buffer> {
  // Leaving early must not destroy the connection: the answer still goes out on it.
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

function parseJson(bytes: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RecintoError("bad-utf8", "the request body is not valid UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8 quotes the text around the fault itself, shortened.
    throw new RecintoError("bad-json", `the request body is not JSON: ${(error as Error).message}`);
  }
}

async function withinTime<T>(read: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new RecintoError(
          "request-timeout",
          `the request body was not there after ${REQUEST_TIMEOUT_MS} ms`,
        ),
      );
    }, REQUEST_TIMEOUT_MS);
  });
  try {
    return await Promise.race([read(), late]);
  } catch (error) {
    if (error instanceof RecintoError) throw error;
    throw new RecintoError("bad-http", `the request body broke off`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(bytes: number): RecintoError {
  return new RecintoError(
    "body-too-large",
    `a request body of ${bytes} bytes or more is over the limit of ${REQUEST_BODY_BYTES_MAX}`,
  );
}

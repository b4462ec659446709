/** Writes answers: JSON, errors, and lines that wait for a slow reader instead of piling up. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { RecintoError } from "../errors.ts";
import { RETRY_AFTER_S } from "../limits.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const LINES_TYPE = "application/x-ndjson; charset=utf-8";

export function sendJson(response: ServerResponse, value: unknown): void {
  const body = Buffer.from(`${JSON.stringify(value)}\n`);
  response.writeHead(200, { "content-type": JSON_TYPE, "content-length": body.length });
  response.end(body);
}

export function sendNothing(response: ServerResponse): void {
  response.writeHead(204);
  response.end();
}

/** The body of an error as every client sees it. */
export function errorBody(error: RecintoError, requestId: string): object {
  const { code, message, hint, details } = error.toJSON().error;
  return { error: { code, message, hint, requestId, ...(details ? { details } : {}) } };
}

/** The connection closes after it: what is left of a faulty request must not be read as the next one. */
export function sendError(response: ServerResponse, error: RecintoError, requestId: string): void {
  const body = Buffer.from(`${JSON.stringify(errorBody(error, requestId))}\n`);
  const { allowed } = error.details;
  response.writeHead(error.status, {
    "content-type": JSON_TYPE,
    "content-length": body.length,
    connection: "close",
    ...(Array.isArray(allowed) ? { allow: allowed.join(", ") } : {}),
    ...(error.status === 429 ? { "retry-after": String(RETRY_AFTER_S) } : {}),
  });
  response.end(body);
}

/** An error to a peer whose bytes were not HTTP, so that there is no response object for it. */
export function sendRawError(connection: Duplex, error: RecintoError, requestId: string): void {
  const body = `${JSON.stringify(errorBody(error, requestId))}\n`;
  connection.end(
    [
      `HTTP/1.1 ${error.status} ${error.code}`,
      `content-type: ${JSON_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
    () => connection.destroy(),
  );
}

/**
 * Sends each item as a line. The first one is awaited before the head goes out, so that what fails at once is still
 * answered with its own status. The source is not asked for more while the client does not read. An error later on
 * ends the stream with an `error` line.
 */
export async function sendLines(
  response: ServerResponse,
  source: AsyncIterable<unknown>,
  signal: AbortSignal,
  failure: (error: unknown) => object,
): Promise<void> {
  const items = source[Symbol.asyncIterator]();
  let next = await items.next();
  response.writeHead(200, { "content-type": LINES_TYPE });
  // A client that follows something quiet must see that it is served.
  response.flushHeaders();
  try {
    for (; !next.done && !signal.aborted; next = await items.next()) {
      if (!response.write(`${JSON.stringify(next.value)}\n`)) await drained(response, signal);
    }
  } catch (error) {
    response.write(`${JSON.stringify(failure(error))}\n`);
  } finally {
    if (!next.done) await items.return?.();
    response.end();
  }
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, "drain", { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

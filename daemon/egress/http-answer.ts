/** What a client hears: the server's answer, framed anew, or why there is none. */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { BrokenStream } from "./byte-reader.ts";
import { drained } from "./carry.ts";
import type { RequestHead } from "./request-head.ts";

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large",
  501: "Not Implemented",
  502: "Bad Gateway",
  504: "Gateway Timeout",
};

/** Plain text that a person or an agent can read in the middle of a tool's output. */
export function refuse(client: Duplex, status: number, why: string): void {
  const body = `recinto: ${why}\n`;
  client.end(
    `HTTP/1.1 ${status} ${REASONS[status]}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** The answer's head; null: none came. */
export function answerOf(upstream: ClientRequest): Promise<IncomingMessage | null> {
  return new Promise((resolve) => {
    upstream.once("response", resolve);
    upstream.on("error", () => resolve(null));
    upstream.once("close", () => resolve(null));
  });
}

const ANSWER_HOP_BY_HOP =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length)$/i;

/** The whole answer, framed anew. Throws BrokenStream where it breaks off. */
export async function relayAnswer(
  client: Duplex,
  answer: IncomingMessage,
  { method, version }: RequestHead,
  keepAlive: boolean,
  count: (size: number) => void,
): Promise<void> {
  const { statusCode = 502, statusMessage = "", rawHeaders } = answer;
  const length = answer.headers["content-length"];
  const empty = method === "HEAD" || statusCode === 204 || statusCode === 304;
  const chunked = !empty && length === undefined && version === "1.1";
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage.replace(/[^\x20-\x7e]/g, "?")}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (!ANSWER_HOP_BY_HOP.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  if (length !== undefined) lines.push(`Content-Length: ${length}`);
  if (chunked) lines.push("Transfer-Encoding: chunked");
  const goesOn = keepAlive && (empty || chunked || length !== undefined);
  lines.push(`Connection: ${goesOn ? "keep-alive" : "close"}`);
  client.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    count(chunk.length);
    if (client.destroyed) throw new BrokenStream("closed");
    const framed = chunked
      ? Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, CRLF])
      : chunk;
    if (!client.write(framed)) await drained(client);
  }
  if (!answer.complete) throw new BrokenStream("the answer broke off");
  if (chunked) client.write("0\r\n\r\n");
  if (!goesOn) client.end();
}

const CRLF = Buffer.from("\r\n");

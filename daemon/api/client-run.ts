/** Running a command by the typed client: the request, its input, and what happens as it happens. */
import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import type { FramedOutput, Transport } from "./client-transport.ts";
import type { Bytes, RunRequest, WireRunEvent } from "./schema-run.ts";

/** An event as a program wants it: output as bytes. */
export type ClientRunEvent =
  | Exclude<WireRunEvent, { type: "stdout" | "stderr" | "error" }>
  | FramedOutput;

export interface ClientRunRequest extends Omit<RunRequest, "stdin"> {
  /**
   * Bytes are sent with the request and shown to an approver; a stream follows it, with back-pressure; `open`: it comes
   * by `jobs(session).write`, or by who is attached.
   */
  readonly stdin?: Uint8Array | Readable | "open";
}

export async function* runCall(
  http: Transport,
  session: string,
  { stdin, ...request }: ClientRunRequest,
  signal?: AbortSignal,
): AsyncGenerator<ClientRunEvent, void> {
  const given =
    stdin === undefined || stdin === "open"
      ? { body: stdin === undefined ? request : { ...request, stdin } }
      : stdin instanceof Uint8Array
        ? { body: { ...request, stdin: carried(Buffer.from(stdin)) } }
        : { body: { ...request, stdin: "stream" }, rest: stdinLines(stdin) };
  yield* http.frames<Exclude<ClientRunEvent, FramedOutput>>({
    method: "POST",
    path: `/v1/sessions/${encodeURIComponent(session)}/exec`,
    ...given,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Bytes as they travel in JSON. */
export function carried(bytes: Buffer): Bytes {
  return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
}

/** One Bytes object a line, made only as fast as the daemon takes them. */
function stdinLines(stdin: Readable): Readable {
  async function* lines() {
    for await (const chunk of stdin) yield `${JSON.stringify(carried(Buffer.from(chunk)))}\n`;
  }
  return Readable.from(lines());
}

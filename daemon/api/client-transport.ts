/** HTTP over the daemon's Unix socket for programs: one JSON answer, or lines as they come. */
import {
  Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ERROR_KINDS, type ErrorCode, RecintoError } from "../errors.ts";
import { CLIENT_START_RETRY_MS, CLIENT_START_WAIT_MS, STREAM_AHEAD_BYTES } from "../limits.ts";
import { FRAMES_TYPE, type FrameEvent, outputDecoder } from "./stream-frames.ts";
import { wideReads } from "./wide-reads.ts";

export interface TransportOptions {
  readonly socketPath: string;
  /** Opens each connection in place of `socketPath`: inside the daemon, on behalf of a caller that is connected already. */
  readonly dial?: () => Duplex;
  /** Keep trying for the first seconds while the daemon starts. */
  readonly waitForStart?: boolean;
}

export interface Call {
  readonly method: "DELETE" | "GET" | "POST";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** Goes after `body`, which is then the first line of NDJSON. */
  readonly rest?: Readable;
  /** The body as bytes. They are sent once the daemon asks for them: a refusal costs nothing. */
  readonly content?: AsyncIterable<Uint8Array>;
  /** A person is asked: the question's id, told again now and then while the answer waits. */
  readonly onPending?: (approval: string) => void;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

export interface BytesReply {
  readonly headers: IncomingHttpHeaders;
  /** Leaving the loop closes the connection. */
  readonly bytes: AsyncGenerator<Buffer, void>;
  /** After the last byte. */
  trailers(): Readonly<Record<string, string | undefined>>;
}

export type FramedOutput = Exclude<FrameEvent, { type: "json" }>;

export class Transport {
  readonly #options: TransportOptions;
  readonly #agent = new WideAgent({ keepAlive: true });

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** The answer's JSON; `undefined` for 204. Throws RecintoError: the daemon's own, or `daemon-unreachable`. */
  async json<T>(call: Call): Promise<T> {
    const response = await this.#send(call);
    const text = await textOf(response);
    return (text === "" ? undefined : parse(text)) as T;
  }

  /** An answer of bytes. Throws as `json` does; a stream that breaks off throws `daemon-unreachable`. */
  async bytes(call: Call): Promise<BytesReply> {
    const response = await this.#send(call);
    const broken = (error: unknown) => this.unreachable(error);
    async function* bytes(): AsyncGenerator<Buffer, void> {
      try {
        for await (const chunk of response as AsyncIterable<Buffer>) yield chunk;
      } catch (error) {
        throw broken(error);
      } finally {
        response.destroy();
      }
    }
    const { headers } = response;
    return { headers, bytes: bytes(), trailers: () => response.trailers };
  }

  /** One value a line. Leaving the loop, or aborting the signal, closes the connection: the daemon then stops the work. */
  async *lines<T>(call: Call): AsyncGenerator<T, void> {
    const response = await this.#send(call);
    let begun = "";
    let ended = false;
    response.setEncoding("utf8");
    try {
      for await (const chunk of response as AsyncIterable<string>) {
        const lines = (begun + chunk).split("\n");
        begun = lines.pop() as string;
        for (const line of lines) {
          if (line !== "") yield lineValue<T>(line);
        }
      }
      ended = true;
    } catch (error) {
      if (error instanceof RecintoError) throw error;
      if (call.signal?.aborted) return;
      throw this.unreachable(error);
    } finally {
      if (!ended) response.destroy();
      call.rest?.destroy();
    }
  }

  /** The events of a framed stream: output as bytes, the others as `T`. Leaving the loop as in `lines`. */
  async *frames<T>(call: Call): AsyncGenerator<T | FramedOutput, void> {
    const response = await this.#send({ ...call, accept: FRAMES_TYPE });
    const decoder = outputDecoder();
    let ended = false;
    try {
      for await (const chunks of batches(response)) {
        for (const chunk of chunks) {
          for (const event of decoder.push(chunk)) {
            yield event.type === "json" ? lineValue<T>(event.text) : event;
          }
        }
      }
      ended = decoder.whole;
      if (!ended) throw this.unreachable(new Error("in the middle of a frame"));
    } catch (error) {
      if (error instanceof RecintoError) throw error;
      if (call.signal?.aborted) return;
      throw this.unreachable(error);
    } finally {
      if (!ended) response.destroy();
      call.rest?.destroy();
    }
  }

  /** The connection once it has left HTTP for `protocol`. Throws as `json` does. */
  async upgraded(call: Call, protocol: string): Promise<Duplex> {
    const { socketPath, dial } = this.#options;
    const request = httpRequest({
      ...(dial === undefined ? { socketPath, agent: false } : { createConnection: dial }),
      method: call.method,
      path: pathOf(call),
      headers: { host: "recinto", connection: "Upgrade", upgrade: protocol },
    });
    return new Promise((resolve, reject) => {
      request.once("upgrade", (_response, connection: Duplex, head: Buffer) => {
        if (head.length > 0) connection.unshift(head);
        resolve(connection);
      });
      request.once("response", (response) => {
        textOf(response).then((text) => reject(errorOf(parse(text))), reject);
      });
      request.once("error", (error) => reject(this.unreachable(error)));
      request.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(call: Call): Promise<IncomingMessage> {
    const until = Date.now() + (this.#options.waitForStart ? CLIENT_START_WAIT_MS : 0);
    for (;;) {
      try {
        const response = await this.#once(call);
        if ((response.statusCode ?? 500) < 300) return response;
        throw errorOf(parse(await textOf(response)));
      } catch (error) {
        if (error instanceof RecintoError) throw error;
        const code = (error as NodeJS.ErrnoException).code ?? "";
        // Nothing was sent yet in these cases, so that trying again cannot run a command twice.
        const starting = code === "ENOENT" || code === "ECONNREFUSED";
        if (!starting || Date.now() >= until) throw this.unreachable(error);
        await sleep(CLIENT_START_RETRY_MS);
      }
    }
  }

  #once(call: Call): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const body = call.body === undefined ? undefined : JSON.stringify(call.body);
      const { socketPath, dial } = this.#options;
      const request = httpRequest({
        ...(dial === undefined ? { socketPath, agent: this.#agent } : { createConnection: dial }),
        method: call.method,
        path: pathOf(call),
        headers: {
          host: "recinto",
          ...(call.accept === undefined ? {} : { accept: call.accept }),
          ...(call.content === undefined
            ? {}
            : { "content-type": "application/octet-stream", expect: "100-continue" }),
          ...(body === undefined
            ? {}
            : { "content-type": call.rest ? "application/x-ndjson" : "application/json" }),
        },
        ...(call.signal ? { signal: call.signal } : {}),
      });
      request.once("response", resolve);
      // Also after the answer has begun: a command may end before it has read all of its stdin.
      request.on("error", reject);
      if (call.onPending !== undefined) tellPending(request, call.onPending);
      if (call.content !== undefined) sendWhenAsked(request, call.content);
      else if (call.rest === undefined) request.end(body);
      else {
        request.write(`${body}\n`);
        call.rest.once("error", (error) => request.destroy(error));
        call.rest.pipe(request);
      }
    });
  }

  /** What a connection that broke off, or could not be made, is told as. */
  unreachable(error: unknown): RecintoError {
    const { code, message } = error as NodeJS.ErrnoException;
    const { socketPath } = this.#options;
    if (code === "EACCES") {
      return new RecintoError("not-permitted", `this user may not open ${socketPath}`, {
        hint: "use a user or group that may; ls -l shows which",
        cause: error,
      });
    }
    const what =
      code === "ENOENT" || code === "ECONNREFUSED"
        ? `no daemon listens on ${socketPath}`
        : `the connection to the daemon broke off (${code ?? message})`;
    return new RecintoError("daemon-unreachable", what, { cause: error });
  }
}

/** Keeps connections that read in large pieces. */
class WideAgent extends Agent {
  /** Node calls this by its name (documented, and not in its types). */
  createConnection({ socketPath }: { readonly socketPath: string }): Socket {
    const socket: Socket = connect({
      path: socketPath,
      onread: wideReads((piece) => socket.push(piece)),
    });
    return socket;
  }
}

/** Early hints that name the question which the answer waits for. */
function tellPending(request: ClientRequest, onPending: (approval: string) => void): void {
  request.on("information", ({ headers }) => {
    const [, approval] = /\/approvals\/([^/>]+)>/.exec(String(headers.link ?? "")) ?? [];
    if (approval !== undefined) onPending(approval);
  });
}

/** Sends the content after `100 Continue`; an answer that comes before or meanwhile is the answer. */
function sendWhenAsked(request: ClientRequest, content: AsyncIterable<Uint8Array>): void {
  let answered = false;
  request.once("response", () => {
    answered = true;
    request.end();
  });
  request.once("continue", () => {
    // One listener for the whole body: the daemon may close while a piece waits to be taken.
    const closed = new Promise((resolve) => request.once("close", resolve));
    const drained = () => new Promise((resolve) => request.once("drain", resolve));
    void (async () => {
      try {
        for await (const chunk of content) {
          if (answered || request.destroyed) return;
          if (!request.write(chunk)) await Promise.race([drained(), closed]);
        }
        request.end();
      } catch (error) {
        request.destroy(error as Error);
      }
    })();
  });
  request.flushHeaders();
}

/** What came since the last look, piece by piece: iterating over the response itself would copy the pieces together. */
async function* batches(response: IncomingMessage): AsyncGenerator<readonly Buffer[], void> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let over: { readonly error: unknown } | null = null;
  let wake = () => {};
  response.on("data", (chunk: Buffer) => {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes >= STREAM_AHEAD_BYTES) response.pause();
    wake();
  });
  const end = (error: unknown) => {
    over ??= { error };
    wake();
  };
  response.once("end", () => end(null));
  response.once("error", end);
  response.once("close", () => end(new Error("closed")));
  for (;;) {
    if (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      bytes = 0;
      response.resume();
      yield batch;
    } else if (over !== null) {
      const { error } = over as { readonly error: unknown };
      if (error !== null) throw error;
      return;
    } else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

/** An error in the middle of a stream is thrown as if it had been the answer. */
export function lineValue<T>(line: string): T {
  const value = parse(line) as { type?: unknown };
  if (value.type === "error") throw errorOf(value);
  return value as T;
}

function errorOf(answer: unknown): RecintoError {
  const error = (answer as { error?: Record<string, unknown> }).error ?? {};
  const code =
    typeof error.code === "string" && error.code in ERROR_KINDS ? error.code : "internal";
  const { hint, details, requestId } = error;
  return new RecintoError(code as ErrorCode, String(error.message ?? "an error without words"), {
    ...(typeof hint === "string" ? { hint } : {}),
    details: { ...(details as object | undefined), requestId },
  });
}

function pathOf({ path, query = {} }: Call): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding("utf8");
  let text = "";
  for await (const chunk of response as AsyncIterable<string>) text += chunk;
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RecintoError("daemon-unreachable", "what answers on this socket is not recintod", {
      cause: error,
    });
  }
}

/** One HTTP server on one socket: checks every request, finds its route, answers, and survives whatever is sent to it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { RecintoError } from "../errors.ts";
import {
  CONNECTIONS_CHECK_MS,
  CONNECTIONS_MAX,
  KEEP_ALIVE_MS,
  REQUEST_HEAD_BYTES_MAX,
  REQUEST_TIMEOUT_MS,
  STREAM_AHEAD_BYTES,
} from "../limits.ts";
import type { Caller } from "../supervisor/types.ts";
import { errorBody, sendError, sendJson, sendLines, sendNothing, sendRawError } from "./answer.ts";
import { type BodyBudget, readJson, readLines } from "./body.ts";
import { announcer, type BytesAnswer, BytesBody, sendBytes } from "./byte-bodies.ts";
import { callerOf, widenSending } from "./caller.ts";
import { duplexPair } from "./duplex-pair.ts";
import { protocolError, toRecintoError } from "./known-errors.ts";
import { permit } from "./permit.ts";
import { refuseBrowsers } from "./refuse-browsers.ts";
import type { Backend, Route, RouteRequest } from "./route.ts";
import { echo, findRoute, parsePart, queryOf } from "./router.ts";
import { FRAMES_TYPE, sendFrames } from "./stream-frames.ts";
import { serveUpgrade } from "./upgrade.ts";

export interface ServerParts {
  readonly routes: readonly Route[];
  readonly socket: Caller["socket"];
  readonly backend: Backend;
  readonly bodies: BodyBudget;
  readonly log: Logger;
  readonly requestId: () => string;
}

export interface ApiServer {
  readonly http: Server;
  /** Stops listening and lets running answers end; what still streams after `graceMs` is cut. */
  close(graceMs: number): Promise<void>;
}

const CLIENT_GONE = new Error("the client is gone, or was answered");

export function createApiServer(parts: ServerParts): ApiServer {
  const callers = new WeakMap<Duplex, Caller>();
  const http = createServer({
    maxHeaderSize: REQUEST_HEAD_BYTES_MAX,
    headersTimeout: REQUEST_TIMEOUT_MS,
    // A request may go on as long as its command reads stdin; body.ts limits the others.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    requireHostHeader: false,
  });
  http.maxConnections = CONNECTIONS_MAX;

  /** A connection made inside the daemon, for what is served to this caller; it is checked like one from outside. */
  const dial = (caller: Caller): Duplex => {
    const [near, far] = duplexPair();
    callers.set(far, caller);
    http.emit("connection", far);
    return near;
  };

  http.on("connection", (connection: Socket) => {
    if (callers.has(connection)) return;
    const caller = withRights(callerOf(connection, parts.socket), parts.backend);
    if (caller === null) {
      parts.log.warn("a connection without peer credentials was refused");
      connection.destroy();
      return;
    }
    callers.set(connection, caller);
    widenSending(connection, STREAM_AHEAD_BYTES);
  });
  http.on("request", (request, response) => {
    const caller = callers.get(request.socket);
    if (caller !== undefined) void serve(parts, caller, request, response);
  });
  // A client that asks first whether to send its body is served by the same steps; byte-bodies.ts tells it to go on.
  http.on("checkContinue", (request, response) => http.emit("request", request, response));
  // Node forgets a connection that leaves HTTP: closing must know it.
  const upgraded = new Set<Duplex>();
  http.on("upgrade", (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    const caller = callers.get(request.socket);
    if (caller === undefined) return void connection.destroy();
    upgraded.add(connection);
    connection.once("close", () => upgraded.delete(connection));
    void serveUpgrade(parts, caller, request, connection, head, () => dial(caller));
  });
  http.on("clientError", (error: NodeJS.ErrnoException, connection) => {
    if (connection.writable && error.code !== "ECONNRESET") {
      sendRawError(connection, protocolError(error), parts.requestId());
    } else connection.destroy();
  });
  http.on("connect", (_request, connection: Duplex) => {
    const error = new RecintoError("method-not-allowed", "CONNECT is not served here");
    sendRawError(connection, error, parts.requestId());
  });
  http.on("drop", () => parts.log.warn({ limit: CONNECTIONS_MAX }, "too many connections"));

  return { http, close: (graceMs) => close(http, upgraded, graceMs) };
}

/** Roles are looked up once for each connection: who lost one keeps it no longer than a connection lasts. */
function withRights(caller: Caller | null, { rights }: Backend): Caller | null {
  if (caller === null || caller.socket.kind !== "admin") return caller;
  return { ...caller, socket: { kind: "admin", rights: rights?.(caller) } };
}

async function serve(
  parts: ServerParts,
  caller: Caller,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = parts.requestId();
  const begun = performance.now();
  const log = parts.log.child({ requestId, uid: caller.uid, pid: caller.pid });
  const gone = new AbortController();
  // With a reason of its own: an abort without one makes an error with a stack each time.
  response.once("close", () => gone.abort(CLIENT_GONE));
  // Without a listener a reset connection would be an uncaught error; `close` is what is acted upon.
  response.on("error", (error) => log.debug({ err: error }, "the client is gone"));
  response.setHeader("x-request-id", requestId);
  const failed = (error: unknown) => toRecintoError(error, log);
  try {
    await answer(parts, caller, request, response, log, gone.signal, (error) =>
      Object.assign({ type: "error" }, errorBody(failed(error), requestId)),
    );
  } catch (error) {
    const known = failed(error);
    if (!response.headersSent) sendError(response, known, requestId);
    else response.destroy();
  }
  log.debug(
    {
      method: request.method,
      path: request.url?.split("?")[0],
      status: response.statusCode,
      ms: performance.now() - begun,
    },
    "request",
  );
}

async function answer(
  parts: ServerParts,
  caller: Caller,
  request: IncomingMessage,
  response: ServerResponse,
  log: Logger,
  signal: AbortSignal,
  failure: (error: unknown) => object,
): Promise<void> {
  refuseBrowsers(request);
  const [path = "", search] = splitOnce(request.url ?? "", "?");
  const { route, params } = findRoute(parts.routes, caller.socket.kind, request.method ?? "", path);
  const checkedParams = parsePart(route.params, "path", params);
  const query = parsePart(route.query, "query", queryOf(new URLSearchParams(search)));
  const content = new BytesBody(request, response);
  if (route.takes === undefined && request.headers.expect !== undefined) response.writeContinue();
  const { body, rest } = await bodyOf(route, request, parts.bodies);
  permit(route, caller, checkedParams, query, body);
  // The table holds routes of every shape; each was made by a function that ties its handler to its schemas.
  const given = {
    caller,
    params: checkedParams as never,
    query: query as never,
    body: body as never,
    rest,
    content: route.takes === undefined ? nothing() : content,
    announce: announcer(response),
    signal,
    log,
  } satisfies RouteRequest<never, never, never>;
  if (route.handleFrames !== undefined && request.headers.accept === FRAMES_TYPE) {
    await sendFrames(response, route.handleFrames(parts.backend, given), signal, failure);
    return;
  }
  if (route.takes !== undefined) {
    const value = await handleBytes(() => route.handle(parts.backend, given), content);
    sendJson(response, value);
    return;
  }
  const handled = route.handle(parts.backend, given);
  if (route.gives !== undefined) {
    await sendBytes(response, (await handled) as BytesAnswer, signal);
  } else if (route.lines) {
    await sendLines(response, handled as AsyncIterable<unknown>, signal, failure);
  } else {
    const value = await handled;
    if (value === null) sendNothing(response);
    else sendJson(response, value);
  }
}

/** What is refused while the client still sends is told to it once it has sent, or enough of it. */
async function handleBytes(handle: () => unknown, content: BytesBody): Promise<unknown> {
  try {
    return await handle();
  } catch (error) {
    await content.drain();
    throw error;
  }
}

async function bodyOf(
  route: Route,
  request: IncomingMessage,
  bodies: BodyBudget,
): Promise<{ body: unknown; rest: AsyncGenerator<unknown, void> }> {
  if (route.takes !== undefined) return { body: undefined, rest: nothing() };
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (route.bodyGoesOn && type === "application/x-ndjson") {
    const { first, rest } = await readLines(request);
    return { body: parsePart(route.body as NonNullable<Route["body"]>, "body", first), rest };
  }
  const value = await readJson(request, bodies);
  if (route.body === null) {
    if (value === undefined) return { body: undefined, rest: nothing() };
    throw new RecintoError("bad-request", "body: this request takes none");
  }
  // curl says form-urlencoded when told nothing; a page of a browser can send that without asking first.
  if (value !== undefined && type !== "application/json") {
    throw new RecintoError(
      "bad-request",
      `the content type is ${type === undefined ? "absent" : echo(type)}`,
      { hint: "send Content-Type: application/json" },
    );
  }
  return { body: parsePart(route.body, "body", value), rest: nothing() };
}

async function* nothing(): AsyncGenerator<never, void> {}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

async function close(http: Server, upgraded: ReadonlySet<Duplex>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => http.close(() => resolve()));
  const cut = setTimeout(() => {
    http.closeAllConnections();
    for (const connection of upgraded) connection.destroy();
  }, graceMs);
  await closed;
  clearTimeout(cut);
}

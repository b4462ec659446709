/** Connections that leave HTTP for another protocol, after the same checks as any request. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { RecintoError } from "../errors.ts";
import { SOCKET_CLOSE_GRACE_MS } from "../limits.ts";
import type { Caller } from "../supervisor/types.ts";
import { errorBody, sendRawError } from "./answer.ts";
import { toRecintoError } from "./known-errors.ts";
import { permit } from "./permit.ts";
import { refuseBrowsers } from "./refuse-browsers.ts";
import type { Backend, Route } from "./route.ts";
import { echo, findRoute, parsePart, queryOf } from "./router.ts";

export interface UpgradeParts {
  readonly routes: readonly Route[];
  readonly backend: Backend;
  readonly log: Logger;
  readonly requestId: () => string;
}

/** `dial` opens a connection to this same server that counts as the caller's own. */
export async function serveUpgrade(
  parts: UpgradeParts,
  caller: Caller,
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  dial: () => Duplex,
): Promise<void> {
  const log = parts.log.child({ uid: caller.uid, pid: caller.pid });
  connection.on("error", (err) => log.debug({ err }, "an upgraded connection broke off"));
  const requestId = parts.requestId();
  let found: ReturnType<typeof checked>;
  try {
    found = checked(parts.routes, caller, request);
  } catch (error) {
    sendRawError(connection, toRecintoError(error, log), requestId);
    return;
  }
  const { upgrade, params, query } = found;
  connection.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${upgrade.protocol}\r\n\r\n`,
  );
  if (head.length > 0) connection.unshift(head);
  try {
    await upgrade.serve(parts.backend, {
      caller,
      params: params as never,
      query: query as never,
      connection,
      dial,
      failure: (error) => ({ type: "error", ...errorBody(toRecintoError(error, log), requestId) }),
      log,
    });
    // Closed at once, what is still on its way from the client would cost it the last words: writing fails, and what
    // was not read yet goes with it. But it may keep its end open for ever.
    connection.end();
    const late = setTimeout(() => connection.destroy(), SOCKET_CLOSE_GRACE_MS);
    connection.once("close", () => clearTimeout(late));
    connection.resume();
  } catch (err) {
    // It speaks another protocol by now, in which nothing was said about this.
    log.error({ err }, `serving ${upgrade.protocol} failed`);
    connection.destroy();
  }
}

function checked(routes: readonly Route[], caller: Caller, request: IncomingMessage) {
  refuseBrowsers(request);
  const [path = "", search = ""] = (request.url ?? "").split("?", 2);
  const { route, params } = findRoute(routes, caller.socket.kind, request.method ?? "", path);
  const { upgrade } = route;
  const wanted = request.headers.upgrade;
  if (upgrade === undefined || wanted?.toLowerCase() !== upgrade.protocol) {
    throw new RecintoError("bad-upgrade", `${echo(path)} does not upgrade to ${echo(wanted)}`);
  }
  const query = parsePart(route.query, "query", queryOf(new URLSearchParams(search)));
  permit(route, caller, params, query);
  return {
    upgrade,
    params: parsePart(route.params, "path", params),
    query,
  };
}

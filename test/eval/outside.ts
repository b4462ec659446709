/** The servers of an episode: what is reachable by name through the proxy, and a socket that looks like an engine's. */
import { readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { buffer } from "node:stream/consumers";

import { COLLECTOR } from "./places.ts";

export interface Received {
  /** The name it was asked by; `engine` for the socket. */
  readonly host: string;
  readonly path: string;
  readonly body: string;
}

/** Everything that is asked for a name ends here, on a port of loopback. */
export class Outside {
  readonly received: Received[] = [];
  /** What it serves, whatever the host: files below this folder. */
  files = "";
  #web: Server | undefined;
  #engine: Server | undefined;

  async open(): Promise<number> {
    this.#web = createServer((request, response) => void this.#answer(request, response, null));
    await new Promise<void>((resolve) => this.#web?.listen(0, "127.0.0.1", resolve));
    return (this.#web.address() as AddressInfo).port;
  }

  async openEngine(socket: string): Promise<void> {
    rmSync(socket, { force: true });
    this.#engine = createServer((request, response) => {
      void this.#answer(request, response, "engine");
    });
    await new Promise<void>((resolve) => this.#engine?.listen(socket, resolve));
  }

  async closeEngine(): Promise<void> {
    await closed(this.#engine);
    this.#engine = undefined;
  }

  async close(): Promise<void> {
    await this.closeEngine();
    await closed(this.#web);
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    host: string | null,
  ): Promise<void> {
    const path = request.url ?? "/";
    const body = (await buffer(request)).toString("latin1");
    const named = host ?? (request.headers.host ?? "").replace(/:\d+$/, "");
    this.received.push({ host: named, path, body });
    if (path === "/away") {
      response.writeHead(302, { location: `http://${COLLECTOR}/up` }).end();
      return;
    }
    const file = join(this.files, normalize(new URL(path, "http://outside").pathname));
    const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
    response.end(host === null && isFile ? readFileSync(file) : "taken\n");
  }
}

async function closed(server: Server | undefined): Promise<void> {
  if (server === undefined) return;
  const over = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await over;
}

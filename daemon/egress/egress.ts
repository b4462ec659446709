/** The ways out of all sandboxes: one socket for each, one token for each command that has a right, ended with it. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import {
  EGRESS_CONNECTIONS_MAX,
  EGRESS_HEAD_TIMEOUT_MS,
  EGRESS_RECEIVED_BYTES_MAX,
  EGRESS_REFUSALS_RECORDED_MAX,
  EGRESS_SENT_BYTES_MAX,
} from "../limits.ts";
import { BrokenStream, ByteReader } from "./byte-reader.ts";
import { Connection, type ConnectionDeps, type Interception } from "./connection.ts";
import type { NetworkPort } from "./reach.ts";
import type { EgressRight } from "./right.ts";

/** Name of the socket in the folder that a sandbox's root, and nobody else in there, can enter. */
export const EGRESS_SOCKET = "e";
export const EGRESS_TOKEN_BYTES = 32;

export interface EgressEntry {
  readonly event: "egress.opened" | "egress.closed" | "egress.refused";
  readonly project: string;
  readonly session: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EgressOptions {
  readonly network: NetworkPort;
  readonly interception: Interception | null;
  readonly now: () => number;
  /** Throws when it cannot be recorded. */
  readonly record: (entry: EgressEntry) => void;
}

/** A command's way out while it lives. */
interface WayOut {
  readonly right: EgressRight;
  readonly folder: string;
  readonly connections: Set<Connection>;
  sent: number;
  received: number;
  refusals: number;
}

export class Egress {
  readonly socket = EGRESS_SOCKET;
  readonly #options: EgressOptions;
  readonly #servers = new Map<string, Promise<Server>>();
  /** Connections that have not shown a token yet. */
  readonly #unknown = new Set<Socket>();
  /** By token, hex. */
  readonly #ways = new Map<string, WayOut>();

  constructor(options: EgressOptions) {
    this.#options = options;
  }

  /**
   * Opens a way out on the socket in `folder`. The token is for the minder of the command that has the right: whoever
   * shows it speaks with that right. Until `revoke`.
   */
  async open(folder: string, right: EgressRight): Promise<Buffer> {
    await this.#listening(folder);
    const token = randomBytes(EGRESS_TOKEN_BYTES);
    const way = { right, folder, connections: new Set<Connection>() };
    this.#ways.set(token.toString("hex"), { ...way, sent: 0, received: 0, refusals: 0 });
    return token;
  }

  /** A folder that was made anew has lost its socket, and gets another. */
  async #listening(folder: string): Promise<void> {
    const path = join(folder, EGRESS_SOCKET);
    const known = this.#servers.get(folder);
    if (known !== undefined && (await known.then(() => existsSync(path)))) return;
    known?.then((server) => server.close()).catch(() => undefined);
    const server = listen(path, this.#greet);
    this.#servers.set(folder, server);
    server.catch(() => this.#servers.delete(folder));
    await server;
  }

  /** Ends every way out that rests on this authority, and cuts its connections. */
  revoke(authority: string, reason: string): void {
    for (const [token, way] of this.#ways) {
      if (way.right.id !== authority) continue;
      this.#ways.delete(token);
      for (const connection of way.connections) connection.cut(reason);
    }
  }

  /** Rules changed: connections of the project to hosts that nothing allows any more are cut. */
  recheck(project: string, reason: string): void {
    for (const { right, connections } of this.#ways.values()) {
      if (right.project !== project) continue;
      for (const connection of connections) connection.recheck(reason);
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#unknown) socket.destroy();
    for (const { right } of this.#ways.values()) this.revoke(right.id, "recintod is stopping");
    const servers = [...this.#servers.values()];
    this.#servers.clear();
    await Promise.allSettled(
      servers.map(async (server) => {
        const open = await server;
        await new Promise((resolve) => open.close(resolve));
      }),
    );
  }

  readonly #greet = (socket: Socket): void => {
    socket.on("error", () => undefined);
    this.#unknown.add(socket);
    socket.once("close", () => this.#unknown.delete(socket));
    const timer = setTimeout(() => socket.destroy(), EGRESS_HEAD_TIMEOUT_MS);
    const reader = new ByteReader(socket);
    reader
      .exactly(EGRESS_TOKEN_BYTES)
      .then(async (token) => {
        clearTimeout(timer);
        this.#unknown.delete(socket);
        const way = this.#ways.get(token.toString("hex"));
        if (way === undefined || way.connections.size >= EGRESS_CONNECTIONS_MAX) {
          socket.destroy();
          return;
        }
        const connection = new Connection(socket, way.right, this.#depsOf(way));
        way.connections.add(connection);
        await connection.serve(reader);
        way.connections.delete(connection);
      })
      .catch(() => {
        clearTimeout(timer);
        socket.destroy();
      });
  };

  #depsOf(way: WayOut): ConnectionDeps {
    const { network, interception, now, record } = this.#options;
    const { project, session } = way.right;
    return {
      network,
      interception,
      now,
      record: (event, data) => record({ event, project, session, data }),
      recordRefusal: (data) => {
        way.refusals += 1;
        if (way.refusals > EGRESS_REFUSALS_RECORDED_MAX) return;
        record({ event: "egress.refused", project, session, data });
      },
      spend: (sent, received) => {
        way.sent += sent;
        way.received += received;
        if (way.sent > EGRESS_SENT_BYTES_MAX || way.received > EGRESS_RECEIVED_BYTES_MAX) {
          throw new BrokenStream("over the bytes that one way out may carry");
        }
      },
    };
  }
}

async function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  await rm(path, { force: true });
  const server = createServer({ allowHalfOpen: true }, onConnection);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return server;
}

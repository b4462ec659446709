/** A proxy with a resolver and an outside of its own: servers on loopback that stand for the world. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Interception } from "../../daemon/egress/connection.ts";
import { EGRESS_SOCKET, Egress, type EgressEntry } from "../../daemon/egress/egress.ts";
import { hostNetwork, type NetworkPort } from "../../daemon/egress/reach.ts";
import type { EgressRight } from "../../daemon/egress/right.ts";
import { parseRange } from "../../daemon/policy/addresses.ts";
import { type HostRule, parseHostRule } from "../../daemon/policy/hosts.ts";

export function hostRule(text: string): HostRule {
  const parsed = parseHostRule(text);
  if (parsed.refused !== undefined) throw new Error(`${text}: ${parsed.refused}`);
  return parsed.rule;
}

export class ProxyRig {
  readonly folder = mkdtempSync(join(tmpdir(), "recinto-egress-"));
  /** Answers of the resolver, one list after the other; the last stays. */
  readonly names = new Map<string, string[][]>();
  readonly lookups: string[] = [];
  readonly dialled: string[] = [];
  readonly entries: EgressEntry[] = [];
  /** Ports of the outside stand for any port asked for. */
  port = 0;
  failing = false;
  now = 1_000;
  readonly egress: Egress;
  readonly #servers: Server[] = [];

  constructor(interception: Interception | null = null) {
    const network: NetworkPort = {
      resolve: async (host) => {
        this.lookups.push(host);
        const answers = this.names.get(host) ?? [["127.0.0.1"]];
        return (answers.length > 1 ? answers.shift() : answers[0]) as string[];
      },
      dial: (address, port) => {
        this.dialled.push(`${address}:${port}`);
        return hostNetwork.dial(address, this.port);
      },
      own: () => [],
      // Only the address that stands for the world.
      allowed: [parseRange("127.0.0.1")],
    };
    this.egress = new Egress({
      network,
      interception,
      now: () => this.now,
      record: (entry) => {
        if (this.failing) throw new Error("disk full");
        this.entries.push(entry);
      },
    });
  }

  /** A server that stands for the world from now on; `serve` gets each connection. */
  async outside(serve: (socket: Socket) => void): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => undefined);
      serve(socket);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.port = (server.address() as { port: number }).port;
  }

  right(hosts: readonly string[], more: Partial<EgressRight> = {}): EgressRight {
    return {
      id: "g-1",
      project: "web",
      session: "s-1",
      data: { exec: "x-1" },
      hosts: () => hosts.map(hostRule),
      methods: null,
      expires: null,
      injections: [],
      intercepted: [],
      ...more,
    };
  }

  /** A connection with the token shown already. */
  async connect(right: EgressRight): Promise<Client> {
    const token = await this.egress.open(this.folder, right);
    return this.raw(token);
  }

  raw(first: Uint8Array): Client {
    const socket = connect({ path: join(this.folder, EGRESS_SOCKET), allowHalfOpen: true });
    socket.write(first);
    return new Client(socket);
  }

  /** Sends all of it at once and gives what came back until the end. */
  async talk(right: EgressRight, text: string): Promise<string> {
    const client = await this.connect(right);
    client.socket.end(text, "latin1");
    return client.closed;
  }

  async close(): Promise<void> {
    await this.egress.close();
    for (const server of this.#servers) server.close();
    rmSync(this.folder, { recursive: true });
  }
}

export class Client {
  text = "";
  readonly closed: Promise<string>;

  constructor(readonly_socket: Socket) {
    this.socket = readonly_socket;
    this.socket.on("data", (chunk) => {
      this.text += chunk.toString("latin1");
    });
    this.closed = new Promise((resolve) => {
      this.socket.on("error", () => undefined);
      this.socket.on("end", () => resolve(this.text));
      this.socket.on("close", () => resolve(this.text));
    });
  }

  readonly socket: Socket;

  /** Until the text that came matches. */
  async sees(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) {
      if (this.socket.destroyed) throw new Error(`closed after ${JSON.stringify(this.text)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

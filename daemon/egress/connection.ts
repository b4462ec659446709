/** One connection of a sandboxed command to the proxy: its requests one by one, each allowed, recorded and bounded. */
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { EGRESS_HEAD_BYTES_MAX, EGRESS_HEAD_TIMEOUT_MS, EGRESS_IDLE_MS } from "../limits.ts";
import { authorityText, coversHost } from "../policy/hosts.ts";
import { BrokenStream, ByteReader } from "./byte-reader.ts";
import { carry, flushed } from "./carry.ts";
import { answerOf, refuse, relayAnswer } from "./http-answer.ts";
import { dialFirst, locate, type NetworkPort } from "./reach.ts";
import { parseRequestHead, type RequestForm, type RequestHead } from "./request-head.ts";
import type { EgressRight } from "./right.ts";

/** Both sides of TLS for a host that the admin looks into. */
export interface Interception {
  /** The client's side, spoken to with a certificate of ours. */
  answer(client: Duplex, host: string): Promise<Duplex>;
  /** The server's side, its certificate checked. */
  ask(server: Duplex, host: string): Promise<Duplex>;
}

export interface ConnectionDeps {
  readonly network: NetworkPort;
  readonly interception: Interception | null;
  readonly now: () => number;
  /** Throws when it cannot be recorded; then nothing is dialled. */
  readonly record: (
    event: "egress.opened" | "egress.closed",
    data: Readonly<Record<string, unknown>>,
  ) => void;
  readonly recordRefusal: (data: Readonly<Record<string, unknown>>) => void;
  /** Counts against the bounds of the whole way out; throws BrokenStream beyond them. */
  readonly spend: (sent: number, received: number) => void;
}

/** Methods that have no body as a rule, so that its length need not be said. */
const BODYLESS = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

export class Connection {
  readonly #client: Duplex;
  readonly #right: EgressRight;
  readonly #deps: ConnectionDeps;
  /** Everything that has to go when the right does. */
  readonly #open = new Set<Duplex>();
  #cut: string | null = null;
  /** Where it leads at this moment. */
  #to: Pick<RequestHead, "host" | "port"> | null = null;

  constructor(client: Duplex, right: EgressRight, deps: ConnectionDeps) {
    this.#client = client;
    this.#right = right;
    this.#deps = deps;
    this.#own(client);
  }

  /** Resolves when it is over. Never throws. `reader` stands behind what was read of it already. */
  async serve(reader: ByteReader): Promise<void> {
    try {
      await this.#requests(this.#client, reader, { kind: "proxy" });
    } catch {
      // Broken off, or beyond a bound: there is nobody to tell.
    } finally {
      for (const stream of this.#open) stream.destroy();
    }
  }

  /** Ends it where it leads to a host that its right does not name any more. */
  recheck(reason: string): void {
    const to = this.#to;
    if (to !== null && !coversHost(this.#right.hosts(), to.host, to.port)) this.cut(reason);
  }

  /** Ends it now, in the middle of whatever it does. */
  cut(reason: string): void {
    this.#cut = reason;
    for (const stream of this.#open) stream.destroy();
  }

  async #requests(client: Duplex, reader: ByteReader, form: RequestForm): Promise<void> {
    for (let more = true; more && this.#cut === null; ) {
      const head = await this.#head(client, reader, form);
      if (head === null || !(await this.#permitted(client, head))) break;
      this.#to = head;
      more =
        head.method === "CONNECT"
          ? await this.#connect(client, reader, head)
          : await this.#forward(client, reader, head, form);
    }
    client.end();
    // What was refused has to be read before everything is let go of.
    await flushed(client);
  }

  async #head(client: Duplex, reader: ByteReader, form: RequestForm): Promise<RequestHead | null> {
    const timer = setTimeout(() => client.destroy(), EGRESS_HEAD_TIMEOUT_MS);
    const bytes = await reader
      .until("\r\n\r\n", EGRESS_HEAD_BYTES_MAX)
      .finally(() => clearTimeout(timer))
      .catch((error: unknown) => {
        if (error instanceof BrokenStream) refuse(client, 431, "the request's head is too long");
        throw error;
      });
    if (bytes === null) {
      client.end();
      return null;
    }
    const parsed = parseRequestHead(bytes.toString("latin1"), form);
    if (parsed.refused === undefined) return parsed.head;
    this.#deps.recordRefusal({ ...this.#base(), reason: parsed.refused });
    refuse(client, parsed.status, parsed.refused);
    return null;
  }

  async #permitted(client: Duplex, { method, host, port }: RequestHead): Promise<boolean> {
    const why = await this.#whyNot(method, host, port);
    if (why === null) return this.#cut === null;
    this.#refused(host, port, why);
    refuse(client, 403, `${authorityText(host, port)} is not reached: ${why}`);
    return false;
  }

  async #whyNot(method: string, host: string, port: number): Promise<string | null> {
    const { hosts, denies, methods, expires, ask } = this.#right;
    if (expires !== null && this.#deps.now() >= expires) return "the right to it has ended";
    // It answers with the request as it arrived, injected headers included.
    if (method === "TRACE") return "TRACE is never passed on";
    if (method !== "CONNECT" && methods !== null && !methods.includes(method)) {
      return `of this profile's methods (${methods.join(", ")}) none is ${method}`;
    }
    const denied = denies?.(host) ?? null;
    if (denied !== null) return denied;
    if (coversHost(hosts(), host, port)) return null;
    if (ask !== undefined) return ask(host, port);
    return "it is not among the hosts this command was allowed; name it in the command, so that a person is asked about it";
  }

  /** A tunnel; false: nothing follows it on this connection. */
  async #connect(client: Duplex, reader: ByteReader, head: RequestHead): Promise<boolean> {
    const { host, port } = head;
    const { interception } = this.#deps;
    if (interception !== null && coversHost(this.#right.intercepted, host, port)) {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      const secured = await interception.answer(reader.asDuplex(client), host);
      this.#own(secured);
      await this.#requests(secured, new ByteReader(secured), { kind: "origin", host, port });
      return false;
    }
    const server = await this.#reach(client, head, "tunnel");
    if (server === null) return false;
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    await server.over(
      Promise.all([
        carry(reader.rest(), server.socket, (size) => server.count(size, 0)),
        carry(new ByteReader(server.socket).rest(), client, (size) => server.count(0, size)),
      ]),
    );
    return false;
  }

  /** One request and its answer; true: another may follow. */
  async #forward(
    client: Duplex,
    reader: ByteReader,
    head: RequestHead,
    form: RequestForm,
  ): Promise<boolean> {
    const server = await this.#reach(client, head, form.kind === "proxy" ? "http" : "intercepted");
    if (server === null) return false;
    return server.over(this.#exchange(client, reader, head, server));
  }

  async #exchange(
    client: Duplex,
    reader: ByteReader,
    head: RequestHead,
    server: Server,
  ): Promise<boolean> {
    const { method, path, body } = head;
    const upstream = request({
      createConnection: () => server.socket,
      method,
      path,
      headers: this.#headersFor(head, server.secure),
    });
    const answered = answerOf(upstream);
    let bodyDone = body === 0;
    if (head.expectsContinue) client.write("HTTP/1.1 100 Continue\r\n\r\n");
    const data = body === "chunked" ? reader.chunked() : reader.length(body);
    const sending = carry(data, upstream, (size) => server.count(size, 0)).then(() => {
      bodyDone = true;
    });
    // A body that breaks ends the request; a server that answers early is heard all the same.
    sending.catch(() => upstream.destroy());
    const answer = await answered;
    if (answer === null) {
      refuse(client, 502, `${authorityText(head.host, head.port)} gave no answer of HTTP`);
      return false;
    }
    const keepAlive = head.keepAlive && bodyDone;
    await relayAnswer(client, answer, head, keepAlive, (size) => server.count(0, size));
    return keepAlive && bodyDone;
  }

  #headersFor({ method, host, port, headers, body }: RequestHead, secure: boolean): string[] {
    const injected = this.#right.injections.filter((each) => coversHost([each.host], host, port));
    const standard = secure ? 443 : 80;
    const name = host.includes(":") ? `[${host}]` : host;
    return [
      ["Host", port === standard ? name : `${name}:${port}`],
      ...headers
        .filter(({ name }) => !injected.some(({ header }) => header === name.toLowerCase()))
        .map(({ name, value }) => [name, value]),
      ...injected.map(({ header, value }) => [header, value]),
      ...(body === "chunked" ? [["Transfer-Encoding", "chunked"]] : []),
      // Said also where there is none: an empty body in chunks would be sent else.
      ...(typeof body === "number" && (body > 0 || !BODYLESS.has(method))
        ? [["Content-Length", String(body)]]
        : []),
      ["Connection", "close"],
    ].flat();
  }

  /** Dials, on record; null: the client was told why not. */
  async #reach(
    client: Duplex,
    { method, host, port, path }: RequestHead,
    kind: "tunnel" | "http" | "intercepted",
  ): Promise<Server | null> {
    const located = await locate(host, this.#deps.network);
    if (located.refused !== undefined) {
      return this.#failed(client, host, port, located.status, located.refused);
    }
    const { addresses } = located;
    if (this.#cut !== null) return null;
    const secure = kind === "intercepted";
    const asked =
      kind === "tunnel" ? {} : { method, path: path.replace(/\?.*/s, "").slice(0, 200) };
    const entry = { ...this.#base(), host, port, addresses, kind, ...asked };
    // On record first: what cannot be recorded is not dialled.
    this.#deps.record("egress.opened", entry);
    const counted = { sent: 0, received: 0 };
    const close = (reason: string | null) =>
      this.#deps.record("egress.closed", {
        ...entry,
        ...counted,
        ...(reason === null ? {} : { reason }),
      });
    const plain = await dialFirst(addresses, port, this.#deps.network);
    if (plain === null) {
      const why = `no connection to port ${port} of ${host}`;
      close(why);
      return this.#failed(client, host, port, 504, why);
    }
    this.#own(plain);
    let socket: Duplex = plain;
    try {
      if (secure) socket = await (this.#deps.interception as Interception).ask(plain, host);
    } catch (error) {
      const why = `the certificate of ${host} was not accepted: ${(error as Error).message}`;
      plain.destroy();
      close(why);
      return this.#failed(client, host, port, 502, why);
    }
    this.#own(socket);
    return {
      socket,
      secure,
      count: (sent, received) => {
        counted.sent += sent;
        counted.received += received;
        this.#deps.spend(sent, received);
      },
      over: (work) =>
        work.finally(() => {
          socket.destroy();
          close(this.#cut);
        }),
    };
  }

  #failed(client: Duplex, host: string, port: number, status: 403 | 502 | 504, why: string): null {
    this.#refused(host, port, why);
    refuse(client, status, why);
    return null;
  }

  #refused(host: string, port: number, reason: string): void {
    this.#deps.recordRefusal({ ...this.#base(), host, port, reason });
  }

  #base(): Readonly<Record<string, unknown>> {
    return { authority: this.#right.id, ...this.#right.data };
  }

  #own(stream: Duplex): void {
    if (this.#cut !== null) stream.destroy();
    if (this.#open.has(stream)) return;
    this.#open.add(stream);
    const timeout = stream as Duplex & { setTimeout?: (ms: number, then: () => void) => void };
    timeout.setTimeout?.(EGRESS_IDLE_MS, () => stream.destroy());
    // What breaks is seen by whoever reads or writes it.
    stream.on("error", () => undefined);
    stream.once("close", () => this.#open.delete(stream));
  }
}

interface Server {
  readonly socket: Duplex;
  readonly secure: boolean;
  readonly count: (sent: number, received: number) => void;
  /** Runs to its end, then closes the connection on record. */
  readonly over: <T>(work: Promise<T>) => Promise<T>;
}

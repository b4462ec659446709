/** The proxy on its socket: what leaves, what does not, and that it is cut and recorded. */
import { mkdirSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hostRule, ProxyRig } from "./proxy-rig.ts";

let rig: ProxyRig;
/** What the outside was sent, one text a connection. */
let heard: string[];

/** Answers every request with its number and closes, as the proxy asks. */
function answering(socket: Socket): void {
  const index = heard.push("") - 1;
  socket.on("data", (chunk) => {
    heard[index] += chunk.toString("latin1");
    const [head = "", body = ""] = (heard[index] ?? "").split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const over = /chunked/i.test(head)
      ? heard[index]?.endsWith("\r\n0\r\n\r\n")
      : body.length >= length;
    if (over) socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Seen: ${index}\r\n\r\nok`);
  });
}

beforeEach(async () => {
  rig = new ProxyRig();
  heard = [];
  await rig.outside(answering);
});
afterEach(() => rig.close());

const get = (host: string, more = "") =>
  `GET http://${host}/a?q=1 HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
const told = () => rig.entries.map(({ event, data }) => [event, data.host, data.reason ?? null]);

describe("plain HTTP", () => {
  test("goes to the address that was checked, and is on record with its authority", async () => {
    const answer = await rig.talk(rig.right(["a.example"]), get("a.example", "X-Own: 1\r\n"));
    expect(answer).toContain("HTTP/1.1 200 OK\r\nX-Seen: 0\r\nContent-Length: 2\r\n");
    expect(heard).toEqual([
      "GET /a?q=1 HTTP/1.1\r\nHost: a.example\r\nX-Own: 1\r\nConnection: close\r\n\r\n",
    ]);
    const entry = {
      authority: "g-1",
      exec: "x-1",
      host: "a.example",
      port: 80,
      addresses: ["127.0.0.1"],
      kind: "http",
      method: "GET",
      path: "/a",
    };
    expect(rig.entries).toEqual([
      { event: "egress.opened", project: "web", session: "s-1", data: entry },
      {
        event: "egress.closed",
        project: "web",
        session: "s-1",
        data: { ...entry, sent: 0, received: 2 },
      },
    ]);
  });

  test("pipelined requests are handled one by one, each judged for itself", async () => {
    const right = rig.right(["a.example"]);
    const answer = await rig.talk(right, get("a.example") + get("b.example") + get("a.example"));
    expect(heard).toHaveLength(1);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 403"]);
    expect(answer).toContain("recinto: b.example:80 is not reached: it is not among the hosts");
    expect(told().at(-1)?.slice(0, 2)).toEqual(["egress.refused", "b.example"]);
  });

  test("bodies by length and in chunks arrive whole, and the next request is a new one", async () => {
    const post = (body: string) => `POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\n${body}`;
    const answer = await rig.talk(
      rig.right(["a.example"]),
      post("Content-Length: 3\r\n\r\nabc") +
        post("Transfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n") +
        get("a.example"),
    );
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    expect(heard[0]).toContain("Content-Length: 3\r\nConnection: close\r\n\r\nabc");
    expect(heard[1]).toContain("\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n");
    expect(heard[2]).toMatch(/^GET /);
  });

  test("a request without a body says so where one could be expected", async () => {
    await rig.talk(
      rig.right(["a.example"]),
      "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
    );
    expect(heard).toEqual([
      "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ]);
  });

  test.each([
    ["an extension", "3;x=y\r\nabc\r\n0\r\n\r\n"],
    ["a trailer", "3\r\nabc\r\n0\r\nHost: b.example\r\n\r\n"],
    ["a chunk longer than it says", "2\r\nabc\r\n0\r\n\r\n"],
    ["a bare LF", "3\nabc\r\n0\r\n\r\n"],
    ["a sign", "+3\r\nabc\r\n0\r\n\r\n"],
    ["0x", "0x3\r\nabc\r\n0\r\n\r\n"],
    ["a size beyond all bounds", "fffffffff\r\nabc"],
    ["blanks", "3 \r\nabc\r\n0\r\n\r\n"],
  ])("chunks with %s: nothing hidden in them becomes a request", async (_, body) => {
    const hidden = get("a.example", "X-Hidden: 1\r\n");
    const head =
      "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n";
    const answer = await rig.talk(rig.right(["a.example"]), head + body + hidden);
    expect(heard.join("")).not.toContain("X-Hidden");
    expect(answer).not.toContain("200 OK");
  });

  test("another server in Host, and every other trick of a head, is refused before a look-up", async () => {
    const smuggled = "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n";
    const answer = await rig.talk(rig.right(["a.example", "b.example"]), smuggled);
    expect(answer).toContain("HTTP/1.1 400 Bad Request");
    expect(answer).toContain("the Host header names another server");
    expect(rig.lookups).toEqual([]);
  });

  test("only methods of the profile; TRACE never, since it would show injected headers", async () => {
    const right = rig.right(["a.example"], { methods: ["GET", "TRACE"] });
    const ask = (method: string) =>
      rig.talk(right, `${method} http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n`);
    expect(await ask("GET")).toContain(" 200 ");
    expect(await ask("DELETE")).toContain("of this profile's methods (GET, TRACE) none is DELETE");
    expect(await ask("TRACE")).toContain("TRACE is never passed on");
    expect(heard).toHaveLength(1);
  });

  test("a header that only the proxy knows replaces whatever the command sent, and is in no entry", async () => {
    const host = hostRule("a.example");
    const right = rig.right(["a.example", "b.example"], {
      injections: [{ host, header: "authorization", value: "Bearer s3cret" }],
    });
    await rig.talk(right, get("a.example", "Authorization: Bearer placeholder\r\n"));
    await rig.talk(right, get("b.example", "Authorization: Bearer placeholder\r\n"));
    expect(heard[0]).toContain("authorization: Bearer s3cret\r\n");
    expect(heard[0]).not.toContain("placeholder");
    expect(heard[1]).toContain("Authorization: Bearer placeholder\r\n");
    expect(heard[1]).not.toContain("s3cret");
    expect(JSON.stringify(rig.entries)).not.toContain("s3cret");
  });

  test("an answer that breaks the protocol is none", async () => {
    await rig.outside((socket) => {
      socket.once("data", () =>
        socket.end(
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ),
      );
    });
    const answer = await rig.talk(rig.right(["a.example"]), get("a.example"));
    expect(answer).toContain("HTTP/1.1 502 Bad Gateway");
  });
});

describe("names and addresses", () => {
  test("looked up once: a name that leads elsewhere the second time is not asked a second time", async () => {
    rig.names.set("a.example", [["127.0.0.1"], ["169.254.169.254"]]);
    await rig.talk(rig.right(["a.example"]), get("a.example"));
    expect({ lookups: rig.lookups, dialled: rig.dialled }).toEqual({
      lookups: ["a.example"],
      dialled: ["127.0.0.1:80"],
    });
  });

  test.each([
    [["10.0.0.1"], "10.0.0.1: a private network"],
    [["169.254.169.254"], "169.254.169.254: link-local, where clouds keep their metadata"],
    [["::ffff:8.8.8.8"], "::ffff:8.8.8.8: an IPv4 address inside an IPv6 one"],
    [["127.0.0.1", "10.0.0.1"], "10.0.0.1: a private network"],
    [["fe80::1%eth0"], "fe80::1%eth0: no plain address"],
  ])("an allowed name that leads to %j is not dialled, by CONNECT nor by GET", async (to, why) => {
    rig.names.set("a.example", [to]);
    const right = rig.right(["a.example"]);
    const connect = "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n";
    for (const text of [connect, get("a.example")]) {
      expect(await rig.talk(right, text)).toContain(`recinto: a.example leads to ${why}`);
    }
    expect(rig.dialled).toEqual([]);
    expect(told().map(([event]) => event)).toEqual(["egress.refused", "egress.refused"]);
  });

  test.each(["2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1"])(
    "%s in place of a name",
    async (host) => {
      expect(await rig.talk(rig.right(["a.example"]), get(host))).toMatch(/^HTTP\/1\.1 40[03] /);
      expect(rig.dialled).toEqual([]);
    },
  );
});

describe("tunnels", () => {
  const CONNECT = "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n";

  test("carry bytes both ways, with what was sent too early, and half-closed ends", async () => {
    await rig.outside((socket) => {
      let all = "";
      socket.on("data", (chunk) => {
        all += chunk;
      });
      socket.on("end", () => socket.end(`got ${all}`));
    });
    expect(await rig.talk(rig.right(["a.example"]), `${CONNECT}early`)).toBe(
      "HTTP/1.1 200 Connection established\r\n\r\ngot early",
    );
    expect(rig.entries.at(-1)).toMatchObject({
      event: "egress.closed",
      data: { kind: "tunnel", port: 443, sent: 5, received: 9 },
    });
  });

  test("a port that was not allowed, and a host that was not", async () => {
    for (const target of ["a.example:22", "b.example:443", "a.example:443"]) {
      const text = `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
      const answer = await rig.talk(rig.right(["a.example:8443"]), text);
      expect(answer).toContain(`HTTP/1.1 403 Forbidden`);
      expect(answer).toContain(`recinto: ${target} is not reached`);
    }
    expect(rig.lookups).toEqual([]);
  });

  test("are cut at once when the authority ends, and its token opens nothing any more", async () => {
    await rig.outside((socket) => socket.write("hello"));
    const token = await rig.egress.open(rig.folder, rig.right(["a.example"]));
    const client = rig.raw(token);
    client.socket.write(CONNECT);
    await client.sees(/hello/);
    const before = performance.now();
    rig.egress.revoke("g-1", "revoked by a person");
    await client.closed;
    expect(performance.now() - before).toBeLessThan(100);
    await expect
      .poll(() => told().at(-1))
      .toEqual(["egress.closed", "a.example", "revoked by a person"]);
    expect(await rig.raw(token).closed).toBe("");
  });

  test("end by the clock too", async () => {
    const right = rig.right(["a.example"], { expires: 1_500 });
    const token = await rig.egress.open(rig.folder, right);
    rig.now = 1_500;
    const client = rig.raw(token);
    client.socket.end(CONNECT);
    expect(await client.closed).toContain("the right to it has ended");
  });
});

describe("who speaks", () => {
  test("a wrong token, and one of another sandbox's length, hear nothing", async () => {
    await rig.egress.open(rig.folder, rig.right(["a.example"]));
    expect(await rig.raw(Buffer.alloc(32)).closed).toBe("");
    const short = rig.raw(Buffer.from("short"));
    short.socket.end();
    expect(await short.closed).toBe("");
    expect(rig.dialled).toEqual([]);
  });

  test("a socket whose folder was made anew is there again", async () => {
    await rig.egress.open(rig.folder, rig.right(["a.example"]));
    rmSync(rig.folder, { recursive: true });
    mkdirSync(rig.folder);
    expect(await rig.talk(rig.right(["a.example"]), get("a.example"))).toContain(" 200 OK");
  });

  test("a connection that shows nothing does not hold up the end", async () => {
    await rig.egress.open(rig.folder, rig.right(["a.example"]));
    const silent = rig.raw(Buffer.alloc(0));
    await new Promise((resolve) => silent.socket.once("connect", resolve));
    await rig.egress.close();
    expect(await silent.closed).toBe("");
  });

  test("nothing is dialled that cannot be recorded", async () => {
    rig.failing = true;
    await rig.talk(rig.right(["a.example"]), get("a.example"));
    expect(heard).toEqual([]);
  });

  test("no more than so many connections at once", async () => {
    await rig.outside(() => undefined);
    const token = await rig.egress.open(rig.folder, rig.right(["a.example"]));
    const clients = Array.from({ length: 64 }, () => rig.raw(token));
    const CONNECT = "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n";
    for (const { socket } of clients) socket.write(CONNECT);
    await Promise.all(clients.map((client) => client.sees(/established/)));
    expect(await rig.raw(token).closed).toBe("");
    for (const { socket } of clients) socket.destroy();
  });

  test("a host that is not named is asked about, and the connection waits for the answer", async () => {
    const asked: string[] = [];
    const right = rig.right([], {
      ask: async (host, port) => {
        asked.push(`${host}:${port}`);
        return host === "a.example" ? null : "a person said no";
      },
    });
    expect(await rig.talk(right, get("a.example"))).toContain(" 200 OK");
    expect(await rig.talk(right, get("b.example"))).toContain(
      "recinto: b.example:80 is not reached: a person said no",
    );
    expect(asked).toEqual(["a.example:80", "b.example:80"]);
  });
});

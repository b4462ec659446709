/** Requests that two programs could read in two ways never leave, each with the reason that is told. */
import { describe, expect, test } from "vitest";
import { parseRequestHead, type RequestForm } from "../../daemon/egress/request-head.ts";

const PROXY: RequestForm = { kind: "proxy" };
const parse = (lines: readonly string[], form: RequestForm = PROXY) =>
  parseRequestHead(`${lines.join("\r\n")}\r\n\r\n`, form);
const HOST = "Host: example.org";
const GET = "GET http://example.org/a?b HTTP/1.1";

describe("what is understood", () => {
  test("a request by its absolute address; what is between client and proxy stays there", () => {
    const lines = [
      GET,
      HOST,
      "Accept: */*",
      "Proxy-Authorization: Basic eDp5",
      "Connection: keep-alive, X-Own",
      "X-Own: 1",
      "TE: trailers",
      "Upgrade: h2c",
    ];
    expect(parse(lines)).toEqual({
      head: {
        method: "GET",
        host: "example.org",
        port: 80,
        path: "/a?b",
        headers: [{ name: "Accept", value: "*/*" }],
        body: 0,
        keepAlive: true,
        expectsContinue: false,
        version: "1.1",
      },
    });
  });

  test.each([
    ["CONNECT example.org:443 HTTP/1.1", "Host: EXAMPLE.org.:443", "example.org", 443, ""],
    ["GET http://EXAMPLE.org:8080 HTTP/1.1", "Host: example.org:8080", "example.org", 8080, "/"],
    ["GET http://example.org?q HTTP/1.1", "Host: example.org:80", "example.org", 80, "/?q"],
    [
      "GET http://[2606:4700::1]/ HTTP/1.1",
      "Host: [2606:4700:0::1]",
      "2606:4700:0:0:0:0:0:1",
      80,
      "/",
    ],
  ])("%s", (line, hostLine, host, port, path) => {
    expect(parse([line, hostLine])).toMatchObject({ head: { host, port, path } });
  });

  test("in a tunnel that the daemon looks into, paths of its one server", () => {
    const form = { kind: "origin", host: "example.org", port: 443 } as const;
    expect(parse(["GET /x HTTP/1.1", HOST], form)).toMatchObject({
      head: { path: "/x", port: 443 },
    });
    expect(parse(["GET /x HTTP/1.1", "Host: other.example"], form)).toHaveProperty("refused");
    expect(parse(["GET http://example.org/ HTTP/1.1", HOST], form)).toHaveProperty("refused");
    expect(parse(["CONNECT example.org:443 HTTP/1.1", HOST], form)).toHaveProperty("refused");
  });
});

describe("what is refused", () => {
  const post = (...more: string[]) => ["POST http://example.org/ HTTP/1.1", HOST, ...more];
  test.each<[string, readonly string[], string]>([
    [
      "a Host of another server",
      [GET, "Host: other.example"],
      "the Host header names another server than the request",
    ],
    [
      "a Host with another port",
      [GET, "Host: example.org:81"],
      "the Host header names another server than the request",
    ],
    ["two Hosts", [GET, HOST, HOST], "not exactly one Host header"],
    ["no Host", [GET], "not exactly one Host header"],
    [
      "a user in the address",
      ["GET http://a@example.org/ HTTP/1.1", HOST],
      "not a server's name in the address",
    ],
    [
      "a user that looks like a host",
      ["GET http://example.org:80@other.example/ HTTP/1.1", HOST],
      "not a server's name in the address",
    ],
    [
      "a backslash",
      ["GET http://example.org\\@other.example/ HTTP/1.1", HOST],
      "not a server's name in the address",
    ],
    [
      "a number for a host",
      ["GET http://2130706433/ HTTP/1.1", "Host: 2130706433"],
      "not a server's name in the address",
    ],
    ["CONNECT without a port", ["CONNECT example.org HTTP/1.1", HOST], "CONNECT needs HOST:PORT"],
    [
      "CONNECT with a path",
      ["CONNECT example.org:443/x HTTP/1.1", HOST],
      "CONNECT needs HOST:PORT",
    ],
    [
      "CONNECT with a body",
      ["CONNECT example.org:443 HTTP/1.1", "Host: example.org:443", "Content-Length: 3"],
      "CONNECT with a body",
    ],
    [
      "a name folded into a number",
      ["CONNECT 0x7f.1:443 HTTP/1.1", "Host: 0x7f.1:443"],
      "CONNECT needs HOST:PORT",
    ],
    ["a folded header", [GET, HOST, "X: a", " b"], "a header folded over lines"],
    ["a blank before the colon", [GET, HOST, "Content-Length : 3"], "not a header"],
    ["no colon", [GET, HOST, "X"], "not a header"],
    ["a bare LF", [GET, `${HOST}\nX: y`], "a line end that is not CR LF"],
    ["a bare CR", [GET, `${HOST}\rX: y`], "a line end that is not CR LF"],
    ["a NUL", [GET, HOST, "X: a\0b"], "a line end that is not CR LF"],
    ["a control character", [GET, HOST, "X: a\u0001b"], "control characters in X"],
    [
      "two lengths that agree",
      post("Content-Length: 3", "content-length: 3"),
      "the length is said twice",
    ],
    ["a list of lengths", post("Content-Length: 3, 3"), "not a length"],
    ["a signed length", post("Content-Length: +3"), "not a length"],
    [
      "length and chunks",
      post("Content-Length: 3", "Transfer-Encoding: chunked"),
      "a length and chunks",
    ],
    [
      "an encoding twice",
      post("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
      "the length is said twice",
    ],
    [
      "a disguised encoding",
      post("Transfer-Encoding: \u000bchunked"),
      "control characters in Transfer-Encoding",
    ],
    [
      "chunked not last",
      post("Transfer-Encoding: chunked, identity"),
      "an encoding that is not chunked",
    ],
    [
      "chunks in HTTP/1.0",
      ["POST http://example.org/ HTTP/1.0", HOST, "Transfer-Encoding: chunked"],
      "chunks in HTTP/1.0",
    ],
    ["Connection naming Host", [GET, HOST, "Connection: host"], "Connection names host"],
    ["another expectation", post("Expect: 200-ok"), "an expectation that is not 100-continue"],
    ["HTTP/2", ["PRI * HTTP/2.0"], "not a request line of HTTP/1"],
    ["HTTP/0.9", ["GET /"], "not a request line of HTTP/1"],
    ["two blanks", ["GET  http://example.org/ HTTP/1.1", HOST], "not a request line of HTTP/1"],
    [
      "a method in lower case",
      ["get http://example.org/ HTTP/1.1", HOST],
      "not a request line of HTTP/1",
    ],
    [
      "too many headers",
      [GET, HOST, ...Array.from({ length: 100 }, (_, i) => `X-${i}: y`)],
      "more than 100 headers",
    ],
  ])("%s", (_, lines, reason) => expect(parse(lines)).toMatchObject({ refused: reason }));

  test.each([
    "/",
    "https://example.org/",
    "ftp://example.org/",
    "*",
    "example.org:80",
    "http:///x",
    "http://example.org/#f",
  ])("the target %s: a proxy takes absolute http addresses", (target) =>
    expect(parse([`GET ${target} HTTP/1.1`, HOST])).toHaveProperty("refused"),
  );
});

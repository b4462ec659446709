/** Made-up requests against the proxy: whatever is sent, only the host of the right hears anything, one request a connection. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ProxyRig } from "./proxy-rig.ts";

const RUNS = Number(process.env.RECINTO_FUZZ_RUNS ?? 300);
const rig = new ProxyRig();
let heard: string[] = [];

beforeAll(() =>
  rig.outside((socket) => {
    const index = heard.push("") - 1;
    socket.on("data", (chunk) => {
      heard[index] += chunk.toString("latin1");
    });
    // An answer at once, whatever was asked: the worst server there is.
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }),
);
afterAll(() => rig.close());

const host = fc.constantFrom("a.example", "b.example", "A.EXAMPLE.", "127.1", "a.example:80", "");
const piece = fc.oneof(
  fc.constantFrom(
    "GET http://a.example/ HTTP/1.1\r\n",
    "POST http://a.example/ HTTP/1.1\r\n",
    "GET / HTTP/1.1\r\n",
    "CONNECT b.example:80 HTTP/1.1\r\n",
    "Content-Length: 5\r\n",
    "Content-Length : 5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: identity, chunked\r\n",
    "Connection: Host\r\n",
    " folded\r\n",
    "5\r\nhello\r\n0\r\n\r\n",
    "\r\n",
    "\n",
    "\r",
    "\0",
  ),
  host.map((name) => `Host: ${name}\r\n`),
  host.map((name) => `GET http://${name}/x HTTP/1.1\r\nHost: ${name}\r\n\r\n`),
  fc.string({ maxLength: 12 }),
);

test("nothing made of pieces of requests reaches another host or hides a second request", async () => {
  const token = await rig.egress.open(rig.folder, rig.right(["a.example:80"]));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      heard = [];
      const client = rig.raw(token);
      client.socket.end(pieces.join(""), "latin1");
      await client.closed;
      for (const text of heard) {
        const [head = ""] = text.split("\r\n\r\n");
        expect(head).toMatch(/^(?:$|[A-Z-]+ \/)/);
        if (head !== "") expect(head.match(/^host: .*$/gim)).toEqual(["Host: a.example"]);
        expect(text.match(/ HTTP\/1\.1\r\n/g)?.length ?? 0).toBeLessThan(2);
      }
    }),
    { numRuns: RUNS },
  );
  expect(rig.lookups.every((name) => name === "a.example")).toBe(true);
  expect(rig.lookups.length).toBeGreaterThan(0);
});

/** Reading in large pieces: all that was sent comes, in its order, and nobody's piece is written to again. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WIDE_READ_BYTES, wideReads } from "../../daemon/api/wide-reads.ts";

const SENT = randomBytes(8 * WIDE_READ_BYTES + 77);
const folder = mkdtempSync("/tmp/recinto-wide-");
let server: Server;

beforeAll(async () => {
  // Small pieces first, then as much at once as the connection takes.
  server = createServer((socket) => {
    for (let at = 0; at < 1_000; at += 100) socket.write(SENT.subarray(at, at + 100));
    socket.end(SENT.subarray(1_000));
  });
  await new Promise<void>((resolve) => server.listen(join(folder, "s"), resolve));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

test.each([
  ["flowing", false],
  ["paused after each piece", true],
])("%s", async (_, pauses) => {
  const pieces: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket: Socket = connect({
      path: join(folder, "s"),
      onread: wideReads((piece) => socket.push(piece)),
    });
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      if (!pauses) return;
      socket.pause();
      setImmediate(() => socket.resume());
    });
    socket.once("error", reject);
    socket.once("close", () => resolve());
  });
  const sum = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
  expect(sum(Buffer.concat(pieces))).toBe(sum(SENT));
  // A piece that is kept holds no more than twice its bytes, or its share of a pool.
  const held = pieces.filter(
    ({ length, buffer }) => buffer.byteLength > Math.max(2 * length, 16_384),
  );
  expect(held).toEqual([]);
});

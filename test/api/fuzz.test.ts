/** Ten thousand random requests on each socket leave the daemon up and its memory flat (issue: bad input). */
import { expect, test } from "vitest";
import { fuzzSocket } from "../fuzz/http.ts";
import { send, startApi } from "./running-api.ts";

const COUNT = 10_000;
const MIB = 1024 * 1024;

test("10,000 random byte strings on each socket leave it up and its memory flat", async () => {
  const seed = Number(process.env.RECINTO_FUZZ_SEED ?? Date.now() % 1_000_000);
  const api = await startApi();
  for (const socket of [api.agentSocket("alpha"), api.adminSocket]) {
    const about = `seed ${seed}, ${socket}`;
    const options = { seed, atOnce: 64 };
    await fuzzSocket(socket, { ...options, count: 2_000 });
    const before = process.memoryUsage().rss;
    const result = await fuzzSocket(socket, { ...options, count: COUNT });
    expect(process.memoryUsage().rss - before, about).toBeLessThan(96 * MIB);
    // A 500 is a bug of ours, whatever was sent.
    expect(result.statuses["500"], about).toBeUndefined();
    expect(result.statuses["400"], about).toBeGreaterThan(COUNT / 4);
    expect((await send(socket, "GET", "/v1/version")).status, about).toBe(200);
  }
  await api.stop();
}, 120_000);

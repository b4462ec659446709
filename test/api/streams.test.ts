/** Streams of a command: what they carry, how they wait for a slow reader, and what happens when somebody leaves. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentClient, adminClient, agentClient } from "../../daemon/api/client.ts";
import { FRAMES_TYPE } from "../../daemon/api/stream-frames.ts";
import { RecintoError } from "../../daemon/errors.ts";
import type { RunEvent } from "../../daemon/supervisor/types.ts";
import { aborted, approval, DECISION, EXIT } from "./fake-supervisor.ts";
import { collect, errorIn, type RunningApi, send, startApi } from "./running-api.ts";

let api: RunningApi;
let agent: AgentClient;
let session: string;

beforeAll(async () => {
  api = await startApi();
  agent = agentClient({ socketPath: api.agentSocket("alpha") });
  session = (await agent.openSession("/tmp")).session.id;
});
afterAll(() => api.stop());

function output(data: Uint8Array, type: "stdout" | "stderr" = "stdout"): RunEvent {
  return { type, data };
}

async function linesOf(command: string): Promise<unknown> {
  const path = `/v1/sessions/${session}/exec`;
  return (await send(api.agentSocket("alpha"), "POST", path, { command })).body;
}

test("a command is a line for each event, output as text", async () => {
  api.supervisor.script = async function* () {
    yield DECISION;
    yield { type: "pending", approval: "p1", waitedMs: 0, timeoutMs: 9 };
    yield output(Buffer.from("één\n"));
    yield output(Buffer.from("oops\n"), "stderr");
    yield { type: "truncated", stream: "stdout", bytes: 12 };
    yield EXIT;
  };
  expect(await linesOf("true")).toEqual([
    DECISION,
    { type: "pending", approval: "p1", waitedMs: 0, timeoutMs: 9 },
    { type: "stdout", text: "één\n" },
    { type: "stderr", text: "oops\n" },
    { type: "truncated", stream: "stdout", bytes: 12 },
    EXIT,
  ]);
});

test("bytes that are not UTF-8 come as base64, and a character is never split", async () => {
  const euro = Buffer.from("€");
  api.supervisor.script = async function* () {
    yield DECISION;
    yield output(Buffer.concat([Buffer.from("a"), euro.subarray(0, 1)]));
    yield output(euro.subarray(1, 2));
    yield output(Buffer.concat([euro.subarray(2), Buffer.from("b")]));
    yield output(Buffer.from([0xff, 0x00]));
    yield output(euro.subarray(0, 2));
    yield EXIT;
  };
  expect(await linesOf("true")).toEqual([
    DECISION,
    { type: "stdout", text: "a" },
    { type: "stdout", text: "€b" },
    { type: "stdout", base64: "/wA=" },
    { type: "stdout", base64: "4oI=" },
    EXIT,
  ]);
});

test("output arrives at the typed client byte for byte, wherever it was cut", async () => {
  const all = Buffer.concat([
    Buffer.from("naïve \u{1f9f1} text\0"),
    Buffer.from(Array.from({ length: 512 }, (_, i) => i & 0xff)),
    Buffer.from("\u{1f9f1}".repeat(40)),
  ]);
  for (const size of [1, 2, 3, 5, 7, 64]) {
    api.supervisor.script = async function* () {
      for (let at = 0; at < all.length; at += size) yield output(all.subarray(at, at + size));
      yield EXIT;
    };
    const received: Buffer[] = [];
    for await (const event of agent.run(session, { command: "true" })) {
      if (event.type === "stdout") received.push(event.data);
    }
    expect(Buffer.concat(received).equals(all)).toBe(true);
  }
});

test("what fails before the first event has its own status", async () => {
  api.supervisor.script = async function* () {
    yield* [];
    throw new RecintoError("engine-unreachable", "no engine on /run/docker.sock");
  };
  const path = `/v1/sessions/${session}/exec`;
  const reply = await send(api.agentSocket("alpha"), "POST", path, { command: "true" });
  expect([reply.status, errorIn(reply).code]).toEqual([503, "engine-unreachable"]);
});

test("a full queue is a 429 that says when to try again", async () => {
  api.supervisor.script = async function* () {
    yield* [];
    throw new RecintoError("queue-full", "session s has 32 commands running and 64 waiting");
  };
  const path = `/v1/sessions/${session}/exec`;
  const reply = await send(api.agentSocket("alpha"), "POST", path, { command: "true" });
  expect([reply.status, errorIn(reply).code]).toEqual([429, "queue-full"]);
  expect(reply.headers["retry-after"]).toBe("2");
});

test("what fails later is the last line, and is thrown by the typed client", async () => {
  api.supervisor.script = async function* () {
    yield DECISION;
    throw new RecintoError("engine-unreachable", "the engine went away");
  };
  expect(await linesOf("true")).toEqual([
    DECISION,
    {
      type: "error",
      error: {
        code: "engine-unreachable",
        message: "the engine went away",
        hint: expect.any(String),
        requestId: expect.any(String),
      },
    },
  ]);
  const reading = collect(agent.run(session, { command: "true" }));
  await expect(reading).rejects.toMatchObject({ code: "engine-unreachable" });
});

test("a slow reader stops the command from being read; nothing piles up", async () => {
  const chunk = Buffer.alloc(65_536, "x");
  let given = 0;
  api.supervisor.script = async function* () {
    for (; given < 4_000; given++) yield output(chunk);
    yield EXIT;
  };
  const slow = request({
    socketPath: api.agentSocket("alpha"),
    method: "POST",
    path: `/v1/sessions/${session}/exec`,
    headers: { "content-type": "application/json" },
  });
  slow.end(JSON.stringify({ command: "yes" }));
  const [response] = (await once(slow, "response")) as [import("node:http").IncomingMessage];
  await sleep(300);
  const before = given;
  await sleep(300);
  // Sockets and streams hold a few hundred KiB; 4,000 chunks are 250 MiB.
  expect([given === before, given < 64]).toEqual([true, true]);
  let bytes = 0;
  for await (const part of response) bytes += (part as Buffer).length;
  expect(bytes).toBeGreaterThan(4_000 * chunk.length);
});

test("a framed command that is over at once is one answer of known length", async () => {
  const lengthOf = async (events: readonly RunEvent[]) => {
    api.supervisor.script = async function* () {
      yield* events;
    };
    const [response] = (await once(
      request({
        socketPath: api.agentSocket("alpha"),
        method: "POST",
        path: `/v1/sessions/${session}/exec`,
        headers: { "content-type": "application/json", accept: FRAMES_TYPE },
      }).end(JSON.stringify({ command: "true" })),
      "response",
    )) as [IncomingMessage];
    let bytes = 0;
    for await (const part of response) bytes += (part as Buffer).length;
    return [response.headers["content-length"], String(bytes)];
  };
  const [told, came] = await lengthOf([DECISION, EXIT]);
  expect(told).toBe(came);
  // Output goes as it comes: nobody knows how much there will be.
  expect((await lengthOf([DECISION, output(Buffer.from("a")), EXIT]))[0]).toBeUndefined();
});

test("a client that leaves aborts its command, also while nothing is written", async () => {
  let stopped = false;
  api.supervisor.script = async function* (_, signal) {
    yield DECISION;
    await aborted(signal);
    stopped = true;
  };
  for await (const event of agent.run(session, { command: "sleep 1000" })) {
    expect(event).toEqual(DECISION);
    break;
  }
  await expect.poll(() => stopped).toBe(true);
});

test("a client that leaves before the first event aborts its command", async () => {
  const seen: boolean[] = [];
  api.supervisor.script = async function* (_, signal) {
    seen.push(false);
    await aborted(signal);
    seen.push(true);
    yield EXIT;
  };
  const leaving = new AbortController();
  const reading = collect(agent.run(session, { command: "sleep 9" }, leaving.signal));
  reading.catch(() => {});
  await expect.poll(() => seen).toEqual([false]);
  leaving.abort();
  await expect.poll(() => seen).toEqual([false, true]);
});

test("stdin that is there goes with the request; a stream follows it", async () => {
  const received: unknown[] = [];
  api.supervisor.script = async function* ({ stdin }) {
    if (stdin instanceof Uint8Array) received.push(Buffer.from(stdin).toString("latin1"));
    else if (stdin !== undefined && stdin !== "open") {
      received.push(Buffer.concat(await collect(stdin)).toString("latin1"));
    }
    yield EXIT;
  };
  const stream = Readable.from([Buffer.from("a\n"), Buffer.from([0, 255]), Buffer.from("z")]);
  await collect(agent.run(session, { command: "cat", stdin: Buffer.from([0, 255]) }));
  await collect(agent.run(session, { command: "cat", stdin: stream }));
  expect(received).toEqual(["\0\xff", "a\n\0\xffz"]);
});

test("a command that ends before its stdin does not wait for it", async () => {
  api.supervisor.script = async function* () {
    yield EXIT;
  };
  const endless = new Readable({ read() {} });
  const events = await collect(agent.run(session, { command: "true", stdin: endless }));
  expect(events).toEqual([EXIT]);
});

test("a faulty line of stdin stops the command and is what the client is told", async () => {
  let stopped = false;
  api.supervisor.script = async function* ({ stdin }, signal) {
    yield DECISION;
    for await (const _ of stdin as AsyncIterable<Uint8Array>);
    await aborted(signal);
    stopped = true;
    yield { ...EXIT, cancelled: true } as RunEvent;
  };
  const body = Buffer.from(`{"command":"cat","stdin":"stream"}\n{"text":"ok"}\n{"text":7}\n`);
  const reply = await send(api.agentSocket("alpha"), "POST", `/v1/sessions/${session}/exec`, body, {
    "content-type": "application/x-ndjson",
  });
  expect(reply.body).toMatchObject([
    DECISION,
    { type: "exit", cancelled: true },
    { type: "error", error: { code: "bad-request" } },
  ]);
  expect(stopped).toBe(true);
});

test("an inbox is watched until its reader leaves", async () => {
  api.supervisor.questions.push(approval("p1", session));
  const admin = adminClient({ socketPath: api.adminSocket });
  const seen: string[] = [];
  for await (const one of admin.watchApprovals()) {
    seen.push(one.id);
    break;
  }
  expect(seen).toEqual(["p1"]);
});

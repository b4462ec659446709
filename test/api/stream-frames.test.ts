/** The framed stream: what is sent is what is taken apart, wherever the connection cuts it. */
import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agentClient } from "../../daemon/api/client.ts";
import { FRAMES_TYPE, type FrameEvent, outputDecoder } from "../../daemon/api/stream-frames.ts";
import { DECISION, EXIT } from "./fake-supervisor.ts";
import { collect, type RunningApi, startApi } from "./running-api.ts";

function frame(type: string, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32LE(payload.length, 0);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, payload]);
}

/** Neighbouring output of one stream is one piece, however it was cut. */
function joined(events: readonly FrameEvent[]): string[] {
  const all: string[] = [];
  let before = "";
  for (const event of events) {
    const text = event.type === "json" ? event.text : event.data.toString("latin1");
    if (event.type !== "json" && event.type === before) all[all.length - 1] += text;
    else all.push(`${event.type}:${text}`);
    before = event.type;
  }
  return all;
}

describe("the decoder", () => {
  const part = fc.tuple(
    fc.constantFrom("o", "e", "j"),
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => bytes.map((byte) => byte & 0x7f)),
  );

  test("gives the same for every way to cut a stream", () => {
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }),
        fc.integer({ min: 1, max: 17 }),
        (parts, step) => {
          const bytes = Buffer.concat(parts.map(([type, payload]) => frame(type, payload)));
          const whole = outputDecoder();
          const cut = outputDecoder();
          const pieces: FrameEvent[] = [];
          for (let at = 0; at < bytes.length; at += step) {
            pieces.push(...cut.push(bytes.subarray(at, at + step)));
          }
          expect(joined(pieces)).toEqual(joined(whole.push(bytes)));
          expect([cut.whole, whole.whole]).toEqual([true, true]);
        },
      ),
    );
  });

  test("knows that a stream ended too early", () => {
    const bytes = frame("o", Buffer.from("four"));
    for (let end = 1; end < bytes.length; end++) {
      const decoder = outputDecoder();
      decoder.push(bytes.subarray(0, end));
      expect(decoder.whole).toBe(false);
    }
  });

  test.each([
    ["an unknown type", frame("?", Buffer.from("x"))],
    ["JSON beyond any event", Buffer.from([0xff, 0xff, 0xff, 0x7f, 0x6a])],
  ])("refuses %s", (_, bytes) => {
    expect(() => outputDecoder().push(bytes)).toThrow("the stream of the daemon is broken");
  });
});

describe("over the socket", () => {
  let api: RunningApi;
  let path: string;
  let session: string;
  beforeAll(async () => {
    api = await startApi();
    const agent = agentClient({ socketPath: api.agentSocket("alpha") });
    session = (await agent.openSession("/tmp")).session.id;
    path = `/v1/sessions/${session}/exec`;
  });
  afterAll(() => api.stop());

  function ask(body: object): Promise<{ type: string | undefined; bytes: Buffer }> {
    return new Promise((resolve, reject) => {
      const headers = { accept: FRAMES_TYPE, "content-type": "application/json" };
      const sent = request(
        { socketPath: api.agentSocket("alpha"), path, method: "POST", headers },
        (response) =>
          buffer(response).then(
            (bytes) => resolve({ type: response.headers["content-type"], bytes }),
            reject,
          ),
      );
      sent.end(JSON.stringify(body));
    });
  }

  test("bytes come as they are, events as JSON", async () => {
    api.supervisor.script = async function* () {
      yield DECISION;
      yield { type: "stdout", data: Buffer.from([0, 255, 10]) };
      yield { type: "stderr", data: Buffer.from("€").subarray(0, 1) };
      yield EXIT;
    };
    expect(await ask({ command: "true" })).toEqual({
      type: FRAMES_TYPE,
      bytes: Buffer.concat([
        frame("j", Buffer.from(JSON.stringify(DECISION))),
        frame("o", Buffer.from([0, 255, 10])),
        frame("e", Buffer.from([0xe2])),
        frame("j", Buffer.from(JSON.stringify(EXIT))),
      ]),
    });
  });

  test("what is there at once of one stream is one frame, in the order of both streams", async () => {
    api.supervisor.script = async function* () {
      yield { type: "stdout", data: Buffer.from("one ") };
      yield { type: "stdout", data: Buffer.from("two") };
      yield { type: "stderr", data: Buffer.from("three") };
      yield { type: "stdout", data: Buffer.from("four") };
      yield EXIT;
    };
    expect((await ask({ command: "true" })).bytes).toEqual(
      Buffer.concat([
        frame("o", Buffer.from("one two")),
        frame("e", Buffer.from("three")),
        frame("o", Buffer.from("four")),
        frame("j", Buffer.from(JSON.stringify(EXIT))),
      ]),
    );
  });

  test("output that is more than the connection takes comes whole to a reader that is slow", async () => {
    const piece = Buffer.alloc(300_000, "x");
    api.supervisor.script = async function* () {
      for (let n = 0; n < 40; n++) yield { type: "stdout", data: piece };
      yield EXIT;
    };
    const agent = agentClient({ socketPath: api.agentSocket("alpha") });
    let bytes = 0;
    let last = "";
    for await (const event of agent.run(session, { command: "true" })) {
      last = event.type;
      if (event.type !== "stdout") continue;
      bytes += event.data.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([bytes, last]).toEqual([40 * piece.length, "exit"]);
    agent.close();
  });

  test("an error before the first event has its own status, one later is an event", async () => {
    const { type, bytes } = await ask({ nonsense: true });
    expect([type, JSON.parse(String(bytes)).error.code]).toEqual([
      "application/json; charset=utf-8",
      "bad-request",
    ]);
    const agent = agentClient({ socketPath: api.agentSocket("alpha") });
    api.supervisor.script = async function* () {
      yield DECISION;
      throw new Error("a bug");
    };
    const { session } = await agent.openSession("/tmp");
    await expect(collect(agent.run(session.id, { command: "true" }))).rejects.toMatchObject({
      code: "internal",
    });
  });
});

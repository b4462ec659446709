/** File operations over the socket: bytes both ways, refusals before a byte is sent, and a wait that is announced. */
import { createHash, randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AgentClient, agentClient } from "../../daemon/api/client.ts";
import { RecintoError } from "../../daemon/errors.ts";
import { errorIn, type RunningApi, send, sendRaw, startApi } from "./running-api.ts";

let api: RunningApi;
let client: AgentClient;
let files: ReturnType<AgentClient["files"]>;
let session: string;

beforeAll(async () => {
  api = await startApi();
  client = agentClient({ socketPath: api.agentSocket("alpha") });
  session = (await client.openSession("/tmp")).session.id;
  files = client.files(session);
});
afterAll(async () => {
  client.close();
  await api.stop();
});
beforeEach(() => {
  api.supervisor.files.before = () => {};
  api.supervisor.files.calls.length = 0;
});

const at = (rest: string) => `/v1/sessions/${session}/files/${rest}`;

async function refusal(call: Promise<unknown>): Promise<RecintoError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof RecintoError) return error;
  throw new TypeError(`not refused: ${String(error)}`);
}

test("bytes arrive as they were sent, in both directions, whatever they are", async () => {
  const content = randomBytes(3_000_001);
  async function* pieces() {
    for (let i = 0; i < content.length; i += 100_000) yield content.subarray(i, i + 100_000);
  }
  const written = await files.write("a b/ü?.bin", pieces(), { parents: true, ifHash: "absent" });
  expect(written).toEqual({
    path: "a b/ü?.bin",
    bytes: content.length,
    size: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  });
  expect(api.supervisor.files.calls[0]?.request).toEqual({
    path: "a b/ü?.bin",
    parents: true,
    ifHash: "absent",
  });
  const { bytes, ...about } = await files.read("a b/ü?.bin", { offset: 5, length: 2_000_000 });
  expect(about).toEqual({
    size: content.length,
    mode: "644",
    mtimeMs: 7,
    offset: 5,
    length: 2_000_000,
  });
  expect((await buffer(bytes)).equals(content.subarray(5, 2_000_005))).toBe(true);
  expect((await buffer((await files.read("a b/ü?.bin", { length: 0 })).bytes)).length).toBe(0);
});

test("every operation goes to its use case with what was asked", async () => {
  api.supervisor.files.content.set("a", Buffer.from("x"));
  expect(await files.stat("a", { hash: true })).toMatchObject({ name: "a", size: 1 });
  expect((await files.list(".", { after: "a", limit: 5 })).next).toBeNull();
  expect(await files.mkdir("d", { parents: true })).toEqual({ made: 1 });
  expect(await files.move("a", "b", { replace: true })).toEqual({ from: "a", to: "b" });
  expect((await files.patch("--- a", { strip: 0 })).files).toHaveLength(1);
  expect(await files.unpack("d", Buffer.from("tar"))).toEqual({ entries: 1, bytes: 3 });
  const packed = await files.pack("a", { gzip: true });
  expect((await buffer(packed.bytes)).toString()).toBe("x");
  expect(packed.counts()).toEqual({ entries: 3, leftOut: 2 });
  expect(await files.remove("a", { recursive: true })).toEqual({ removed: 1 });
  expect(api.supervisor.files.calls.map(({ name, request }) => [name, request])).toEqual([
    ["stat", { path: "a", hash: true }],
    ["list", { path: ".", after: "a", limit: 5 }],
    ["mkdir", { path: "d", parents: true }],
    ["move", { from: "a", to: "b", replace: true }],
    ["patch", { patch: "--- a", strip: 0 }],
    ["unpack", { path: "d" }],
    ["pack", { path: "a", gzip: true }],
    ["remove", { path: "a", recursive: true }],
  ]);
});

test("a refusal comes before a byte of the content is sent", async () => {
  api.supervisor.files.before = () => {
    throw new RecintoError("refused", "no", { hint: "do this", details: { by: "policy" } });
  };
  let sent = 0;
  async function* pieces() {
    sent += 1;
    yield Buffer.from("secret");
  }
  const error = await refusal(files.write("a", pieces()));
  expect([error.code, error.hint, error.details.by, sent]).toEqual([
    "refused",
    "do this",
    "policy",
    0,
  ]);
});

test("a client that sends without asking still reads its refusal", async () => {
  api.supervisor.files.before = () => {
    throw new RecintoError("refused", "no");
  };
  const reply = await send(
    api.agentSocket("alpha"),
    "POST",
    at("write?path=a"),
    randomBytes(4_000_000),
  );
  expect([reply.status, errorIn(reply).code]).toEqual([403, "refused"]);
});

test("a wait for a person is announced with where the question is", async () => {
  const told: string[] = [];
  api.supervisor.files.before = (call) => call.onPending?.("q-1");
  await files.mkdir("d", {}, { waitMs: 9, onPending: (id) => told.push(id) });
  await files.write("d", Buffer.from("x"), {}, { waitMs: 9, onPending: (id) => told.push(id) });
  expect(told).toEqual(["q-1", "q-1"]);
  expect(api.supervisor.files.calls.map(({ call }) => call.waitMs)).toEqual([9, 9]);
  const raw = await sendRaw(
    api.agentSocket("alpha"),
    `POST ${at("mkdir")} HTTP/1.1\r\nhost: recinto\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"path":"d"}`,
  );
  expect(raw).toMatch(
    /^HTTP\/1.1 103 Early Hints\r\nLink: <\/v1\/sessions\/[^/]+\/approvals\/q-1>; rel=monitor/,
  );
});

test("a reader that leaves is noticed, and the stream behind it closed", async () => {
  api.supervisor.files.content.set("big", Buffer.alloc(30_000_000));
  const before = api.supervisor.files.closed;
  const { bytes } = await files.read("big");
  for await (const _ of bytes) break;
  await expect.poll(() => api.supervisor.files.closed).toBe(before + 1);
  await files.stat("big");
});

test("a sender that leaves in the middle is told to nobody, and breaks nothing", async () => {
  const head = `POST ${at("write?path=half")} HTTP/1.1\r\nhost: recinto\r\ncontent-length: 100\r\n\r\nhalf`;
  await sendRaw(api.agentSocket("alpha"), head, 200);
  expect(api.supervisor.files.content.has("half")).toBe(false);
  await files.write("whole", Buffer.from("whole"));
  expect(api.supervisor.files.content.get("whole")?.toString()).toBe("whole");
});

test.each([
  ["GET", "read", 400],
  ["GET", "read?path=", 400],
  ["GET", "read?path=a%00b", 400],
  ["GET", "read?path=%ff", 404],
  ["GET", `read?path=${"a".repeat(5_000)}`, 400],
  ["GET", "read?path=a&path=b", 400],
  ["GET", "read?path=a&offset=-1", 400],
  ["GET", "list?path=a&limit=0", 400],
  ["GET", "stat?path=a&hash=yes", 400],
  ["POST", "write?path=a&ifHash=abc", 400],
  ["POST", "write?path=a&mode=777", 400],
  ["GET", "write?path=a", 405],
  ["GET", "nothing?path=a", 404],
])("%s %s is answered with %i", async (method, path, status) => {
  const reply = await send(api.agentSocket("alpha"), method, at(path));
  expect(reply.status).toBe(status);
});

test("no admin and no other project acts on an agent's files", async () => {
  expect((await send(api.adminSocket, "GET", at("read?path=a"))).status).toBe(404);
});

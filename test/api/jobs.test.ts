/** Jobs over the socket: requests as any client sends them, and the typed client's calls. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentClient, agentClient } from "../../daemon/api/client.ts";
import { collect, errorIn, type RunningApi, send, startApi } from "./running-api.ts";

let api: RunningApi;
let agent: AgentClient;
let session: string;
let at: string;
beforeAll(async () => {
  api = await startApi();
  agent = agentClient({ socketPath: api.agentSocket("alpha") });
  session = (await agent.openSession("/tmp")).session.id;
  at = `/v1/sessions/${session}/jobs`;
});
afterAll(async () => {
  agent.close();
  await api.stop();
});

const get = (path: string) => send(api.agentSocket("alpha"), "GET", path);
const post = (path: string, body: unknown) => send(api.agentSocket("alpha"), "POST", path, body);

test("a list, one, and what there is not", async () => {
  const { body } = await get(at);
  expect(body).toEqual([expect.objectContaining({ id: "x-1", output: { from: 2, to: 8 } })]);
  expect((await get(`${at}/x-1`)).body).toMatchObject({ command: "npm run dev" });
  const none = await get(`${at}/x-2`);
  expect([none.status, errorIn(none).code]).toEqual([404, "unknown-job"]);
});

test("output as lines: text where it is UTF-8, where it begins, what was lost, where to go on", async () => {
  const { body } = await get(`${at}/x-1/output?since=0&follow=true`);
  expect(body).toEqual([
    { type: "at", offset: 2, lost: 2 },
    { type: "stdout", text: "ab" },
    { type: "stderr", text: "é" },
    { type: "stdout", base64: "/w==" },
    { type: "end", next: 7, state: "running" },
  ]);
  expect(api.supervisor.jobs.sent.at(-1)).toEqual({ since: 0, follow: true });
});

test("output as frames: the bytes as they are", async () => {
  const events = await collect(agent.jobs(session).output("x-1", { since: 3 }));
  expect(events).toEqual(api.supervisor.jobs.events);
  expect(api.supervisor.jobs.sent.at(-1)).toEqual({ since: 3 });
});

test("input, signals and sizes arrive as they were sent, others are refused", async () => {
  const jobs = agent.jobs(session);
  const { sent } = api.supervisor.jobs;
  sent.length = 0;
  await jobs.write("x-1", Buffer.from("a\xff", "latin1"));
  await jobs.endInput("x-1");
  await jobs.signal("x-1", "INT");
  await jobs.signal("x-1", "KILL", { tree: true });
  await jobs.resize("x-1", { rows: 3, columns: 4 });
  expect((await jobs.kill("x-1")).state).toBe("ended");
  expect(sent).toEqual([
    "a\xff",
    "end",
    { signal: "INT", tree: false },
    { signal: "KILL", tree: true },
    { rows: 3, columns: 4 },
  ]);
  for (const [what, body] of [
    ["signal", { signal: "SEGV" }],
    ["resize", { rows: 0, columns: 4 }],
    ["resize", { rows: 4, columns: 10_001 }],
    ["stdin", { data: { text: "a", base64: "" } }],
    ["stdin", "a"],
  ] as const) {
    const reply = await post(`${at}/x-1/${what}`, body);
    expect([what, reply.status]).toEqual([what, 400]);
  }
});

test("what leaves HTTP says so to a plain request", async () => {
  for (const path of [`${at}/x-1/attach`, `/v1/sessions/${session}/interact`]) {
    const reply = await get(path);
    expect(errorIn(reply).code).toBe("bad-upgrade");
  }
});

test("attached: events come, input and control go, a fault is told in their place", async () => {
  const { sent } = api.supervisor.jobs;
  sent.length = 0;
  const wire = await agent.jobs(session).attach("x-1", { since: 2 });
  await wire.write(Buffer.from("typed"));
  wire.resize({ rows: 5, columns: 6 });
  expect(await collect(wire.events)).toEqual(api.supervisor.jobs.events);
  await expect.poll(() => sent).toContainEqual({ since: 2, follow: true });
  await expect(agent.jobs(session).attach("x-2")).rejects.toMatchObject({ code: "unknown-job" });
});

test("an admin sees and ends jobs, and does not act as the agent", async () => {
  const admin = (method: string, path: string, body?: unknown) =>
    send(api.adminSocket, method, path, body);
  expect((await admin("GET", at)).status).toBe(200);
  expect((await admin("GET", `${at}/x-1/output`)).status).toBe(200);
  expect((await admin("POST", `${at}/x-1/kill`)).status).toBe(200);
  expect((await admin("POST", `${at}/x-1/stdin`, { end: true })).status).toBe(404);
  expect((await admin("POST", `${at}/x-1/signal`, { signal: "INT" })).status).toBe(404);
});

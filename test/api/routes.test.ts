/** The table of routes: its order, its description, and the wall between agents and approvers in it. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../daemon/api/routes/table.ts";
import { DOCUMENTS } from "../../scripts/generate-docs.ts";
import { approval } from "./fake-supervisor.ts";
import { errorIn, type RunningApi, send, startApi } from "./running-api.ts";

let api: RunningApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const NAMES = ROUTES.map(({ method, path }) => `${path} ${method}`);

test("the table is sorted by path and method, and has each request once", () => {
  expect(NAMES).toEqual([...new Set(NAMES)].sort());
});

test("docs/openapi.json is what the routes say now", () => {
  const committed = readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8");
  expect(committed === DOCUMENTS["docs/openapi.json"]?.()).toBe(true);
});

test("both sockets serve that description", async () => {
  for (const socket of [api.adminSocket, api.agentSocket("alpha")]) {
    const { status, body } = await send(socket, "GET", "/openapi.json");
    const described = JSON.parse(DOCUMENTS["docs/openapi.json"]?.() ?? "{}");
    described.info.version = "0.0.0-test";
    expect([status, body]).toEqual([200, described]);
  }
});

test("every route is in the OpenAPI file", () => {
  const { paths } = JSON.parse(DOCUMENTS["docs/openapi.json"]?.() ?? "{}");
  const described = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${path} ${method.toUpperCase()}`),
  );
  expect(described.sort()).toEqual(NAMES);
});

test("what an agent may do is exactly this", () => {
  const forAgents = ROUTES.filter(({ sockets }) => sockets.includes("agent"));
  expect(forAgents.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /openapi.json",
    "GET /v1/mcp",
    "GET /v1/sessions",
    "POST /v1/sessions",
    "DELETE /v1/sessions/{session}",
    "GET /v1/sessions/{session}",
    "GET /v1/sessions/{session}/approvals/{approval}",
    "POST /v1/sessions/{session}/check",
    "POST /v1/sessions/{session}/closures/{closure}/check",
    "POST /v1/sessions/{session}/exec",
    "POST /v1/sessions/{session}/files/check",
    "GET /v1/sessions/{session}/files/list",
    "POST /v1/sessions/{session}/files/mkdir",
    "POST /v1/sessions/{session}/files/move",
    "GET /v1/sessions/{session}/files/pack",
    "POST /v1/sessions/{session}/files/patch",
    "GET /v1/sessions/{session}/files/read",
    "POST /v1/sessions/{session}/files/remove",
    "GET /v1/sessions/{session}/files/stat",
    "POST /v1/sessions/{session}/files/unpack",
    "POST /v1/sessions/{session}/files/write",
    "POST /v1/sessions/{session}/grants",
    "DELETE /v1/sessions/{session}/grants/{grant}",
    "GET /v1/sessions/{session}/grants/{grant}",
    "GET /v1/sessions/{session}/interact",
    "GET /v1/sessions/{session}/interface",
    "GET /v1/sessions/{session}/interface/changes",
    "GET /v1/sessions/{session}/jobs",
    "GET /v1/sessions/{session}/jobs/{job}",
    "GET /v1/sessions/{session}/jobs/{job}/attach",
    "POST /v1/sessions/{session}/jobs/{job}/kill",
    "GET /v1/sessions/{session}/jobs/{job}/output",
    "POST /v1/sessions/{session}/jobs/{job}/resize",
    "POST /v1/sessions/{session}/jobs/{job}/signal",
    "POST /v1/sessions/{session}/jobs/{job}/stdin",
    "GET /v1/version",
  ]);
});

test("no route of an admin exists on an agent's socket: approving there is a 404 and changes nothing", async () => {
  api.supervisor.questions.push(approval("p1", "s1"));
  for (const { method, path, sockets } of ROUTES) {
    if (sockets.includes("agent")) continue;
    const concrete = path.replace("{approval}", "p1").replace(/\{\w+\}/g, "x");
    const body = method === "POST" ? { answer: "approve", mode: "once" } : undefined;
    const reply = await send(api.agentSocket("alpha"), method, concrete, body);
    expect([method, path, reply.status, errorIn(reply).code]).toEqual([
      method,
      path,
      404,
      "not-found",
    ]);
  }
  expect(api.supervisor.questions[0]?.state).toBe("pending");
});

test("an answer on the admin socket is recorded with the uid that gave it", async () => {
  api.supervisor.questions.push(approval("p2", "s1"));
  const reply = await send(api.adminSocket, "POST", "/v1/approvals/p2/answer", {
    answer: "approve",
    mode: "once",
  });
  expect(reply.body).toMatchObject({ id: "p2", state: "approved", answeredBy: process.getuid?.() });
});

test("an answer that is neither approval nor denial is refused: nothing approves by accident", async () => {
  api.supervisor.questions.push(approval("p3", "s1"));
  for (const body of [undefined, {}, { answer: "approve" }, { answer: "yes" }, { answer: "" }]) {
    const reply = await send(api.adminSocket, "POST", "/v1/approvals/p3/answer", body);
    expect([reply.status, errorIn(reply).code]).toEqual([400, "bad-request"]);
  }
  expect(api.supervisor.approval(undefined as never, "p3").state).toBe("pending");
});

test("another project's session, another user's question and an id that never was answer alike", async () => {
  const opened = await send(api.agentSocket("alpha"), "POST", "/v1/sessions", { worktree: "/tmp" });
  const { id } = (opened.body as { session: { id: string } }).session;
  api.supervisor.questions.push(approval("p4", "another-session"));
  const beta = api.agentSocket("beta");
  const answers = await Promise.all(
    [id, "never-was"].flatMap((session) => [
      send(beta, "GET", `/v1/sessions/${session}`),
      send(beta, "DELETE", `/v1/sessions/${session}`),
      send(beta, "POST", `/v1/sessions/${session}/exec`, { command: "ls" }),
      send(beta, "POST", `/v1/sessions/${session}/check`, { command: "ls" }),
      send(beta, "GET", `/v1/sessions/${session}/approvals/p4`),
    ]),
  );
  const words = answers.map((reply) => `${reply.status} ${errorIn(reply).code}`);
  expect(words).toEqual(Array(10).fill("404 unknown-session"));
  expect(answers.slice(0, 5).map(errorIn)).toEqual(answers.slice(5).map(errorIn));

  const own = await Promise.all(
    ["p4", "never-was"].map((question) =>
      send(api.agentSocket("alpha"), "GET", `/v1/sessions/${id}/approvals/${question}`),
    ),
  );
  expect(own.map((reply) => [reply.status, errorIn(reply).code])).toEqual(
    Array(2).fill([404, "unknown-approval"]),
  );
});

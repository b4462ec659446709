/** Whatever is wrong with a request is a 4xx with code, value and hint, and the daemon goes on serving. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { REQUEST_BODY_BYTES_MAX } from "../../daemon/limits.ts";
import { errorIn, type RunningApi, send, sendRaw, startApi } from "./running-api.ts";

let api: RunningApi;
let agent: string;
let session: string;

beforeAll(async () => {
  api = await startApi();
  agent = api.agentSocket("alpha");
  const opened = await send(agent, "POST", "/v1/sessions", { worktree: "/tmp" });
  session = (opened.body as { session: { id: string } }).session.id;
});
afterAll(() => api.stop());

const exec = () => `/v1/sessions/${session}/exec`;

const BODIES: readonly [name: string, body: unknown, code: string, message: string][] = [
  [
    "no body",
    undefined,
    "bad-request",
    "body: invalid input: expected object, received undefined (it is absent)",
  ],
  ["not JSON", Buffer.from("{command}"), "bad-json", "the request body is not JSON: "],
  [
    "two objects",
    Buffer.from('{"command":"a"}{"command":"b"}'),
    "bad-json",
    "the request body is not JSON: ",
  ],
  ["a raw NUL", Buffer.from('{"command":"a\0b"}'), "bad-json", "the request body is not JSON: "],
  ["bad UTF-8", Buffer.from([0x22, 0xff, 0x22]), "bad-utf8", "the request body is not valid UTF-8"],
  [
    "an overlong slash",
    Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
    "bad-utf8",
    "the request body is not valid UTF-8",
  ],
  [
    "a list",
    [],
    "bad-request",
    "body: invalid input: expected object, received array (it is a list of 0)",
  ],
  ["null", null, "bad-request", "body: invalid input: expected object, received null (it is null)"],
  [
    "no command",
    {},
    "bad-request",
    "body.command: invalid input: expected string, received undefined (it is absent)",
  ],
  [
    "a number for the command",
    { command: 7 },
    "bad-request",
    "body.command: invalid input: expected string, received number (it is 7)",
  ],
  [
    "an empty command",
    { command: "" },
    "bad-request",
    'body.command: too small: expected string to have >=1 characters (it is "")',
  ],
  [
    "a NUL in the command",
    { command: "a\0b" },
    "bad-utf8",
    'body.command: has a NUL or half a surrogate pair (it is "a\\u0000b")',
  ],
  [
    "half a surrogate pair",
    { command: "a\ud800" },
    "bad-utf8",
    'body.command: has a NUL or half a surrogate pair (it is "a\\ud800")',
  ],
  [
    "a NUL in the cwd",
    { command: "ls", cwd: "/tmp\0" },
    "bad-utf8",
    'body.cwd: has a NUL or half a surrogate pair (it is "/tmp\\u0000")',
  ],
  [
    "an unknown key",
    { command: "ls", allowUnsafe: true },
    "bad-request",
    'body: unrecognized key: "allowUnsafe" (it is an object)',
  ],
  [
    "a prototype key",
    Buffer.from('{"command":"ls","__proto__":{"cwd":"/"}}'),
    "bad-request",
    'body: unrecognized key: "__proto__" (it is an object)',
  ],
  [
    "a bad variable name",
    { command: "ls", env: { "A=B": "c" } },
    "bad-request",
    'body.env.A=B: invalid key in record (it is "c")',
  ],
  [
    "a NUL in a variable",
    { command: "ls", env: { A: "b\0" } },
    "bad-utf8",
    'body.env.A: has a NUL or half a surrogate pair (it is "b\\u0000")',
  ],
  [
    "a negative limit",
    { command: "ls", timeoutMs: -1 },
    "bad-request",
    "body.timeoutMs: too small: expected number to be >=1 (it is -1)",
  ],
  [
    "a fraction",
    { command: "ls", waitMs: 0.5 },
    "bad-request",
    "body.waitMs: invalid input: expected int, received number (it is 0.5)",
  ],
  [
    "an infinite limit",
    Buffer.from('{"command":"ls","timeoutMs":1e999}'),
    "bad-request",
    "body.timeoutMs: invalid input: expected number, received Infinity (it is Infinity)",
  ],
  [
    "stdin of both kinds",
    { command: "cat", stdin: { text: "a", base64: "YQ==" } },
    "bad-request",
    'body.stdin: unrecognized key: "base64" (it is an object)',
  ],
  [
    "stdin that is not base64",
    { command: "cat", stdin: { base64: "§" } },
    "bad-request",
    'body.stdin.base64: invalid base64-encoded string (it is "§")',
  ],
];

test.each(BODIES)("a body with %s", async (_, body, code, message) => {
  const reply = await send(agent, "POST", exec(), body);
  const error = errorIn(reply);
  expect(reply.status).toBe(400);
  expect(error.code).toBe(code);
  expect(error.message.slice(0, message.length)).toBe(message);
  expect(error.hint).not.toBe("");
});

test("nothing a caller sent acts on the terminal of who reads the error", async () => {
  const hostile = "\x1b[2J\u202e\x9b";
  const replies = [
    await send(agent, "POST", `/v1/sessions/${encodeURIComponent(hostile)}/check`, {}),
    await send(agent, "POST", exec(), { command: "ls", [hostile]: 1 }),
    await send(agent, "POST", exec(), { command: "ls", env: { [hostile]: hostile } }),
    await send(agent, "GET", `/${encodeURIComponent(hostile)}`),
    await send(agent, "GET", `/v1/version?${encodeURIComponent(hostile)}=1`),
  ];
  for (const reply of replies) {
    expect(JSON.stringify(reply.body)).not.toMatch(/[\0-\x1f\x7f-\x9f\u202e]/);
  }
});

test("a command over the limit names the limit, not the command", async () => {
  const reply = await send(agent, "POST", exec(), { command: "x".repeat(200_000) });
  expect(errorIn(reply).message.length).toBeLessThan(600);
  expect(errorIn(reply).message).toContain("expected string to have <=131072 characters");
});

test("a body over the limit is refused before it is read", async () => {
  const head = `POST ${exec()} HTTP/1.1\r\nhost: recinto\r\ncontent-type: application/json\r\ncontent-length: ${REQUEST_BODY_BYTES_MAX + 1}\r\n\r\n`;
  expect(await sendRaw(agent, head)).toMatch(/^HTTP\/1\.1 413 .*body-too-large/s);
});

test("a chunked body over the limit is refused while it is read", async () => {
  const reply = await send(agent, "POST", exec(), Buffer.alloc(REQUEST_BODY_BYTES_MAX + 1, 0x20), {
    "transfer-encoding": "chunked",
  });
  expect([reply.status, errorIn(reply).code]).toEqual([413, "body-too-large"]);
});

test("a body that breaks off leaves nothing behind", async () => {
  await sendRaw(
    agent,
    `POST ${exec()} HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{"a"`,
  );
  expect((await send(agent, "GET", "/v1/version")).status).toBe(200);
});

test("a body that is nested a million deep", async () => {
  const reply = await send(
    agent,
    "POST",
    exec(),
    Buffer.from(`{"command":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`),
  );
  expect(errorIn(reply).message).toBe(
    "body.command: invalid input: expected string, received array (it is a list of 1)",
  );
});

const REQUESTS: readonly [
  name: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  status: number,
  code: string,
][] = [
  [
    "from a web page",
    "GET",
    "/v1/version",
    { origin: "http://evil.example" },
    403,
    "browser-refused",
  ],
  [
    "from a link on a web page",
    "GET",
    "/v1/version",
    { referer: "http://evil.example/a" },
    403,
    "browser-refused",
  ],
  ["for a rebound name", "GET", "/v1/version", { host: "evil.example" }, 403, "browser-refused"],
  ["for a path that is not there", "GET", "/v2/version", {}, 404, "not-found"],
  ["with a method that is not there", "DELETE", "/v1/version", {}, 405, "method-not-allowed"],
  ["with a path that is not UTF-8", "GET", "/v1/sessions/%ff", {}, 400, "bad-request"],
  ["with a NUL in the path", "GET", "/v1/sessions/%00", {}, 400, "bad-request"],
  ["with a slash hidden in an id", "GET", "/v1/sessions/..%2fversion", {}, 400, "bad-request"],
  ["with a query that is not there", "GET", "/v1/version?admin=1", {}, 400, "bad-request"],
  ["with a query given twice", "GET", "/v1/version?a=1&a=2", {}, 400, "bad-request"],
];

test.each(REQUESTS)("a request %s", async (_, method, path, headers, status, code) => {
  const reply = await send(agent, method, path, undefined, headers);
  expect([reply.status, errorIn(reply).code]).toEqual([status, code]);
  expect(errorIn(reply).hint).not.toBe("");
});

test("the methods that are there are named", async () => {
  const reply = await send(agent, "DELETE", "/v1/version");
  expect(reply.headers.allow).toBe("GET");
});

test("a form as a web page sends it is not read", async () => {
  const reply = await send(
    agent,
    "POST",
    "/v1/sessions",
    { worktree: "/tmp" },
    {
      "content-type": "text/plain",
    },
  );
  expect(errorIn(reply)).toEqual({
    code: "bad-request",
    message: 'the content type is "text/plain"',
    hint: "send Content-Type: application/json",
  });
});

const RAW: readonly [name: string, bytes: string, answer: RegExp][] = [
  ["no HTTP", "hello\r\n\r\n", /^HTTP\/1\.1 400 .*"code":"bad-http"/s],
  ["HTTP/0.9", "GET /\r\n\r\n", /^HTTP\/1\.1 404 /],
  ["a TLS hello", "\x16\x03\x01\x02\x00\x01", /^HTTP\/1\.1 400 .*"code":"bad-http"/s],
  [
    "two lengths",
    "GET /v1/version HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    /^HTTP\/1\.1 400 .*"code":"bad-http"/s,
  ],
  [
    "length and chunks",
    "POST /v1/sessions HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 400 .*"code":"bad-http"/s,
  ],
  [
    "a NUL in a header",
    "GET /v1/version HTTP/1.1\r\nx: a\0b\r\n\r\n",
    /^HTTP\/1\.1 400 .*"code":"bad-http"/s,
  ],
  [
    "a head over the limit",
    `GET /v1/version HTTP/1.1\r\nx: ${"a".repeat(20_000)}\r\n\r\n`,
    /^HTTP\/1\.1 431 .*"code":"head-too-large"/s,
  ],
  ["an endless line", `GET /${"a".repeat(100_000)}`, /^HTTP\/1\.1 431 .*"code":"head-too-large"/s],
  [
    "a tunnel",
    "CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: recinto\r\n\r\n",
    /^HTTP\/1\.1 405 .*"code":"method-not-allowed"/s,
  ],
];

test.each(RAW)("bytes that are %s", async (_, bytes, answer) => {
  expect(await sendRaw(agent, bytes)).toMatch(answer);
  expect((await send(agent, "GET", "/v1/version")).status).toBe(200);
});

test("a request without Host is served: a socket has no name", async () => {
  expect(await sendRaw(agent, "GET /v1/version HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /);
});

test("what follows a faulty request on the same connection is not served", async () => {
  const smuggled = "GET /v1/version HTTP/1.1\r\n\r\n";
  const bytes = `POST ${exec()} HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\nx${smuggled}`;
  expect((await sendRaw(agent, bytes)).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
});

test("a bug is a 500 with a request id, its details are in the log alone, and the daemon goes on", async () => {
  const reply = await send(agent, "POST", "/v1/sessions", { worktree: "/explode" });
  const requestId = reply.headers["x-request-id"];
  expect(reply.status).toBe(500);
  expect(reply.body).toEqual({
    error: {
      code: "internal",
      message: "something went wrong inside recintod",
      hint: expect.stringContaining("request id"),
      requestId,
    },
  });
  const logged = api.log
    .map((line) => JSON.parse(line))
    .find((line) => line.requestId === requestId);
  expect(logged).toMatchObject({ level: 50, err: { message: "a bug with a secret in it" } });
  expect((await send(agent, "GET", "/v1/version")).status).toBe(200);
});

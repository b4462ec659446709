/** Random bytes and broken requests against a socket of the daemon: it must stay up and its memory flat. */
import { sendRaw, startApi } from "../api/running-api.ts";

/** A small generator with a seed, so that a failure can be had again. */
export function randomBytes(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PIECES = [
  "GET ",
  "POST ",
  "DELETE ",
  "/v1/sessions",
  "/v1/version",
  "/v1/approvals/x/answer",
  " HTTP/1.1\r\n",
  " HTTP/1.0\r\n",
  "host: recinto\r\n",
  "content-type: application/json\r\n",
  "content-type: application/x-ndjson\r\n",
  "content-length: 9\r\n",
  "content-length: 99999999999\r\n",
  "transfer-encoding: chunked\r\n",
  "expect: 100-continue\r\n",
  "upgrade: websocket\r\nconnection: upgrade\r\n",
  "\r\n",
  "\n",
  "ffffffff\r\n",
  "0\r\n\r\n",
  '{"worktree":"/tmp"}',
  '{"command":"ls"}\n',
  "\0",
  "\xff\xfe",
  "%00%ff%2e%2e",
];

/** A request that is right, for the generator to spoil. */
const RIGHT = [
  request("POST", "/v1/sessions", '{"worktree":"/tmp"}'),
  request("POST", "/v1/sessions/s1/exec", '{"command":"ls -la","env":{"A":"b"},"timeoutMs":5}'),
  request("POST", "/v1/sessions/s1/check", '{"command":"echo $(id)","cwd":"src"}'),
  request("POST", "/v1/approvals/q-1/answer", '{"answer":"approve","mode":"once"}'),
  request("GET", "/v1/events?after=1&limit=5", ""),
  request("DELETE", "/v1/sessions/s1", ""),
];

function request(method: string, path: string, body: string): string {
  const length = body === "" ? "" : `content-length: ${body.length}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nhost: recinto\r\ncontent-type: application/json\r\n`;
  return `${head}${length}connection: close\r\n\r\n${body}`;
}

/** Requests that are almost right, pieces in an order nobody would send them, and bytes of no kind at all. */
export function randomRequest(random: () => number): Buffer {
  return random() < 0.5 ? spoiled(random) : jumbled(random);
}

function spoiled(random: () => number): Buffer {
  let bytes = Buffer.from(pick(RIGHT, random), "latin1");
  for (let changes = Math.floor(random() * 4); changes > 0; changes--) {
    const at = Math.floor(random() * bytes.length);
    const rest = bytes.subarray(at + Math.floor(random() * 3));
    const between =
      random() < 0.5 ? Buffer.from([random() * 256]) : Buffer.from(pick(PIECES, random), "latin1");
    bytes = Buffer.concat([bytes.subarray(0, at), between, rest]);
  }
  return bytes;
}

function jumbled(random: () => number): Buffer {
  const parts: Buffer[] = [];
  const count = 1 + Math.floor(random() * 12);
  for (let i = 0; i < count; i++) {
    if (random() < 0.7) parts.push(Buffer.from(pick(PIECES, random), "latin1"));
    else {
      const bytes = Buffer.alloc(Math.floor(random() ** 3 * 4_096));
      for (let at = 0; at < bytes.length; at++) bytes[at] = random() * 256;
      parts.push(bytes);
    }
  }
  return Buffer.concat(parts);
}

function pick(from: readonly string[], random: () => number): string {
  return from[Math.floor(random() * from.length)] ?? "";
}

export interface HttpFuzzResult {
  readonly sent: number;
  /** Answers by status; "none" for a connection that was closed without one. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Sends `count` random requests, `atOnce` at a time, each on a connection of its own. */
export async function fuzzSocket(
  socketPath: string,
  options: { count: number; seed: number; atOnce: number },
): Promise<HttpFuzzResult> {
  const random = randomBytes(options.seed);
  const statuses: Record<string, number> = {};
  let left = options.count;
  async function worker(): Promise<void> {
    while (left-- > 0) {
      const answer = await sendRaw(socketPath, randomRequest(random), 500);
      const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? "none";
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, worker));
  return { sent: options.count, statuses };
}

const LONG_COUNT = 500_000;
const RSS_GROWTH_MAX = 96 * 1024 * 1024;

/** The long form: both sockets of the API, until `count` requests were sent to each. Prints and counts what is wrong. */
export async function fuzzHttp({
  count = LONG_COUNT,
  seed,
}: {
  readonly count: number | undefined;
  readonly seed: number;
}): Promise<number> {
  const api = await startApi();
  let failures = 0;
  for (const socket of [api.agentSocket("alpha"), api.adminSocket]) {
    await fuzzSocket(socket, { count: Math.min(count, 5_000), seed, atOnce: 64 });
    const before = process.memoryUsage().rss;
    const { statuses } = await fuzzSocket(socket, { count, seed: seed + 1, atOnce: 64 });
    const growth = process.memoryUsage().rss - before;
    const wrong = [
      ...(statuses["500"] === undefined ? [] : [`${statuses["500"]} answers were 500`]),
      ...(growth < RSS_GROWTH_MAX ? [] : [`memory grew by ${growth} bytes`]),
    ];
    console.log(`http: ${socket} ${JSON.stringify(statuses)}, memory ${growth} bytes`);
    for (const fault of wrong) console.error(`http: ${socket}: ${fault} (seed ${seed})`);
    failures += wrong.length;
  }
  await api.stop();
  return failures;
}

/** The real sockets of the API in a folder of their own, before a fake supervisor. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DestinationStream, type Logger, pino } from "pino";
import { type Listeners, openListeners } from "../../daemon/api/listeners.ts";
import type { Backend } from "../../daemon/api/route.ts";
import { adminSocketPath, agentSocketPath } from "../../daemon/api/socket.ts";
import { RecintoError } from "../../daemon/errors.ts";
import { FakeSupervisor, project } from "./fake-supervisor.ts";

export interface RunningApi {
  readonly runDir: string;
  readonly supervisor: FakeSupervisor;
  readonly adminSocket: string;
  agentSocket(project: string): string;
  /** Lines that the daemon logged. */
  readonly log: string[];
  readonly listeners: Listeners;
  stop(): Promise<void>;
}

/** Sockets for projects `alpha` and `beta`; agents' group is `agentGid`. */
export async function startApi(
  options: {
    agentGid?: number | null | (() => number | null);
    adminGid?: number | null;
    runDir?: string;
    rights?: Backend["rights"];
    serveMcp?: Backend["serveMcp"];
  } = {},
): Promise<RunningApi> {
  const runDir = options.runDir ?? join(openFolder(), "run");
  const supervisor = new FakeSupervisor();
  supervisor.projectList = [project("alpha"), project("beta")];
  const lines: string[] = [];
  let requests = 0;
  const listeners = await openListeners({
    runDir,
    adminGid: options.adminGid ?? null,
    agentGid: () =>
      typeof options.agentGid === "function" ? options.agentGid() : (options.agentGid ?? null),
    backend: {
      supervisor,
      ...(options.rights === undefined ? {} : { rights: options.rights }),
      profiles: {
        list: () => [],
        check: (name, text) => {
          throw new RecintoError("bad-profile", `${name}:1:1: ${text}`);
        },
        show: (name) => {
          throw new RecintoError("bad-profile", `no profile ${name}`);
        },
      },
      version: "0.0.0-test",
      serveMcp: options.serveMcp ?? (async (connection) => void connection.end()),
    },
    log: logger(lines),
    requestId: () => `r${++requests}`,
  });
  return {
    runDir,
    supervisor,
    adminSocket: adminSocketPath(runDir),
    agentSocket: (id) => agentSocketPath(runDir, id),
    log: lines,
    listeners,
    async stop() {
      await listeners.close(0);
      rmSync(runDir, { recursive: true, force: true });
    },
  };
}

/** A folder that other users may pass, as /run is. */
function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "recinto-api-"));
  chmodSync(folder, 0o755);
  return folder;
}

function logger(lines: string[]): Logger {
  const stream: DestinationStream = { write: (line) => void lines.push(line) };
  return pino({ level: "info" }, stream);
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** One request as any HTTP client would send it. */
export function send(
  socketPath: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const text =
      body === undefined ? undefined : body instanceof Buffer ? body : JSON.stringify(body);
    const sent = request(
      {
        socketPath,
        method,
        path,
        agent: false,
        headers: {
          host: "recinto",
          ...(text === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const received = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: received === "" ? undefined : parsed(received),
          });
        });
      },
    );
    sent.on("error", reject);
    sent.end(text);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }
}

/** Bytes as they are; resolves with what came back when the other side closes, or after `ms`. */
export function sendRaw(
  socketPath: string,
  bytes: Uint8Array | string,
  ms = 2_000,
): Promise<string> {
  return new Promise((resolve) => {
    const connection = connect(socketPath);
    let received = "";
    const done = () => {
      connection.destroy();
      resolve(received);
    };
    const timer = setTimeout(done, ms);
    connection.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    connection.on("error", () => {});
    connection.on("close", () => {
      clearTimeout(timer);
      done();
    });
    connection.end(bytes);
  });
}

/** The error body of a reply, without the parts that a test does not fix. */
export function errorIn(reply: Reply): { code: string; message: string; hint: string } {
  const { code, message, hint } = (reply.body as { error: Record<string, string> }).error;
  return { code: code ?? "", message: message ?? "", hint: hint ?? "" };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** MCP clients for the tests: the protocol's own library over a program's standard streams and over an agent's socket. */
import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** Revisions that clients speak: with a handshake, and with what they are in every request. */
export const ERAS = { "2025": "legacy", "2026": { pin: "2026-07-28" } } as const;
export type Era = keyof typeof ERAS;

export interface Connected {
  readonly client: Client;
  /** Names of the tools each time the server said that they changed. */
  readonly changes: string[][];
  close(): Promise<void>;
}

function newClient(era: Era, changes: string[][]): Client {
  const options: ClientOptions = {
    versionNegotiation: { mode: ERAS[era] },
    listChanged: {
      tools: {
        debounceMs: 0,
        onChanged: (_error, tools) => {
          if (tools !== null) changes.push(tools.map(({ name }) => name));
        },
      },
    },
  };
  return new Client({ name: "test", version: "0" }, options);
}

/** As a program that has the socket and nothing of Recinto's. */
export async function connectSocket(
  socketPath: string,
  worktree: string,
  era: Era = "2025",
): Promise<Connected> {
  const socket = await upgraded(socketPath, worktree);
  const changes: string[][] = [];
  const client = newClient(era, changes);
  // Its framing is the same on both sides.
  await client.connect(new StdioServerTransport(socket, socket));
  const close = async () => {
    await client.close();
    socket.destroy();
  };
  return { client, changes, close };
}

/** As an agent that starts `recinto mcp`. */
export async function connectStdio(words: readonly string[], era: Era = "2025") {
  const [command = "", ...args] = words;
  const changes: string[][] = [];
  const client = newClient(era, changes);
  const transport = new StdioClientTransport({ command, args, cwd: "/" });
  await client.connect(transport);
  return { client, changes, transport, close: () => client.close() };
}

export async function upgraded(
  socketPath: string,
  worktree: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Socket> {
  const asked = request({
    socketPath,
    path: `/v1/mcp?worktree=${encodeURIComponent(worktree)}`,
    headers: { host: "recinto", connection: "Upgrade", upgrade: "mcp", ...headers },
  });
  asked.end();
  const answer = new Promise<never>((_, reject) => {
    asked.once("response", (response) => reject(new Error(`answered ${response.statusCode}`)));
    asked.once("error", reject);
  });
  const [, socket] = (await Promise.race([once(asked, "upgrade"), answer])) as [unknown, Socket];
  return socket;
}

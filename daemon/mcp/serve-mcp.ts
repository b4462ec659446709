/** The MCP server on one connection: its tools are the session's authority, over the API like any other client. */
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool as ShownTool,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import type { AgentClient } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import { MCP_MESSAGE_BYTES_MAX } from "../limits.ts";
import { AgentSession } from "./agent-session.ts";
import { execTool } from "./exec-tool.ts";
import { listTool, readTool, writeTool } from "./file-tools.ts";
import { authorityTools, grantTool, namedGrant } from "./grant-tools.ts";
import { InterfaceWatch } from "./interface-watch.ts";
import { Progress } from "./progress.ts";
import { FailureSchema, failed, failedCall } from "./refusal.ts";
import { statusTool } from "./status-tool.ts";
import type { Tool } from "./tool.ts";

export interface McpParts {
  /** Closed at the end. */
  readonly client: AgentClient;
  /** As openSession takes it. */
  readonly worktree: string;
  readonly version: string;
  /** One JSON-RPC message a line. */
  readonly input: Readable;
  readonly output: Writable;
}

const TOOLS: readonly Tool[] = [execTool, readTool, writeTool, listTool, statusTool];
const NO_GRANTS: readonly Tool[] = authorityTools(null);

const INSTRUCTIONS =
  "Work in the project through these tools: commands run in a sandbox that holds this worktree. What only reads or builds in it runs at once; the rest waits for a person (the call stays open, do not repeat it) or is refused with the reason and what to do instead.";

/** Resolves when the connection has ended and everything that was running on it was told to stop. */
export async function serveMcp(parts: McpParts): Promise<void> {
  const { client, worktree, version, input, output } = parts;
  // A connection may have a server to begin with and another one when the client has said what it speaks.
  const servers = new Set<Server>();
  const watch = new InterfaceWatch(client, () => {
    for (const server of servers) server.sendToolListChanged().catch(() => {});
  });
  const session = new AgentSession(client, worktree, (id) => watch.follow(id));
  const transport = new StdioServerTransport(input, output, {
    maxBufferSize: MCP_MESSAGE_BYTES_MAX,
  });
  const handle = serveStdio(
    () => {
      const made = server(session, watch, version);
      servers.add(made);
      made.onclose = () => servers.delete(made);
      return made;
    },
    { transport },
  );
  const { onclose } = transport;
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  // A connection that breaks off has no end that the transport would see.
  await Promise.race([closed, finished(input, { writable: false }).catch(() => {})]);
  await handle.close();
  watch.end();
  client.close();
}

function server(session: AgentSession, watch: InterfaceWatch, version: string): Server {
  const server = new Server(
    { name: "recinto", version },
    { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler("tools/list", async () => ({
    tools: (await toolsNow(session, watch)).map(shown),
  }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    const fixed = [...TOOLS, ...NO_GRANTS].find((tool) => tool.name === name);
    const found = fixed ?? namedGrant(name, args);
    if (found !== undefined) return called(found, args, session, context);
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no tool ${JSON.stringify(name)}: tools/list shows those there are`,
    );
  });
  return server;
}

/** Exactly the authority of now; without the daemon, the tools that will say that it is away. */
async function toolsNow(session: AgentSession, watch: InterfaceWatch): Promise<readonly Tool[]> {
  try {
    const now = await session.use((id) => watch.shown(id));
    return [...TOOLS, ...authorityTools(now), ...now.grants.map(grantTool)];
  } catch (error) {
    if (!(error instanceof RecintoError)) throw error;
    watch.notShown();
    return [...TOOLS, ...NO_GRANTS];
  }
}

function shown({ name, description, input, output, annotations }: Tool): ShownTool {
  return {
    name,
    description,
    inputSchema: schemaOf(input),
    outputSchema: { type: "object", anyOf: [schemaOf(output), FAILURE] },
    annotations,
  };
}

/** Clients check a failed call's data against the schema too. */
const FAILURE = schemaOf(z.strictObject({ error: FailureSchema }));

function schemaOf(schema: z.ZodObject): ShownTool["inputSchema"] {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest as ShownTool["inputSchema"];
}

async function called(
  tool: Tool,
  args: unknown,
  session: AgentSession,
  context: ServerContext,
): Promise<CallToolResult> {
  const read = tool.input.safeParse(args);
  // A tool error and not one of the protocol: a model can read it and mend its call.
  if (!read.success) {
    const faults = read.error.issues.map(
      ({ path, message }) => `${["arguments", ...path.map(String)].join(".")}: ${message}`,
    );
    return failed({ code: "bad-request", reason: faults.join("; ") }, faults);
  }
  const { signal } = context.mcpReq;
  const progress = new Progress(notifier(context));
  try {
    return await tool.run(read.data as never, { session, progress, signal });
  } catch (error) {
    return failedCall(error);
  } finally {
    progress.end();
  }
}

function notifier({ mcpReq }: ServerContext) {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return undefined;
  return (progress: number, message: string) => {
    const params = { progressToken: token, progress, message };
    // A client that is gone ends the call by its signal.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
}

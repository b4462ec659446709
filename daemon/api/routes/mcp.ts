/** The route by which an agent speaks MCP over its project's socket. */
import { z } from "zod";
import { upgradeRoute } from "../route.ts";
import { PathSchema } from "../schema-text.ts";

export const speakMcp = upgradeRoute({
  path: "/v1/mcp",
  sockets: ["agent"],
  summary:
    "The Model Context Protocol in its stdio form, one JSON-RPC message a line: the session's tools, which are its authority.",
  protocol: "mcp",
  query: z.strictObject({
    worktree: PathSchema.meta({ description: "As when a session is opened." }),
  }),
  errors: ["bad-upgrade"],
  serve: ({ serveMcp }, { query, connection, dial }) => serveMcp(connection, dial, query.worktree),
});

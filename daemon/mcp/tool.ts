/** What a tool of the MCP server is, and what one call of it is given and gives. */
import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/server";
import { z } from "zod";
import { GRANT_HANDLE_CHARS_MAX } from "../limits-authority.ts";
import type { AgentSession } from "./agent-session.ts";
import type { Progress } from "./progress.ts";

export interface Tool {
  readonly name: string;
  /** All that an agent knows of it besides its schema: short and exact. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly annotations: ToolAnnotations;
  /** Throws RecintoError. */
  readonly run: (args: never, call: ToolCall) => Promise<CallToolResult>;
}

export interface ToolCall {
  readonly session: AgentSession;
  readonly progress: Progress;
  /** Aborts when the client cancels the call or is gone. */
  readonly signal: AbortSignal;
}

/** The grant that a call rests on; the daemon picks one where that is clear. */
export const GrantParam = z
  .string()
  .min(1)
  .max(GRANT_HANDLE_CHARS_MAX)
  .optional()
  .describe("Handle of the grant that it rests on (h-…); not needed where one alone fits.");

export const WaitParam = z
  .int()
  .min(0)
  .optional()
  .describe("Longest wait for a person, where one is asked; 0: ask nobody.");

/** Ties a tool's function to its schemas. */
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(
  parts: Omit<Tool, "input" | "output" | "run"> & {
    readonly input: Input;
    readonly output: Output;
    readonly run: (
      args: z.output<Input>,
      call: ToolCall,
    ) => Promise<Answer<z.input<Output>> | CallToolResult>;
  },
): Tool {
  return {
    ...parts,
    run: async (args, call) => {
      const given = await parts.run(args, call);
      return "data" in given ? answered(given as Answer<object>) : (given as CallToolResult);
    },
  };
}

export interface Answer<Data extends object> {
  /** For a model to read. */
  readonly text: string;
  /** The same for a program. */
  readonly data: Data;
}

function answered({ text, data }: Answer<object>): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: { ...data } };
}

/** The tool that runs a command: streams become progress while it runs and a bounded text when it is over. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ClientRunEvent, ClientRunRequest, Verdict } from "../api/client.ts";
import { RecintoError } from "../errors.ts";
import {
  COMMAND_CHARS_MAX,
  EXEC_TIMEOUT_MAX_MS,
  MCP_OUTPUT_BYTES_DEFAULT,
  MCP_OUTPUT_BYTES_MAX,
  MCP_STDIN_CHARS_MAX,
} from "../limits.ts";
import { BoundedOutput } from "./bounded-output.ts";
import { refusedCommand } from "./refusal.ts";
import { type Answer, GrantParam, type ToolCall, tool, WaitParam } from "./tool.ts";

export const ExecInput = z.strictObject({
  command: z.string().min(1).max(COMMAND_CHARS_MAX).describe("One bash command line."),
  cwd: z.string().min(1).optional().describe("Folder; the worktree when absent."),
  stdin: z.string().max(MCP_STDIN_CHARS_MAX).optional().describe("Standard input."),
  timeoutSeconds: z
    .int()
    .min(1)
    .max(EXEC_TIMEOUT_MAX_MS / 1000)
    .optional(),
  waitSeconds: WaitParam,
  outputBytes: z
    .int()
    .min(256)
    .max(MCP_OUTPUT_BYTES_MAX)
    .optional()
    .describe(`Bytes of output returned; ${MCP_OUTPUT_BYTES_DEFAULT} when absent.`),
  grant: GrantParam,
});

export const ExecOutput = z.strictObject({
  exitCode: z.int().nullable().describe("null: ended by a signal."),
  stdout: z.string(),
  stderr: z.string(),
  leftOutBytes: z.int().describe("Of both streams, in their middle."),
  timedOut: z.boolean(),
  outOfMemory: z.boolean(),
  durationMs: z.number(),
  notes: z.array(z.string()).describe("What the sandbox changed or withheld."),
});

export const execTool = tool({
  name: "exec",
  description:
    "Run a bash command line in this worktree's sandbox. It is judged first: it runs, waits for a person's answer, or is refused with the reason and what to do instead. No network unless a grant gives it. Returns exit code and output; a middle that is too long is left out.",
  input: ExecInput,
  output: ExecOutput,
  annotations: { title: "Run a command", readOnlyHint: false, openWorldHint: false },
  run: (args, call) => execute(args, call),
});

export async function execute(
  args: z.output<typeof ExecInput>,
  { session, progress, signal }: ToolCall,
): Promise<Answer<z.input<typeof ExecOutput>> | CallToolResult> {
  const { command, cwd, stdin, timeoutSeconds, waitSeconds, grant } = args;
  const outputBytes = args.outputBytes ?? MCP_OUTPUT_BYTES_DEFAULT;
  const request: ClientRunRequest = {
    command,
    ...(cwd === undefined ? {} : { cwd }),
    ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }),
    ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
    ...(waitSeconds === undefined ? {} : { waitMs: waitSeconds * 1000 }),
    ...(grant === undefined ? {} : { handle: grant }),
  };
  return await session.use(async (id) => {
    const streams = {
      stdout: new BoundedOutput(Math.ceil(outputBytes / 2)),
      stderr: new BoundedOutput(Math.floor(outputBytes / 2)),
    };
    const notes: string[] = [];
    let verdict: Verdict | undefined;
    for await (const event of session.client.run(id, request, signal)) {
      switch (event.type) {
        case "stdout":
        case "stderr":
          streams[event.type].push(event.data);
          progress.output(lastLine(event.data));
          break;
        case "decision":
          verdict = event.verdict;
          break;
        case "pending":
          progress.waiting(event.approval);
          break;
        case "approved":
          progress.state(`${event.approval} was approved`);
          break;
        case "started":
          progress.state("running");
          break;
        case "note":
          notes.push(event.reason);
          break;
        case "truncated":
          notes.push(`${event.stream} is over the sandbox's limit: ${event.bytes} bytes are lost`);
          break;
        case "refused":
          return refusedCommand(event, verdict);
        case "exit":
          return ended(event, streams, notes, args.outputBytes);
      }
    }
    throw new RecintoError("daemon-unreachable", "the stream ended before the command did");
  });
}

function ended(
  event: ClientRunEvent & { type: "exit" },
  streams: Readonly<Record<"stdout" | "stderr", BoundedOutput>>,
  notes: string[],
  asked: number | undefined,
): Answer<z.input<typeof ExecOutput>> {
  const leftOutBytes = streams.stdout.leftOut + streams.stderr.leftOut;
  if (leftOutBytes > 0) {
    const more = asked === undefined ? `give outputBytes (up to ${MCP_OUTPUT_BYTES_MAX}), or ` : "";
    notes.push(
      `${leftOutBytes} bytes are left out: ${more}send the output to a file (> /tmp/out) and read it in parts: sed -n '1,200p' /tmp/out`,
    );
  }
  const data = {
    exitCode: event.exitCode,
    stdout: streams.stdout.text(),
    stderr: streams.stderr.text(),
    leftOutBytes,
    timedOut: event.timedOut,
    outOfMemory: event.oomKilled,
    durationMs: event.durationMs,
    notes,
  };
  return { text: textOf(data), data };
}

function textOf(data: z.input<typeof ExecOutput>): string {
  const how = data.timedOut
    ? "over its time, stopped"
    : data.outOfMemory
      ? "out of memory, killed"
      : data.exitCode === null
        ? "ended by a signal"
        : `exit code ${data.exitCode}`;
  return [
    ...(data.stdout === "" ? [] : [data.stdout.replace(/\n$/, "")]),
    ...(data.stderr === "" ? [] : ["[stderr]", data.stderr.replace(/\n$/, "")]),
    `[${how}, ${(data.durationMs / 1000).toFixed(1)} s]`,
    ...data.notes.map((note) => `[note: ${note}]`),
  ].join("\n");
}

/** The last whole line of a piece of output, or what there is of one. */
function lastLine(data: Buffer): string {
  const end = data.toString("utf8", Math.max(0, data.length - 1_024)).trimEnd();
  return end.slice(end.lastIndexOf("\n") + 1);
}

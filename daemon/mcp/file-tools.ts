/** The tools that read, write and list files of the worktree, judged like commands that do the same. */
import { isUtf8 } from "node:buffer";
import { z } from "zod";
import {
  FILE_LIST_MAX,
  MCP_LIST_DEFAULT,
  MCP_OUTPUT_BYTES_MAX,
  MCP_READ_BYTES_DEFAULT,
  MCP_STDIN_CHARS_MAX,
} from "../limits.ts";
import { type Answer, GrantParam, type ToolCall, tool, WaitParam } from "./tool.ts";

const path = z.string().min(1).describe("Absolute, or relative to the worktree.");

function given(
  { grant: handle, waitSeconds }: { grant?: string | undefined; waitSeconds?: number | undefined },
  { progress, signal }: ToolCall,
) {
  return {
    signal,
    onPending: (approval: string) => progress.waiting(approval),
    ...(waitSeconds === undefined ? {} : { waitMs: waitSeconds * 1000 }),
    ...(handle === undefined ? {} : { handle }),
  };
}

export const ReadInput = z.strictObject({
  path,
  offset: z.int().min(0).optional().describe("First byte; 0 when absent."),
  length: z
    .int()
    .min(1)
    .max(MCP_OUTPUT_BYTES_MAX)
    .optional()
    .describe(`Most bytes; ${MCP_READ_BYTES_DEFAULT} when absent.`),
  waitSeconds: WaitParam,
  grant: GrantParam,
});

export const ReadOutput = z.strictObject({
  path: z.string(),
  size: z.int().describe("Of the whole file, bytes."),
  offset: z.int(),
  length: z.int(),
  text: z.string().optional(),
  base64: z.string().optional().describe("In place of text where it is not UTF-8."),
  next: z.int().nullable().describe("`offset` of the rest; null: that was all."),
});

export const readTool = tool({
  name: "read_file",
  description:
    "Read a file. Returns its text (base64 where it is not UTF-8) and, for a long file, where the rest begins.",
  input: ReadInput,
  output: ReadOutput,
  annotations: { title: "Read a file", readOnlyHint: true, openWorldHint: false },
  run: (args, call) => read(args, call),
});

export function read(
  args: z.output<typeof ReadInput>,
  call: ToolCall,
): Promise<Answer<z.input<typeof ReadOutput>>> {
  const { path, offset = 0, length = MCP_READ_BYTES_DEFAULT } = args;
  const { session } = call;
  return session.use(async (id) => {
    const file = await session.client.files(id).read(path, { offset, length }, given(args, call));
    const pieces: Buffer[] = [];
    for await (const piece of file.bytes) pieces.push(piece);
    const all = Buffer.concat(pieces);
    const text = offset + all.length < file.size ? wholeCharacters(all) : all;
    const bytes = isUtf8(text) && text.length > 0 ? text : all;
    const as = isUtf8(bytes) ? "text" : "base64";
    const content = bytes.toString(as === "text" ? "utf8" : "base64");
    const end = offset + bytes.length;
    const data = {
      path,
      size: file.size,
      offset,
      length: bytes.length,
      [as]: content,
      next: end < file.size ? end : null,
    };
    const rest =
      data.next === null
        ? []
        : [`[${file.size - end} of ${file.size} bytes follow: offset ${end}]`];
    return { text: [content, ...rest].join("\n"), data };
  });
}

/** Without a last character of UTF-8 that is not all there. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < needs ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}

export const WriteInput = z.strictObject({
  path,
  content: z.string().max(MCP_STDIN_CHARS_MAX),
  base64: z.boolean().optional().describe("`content` is base64."),
  append: z.boolean().optional().describe("Add to its end instead of replacing it."),
  parents: z.boolean().optional().describe("Make the folders that are missing above it."),
  executable: z.boolean().optional(),
  ifHash: z
    .string()
    .regex(/^(?:absent|[0-9a-f]{64})$/)
    .optional()
    .describe("SHA-256 that it must have now, or `absent`: else nothing is written."),
  waitSeconds: WaitParam,
  grant: GrantParam,
});

export const WriteOutput = z.strictObject({
  path: z.string(),
  bytes: z.int(),
  size: z.int(),
  sha256: z.string(),
});

export const writeTool = tool({
  name: "write_file",
  description:
    "Write a whole file of the worktree, or add to its end. Judged first, like exec; instruction files (AGENTS.md and such) always wait for a person.",
  input: WriteInput,
  output: WriteOutput,
  annotations: {
    title: "Write a file",
    readOnlyHint: false,
    destructiveHint: true,
    openWorldHint: false,
  },
  run: (args, call) => write(args, call),
});

export function write(
  args: z.output<typeof WriteInput>,
  call: ToolCall,
): Promise<Answer<z.input<typeof WriteOutput>>> {
  const { path, content, base64, append, parents, executable, ifHash } = args;
  const how = {
    ...(append ? { append } : {}),
    ...(parents ? { parents } : {}),
    ...(executable ? { executable } : {}),
    ...(ifHash === undefined ? {} : { ifHash }),
  };
  const { session } = call;
  return session.use(async (id) => {
    const data = await session.client
      .files(id)
      .write(path, Buffer.from(content, base64 ? "base64" : "utf8"), how, given(args, call));
    return { text: `${data.path}: ${data.bytes} bytes written, sha256 ${data.sha256}`, data };
  });
}

const ListInput = z.strictObject({
  path: path.optional().describe("Folder; the worktree when absent."),
  after: z.string().min(1).optional().describe("Last name of the page before."),
  limit: z.int().min(1).max(FILE_LIST_MAX).optional(),
  waitSeconds: WaitParam,
  grant: GrantParam,
});

const ListOutput = z.strictObject({
  entries: z.array(
    z.strictObject({
      name: z.string(),
      kind: z.string(),
      size: z.int(),
      target: z.string().optional().describe("Of a link; not followed."),
    }),
  ),
  total: z.int(),
  next: z.string().nullable().describe("`after` of the next page; null: that was all."),
});

export const listTool = tool({
  name: "list",
  description: "List a folder, sorted by name. Links are shown, not followed.",
  input: ListInput,
  output: ListOutput,
  annotations: { title: "List a folder", readOnlyHint: true, openWorldHint: false },
  run: ({ path = ".", after, limit = MCP_LIST_DEFAULT, ...authority }, call) =>
    call.session.use(async (id) => {
      const page = { limit, ...(after === undefined ? {} : { after }) };
      const { entries, total, next } = await call.session.client
        .files(id)
        .list(path, page, given(authority, call));
      const shown = entries.map(({ name, kind, size, target }) => ({
        name,
        kind,
        size,
        ...(target === undefined ? {} : { target }),
      }));
      const lines = shown.map(({ name, kind, size, target }) =>
        target === undefined ? `${kind} ${size} ${name}` : `${kind} ${size} ${name} -> ${target}`,
      );
      if (next !== null) lines.push(`[${entries.length} of ${total}: more with after ${next}]`);
      return { text: lines.join("\n"), data: { entries: shown, total, next } };
    }),
});

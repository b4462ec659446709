/** The tools by which an agent requests and gives back authority, and the one that each live grant is. */
import { z } from "zod";
import type { Interface } from "../api/client-authority.ts";
import { MCP_RULES_TOLD_MAX } from "../limits.ts";
import {
  GRANT_HANDLE_CHARS_MAX,
  GRANT_REASON_CHARS_MAX,
  GRANT_TTL_MAX_MS,
  GRANT_USES_MAX,
} from "../limits-authority.ts";
import { ExecInput, ExecOutput, execute } from "./exec-tool.ts";
import { ReadInput, ReadOutput, read, WriteInput, WriteOutput, write } from "./file-tools.ts";
import { granted, resourceText, ruleText, toolName } from "./grant-text.ts";
import { type Tool, tool, WaitParam } from "./tool.ts";

type Grant = Interface["grants"][number];

const RequestInput = z.strictObject({
  rule: z.string().min(1).max(64).describe("One of the rules that this description lists."),
  reason: z.string().min(1).max(GRANT_REASON_CHARS_MAX).describe("What you need it for."),
  narrow: z
    .strictObject({
      paths: z.array(z.string()).optional(),
      hosts: z.array(z.string()).optional(),
      commands: z.array(z.array(z.string())).optional(),
      ttlSeconds: z
        .int()
        .min(1)
        .max(GRANT_TTL_MAX_MS / 1000)
        .optional(),
      uses: z.int().min(1).max(GRANT_USES_MAX).optional(),
    })
    .optional()
    .describe("Ask for less than the rule gives."),
  waitSeconds: WaitParam,
});

const RequestOutput = z.strictObject({
  outcome: z.enum(["granted", "pending"]),
  grant: z.string().describe("Its handle."),
  tool: z.string().describe("The tool that it is, as long as it lives."),
  approval: z.string().nullable().describe("The question that a person is asked."),
  epoch: z.int(),
});

const requestTool = tool({
  name: "request_grant",
  description:
    "Request authority beyond what you have, by one of the rules below. Nothing runs; a person may have to agree. A grant that lives is a tool of its own and ends by itself.",
  input: RequestInput,
  output: RequestOutput,
  annotations: { title: "Request authority", readOnlyHint: false, openWorldHint: false },
  run: ({ rule, reason, narrow, waitSeconds }, { session, progress, signal }) =>
    session.use(async (id) => {
      const { ttlSeconds, paths, hosts, commands, uses } = narrow ?? {};
      const request = {
        rule,
        reason,
        ...(narrow === undefined
          ? {}
          : {
              narrow: {
                ...(paths === undefined ? {} : { paths }),
                ...(hosts === undefined ? {} : { hosts }),
                ...(commands === undefined ? {} : { commands }),
                ...(ttlSeconds === undefined ? {} : { ttlMs: ttlSeconds * 1000 }),
                ...(uses === undefined ? {} : { uses }),
              },
            }),
        ...(waitSeconds === undefined ? {} : { waitMs: waitSeconds * 1000 }),
      };
      const onPending = (approval: string) => progress.waiting(approval);
      const given = await session.client.requestGrant(id, request, { onPending, signal });
      const { outcome, handle, approval, epoch, grant } = given;
      const name = toolName(rule, handle);
      const text =
        grant === null
          ? `${handle} waits for a person (${approval}); the tool ${name} is there once they agree`
          : `granted: ${granted(grant)} The tool is ${name}.`;
      return { text, data: { outcome, grant: handle, tool: name, approval, epoch } };
    }),
});

const ReleaseOutput = z.strictObject({
  grant: z.string(),
  state: z.string(),
  cause: z.string().nullable(),
  renewal: z.string(),
});

const releaseTool = tool({
  name: "release_grant",
  description:
    "Give a grant back when you are done with it, or withdraw its request. What runs on it is stopped.",
  input: z.strictObject({
    grant: z.string().min(1).max(GRANT_HANDLE_CHARS_MAX).describe("Its handle: h-…"),
  }),
  output: ReleaseOutput,
  annotations: { title: "Give authority back", readOnlyHint: false, openWorldHint: false },
  run: ({ grant }, { session }) =>
    session.use(async (id) => {
      const { handle, state, cause, renewal } = await session.client.releaseGrant(id, grant);
      const text = `${handle} is ${state}. ${renewal}`;
      return { text, data: { grant: handle, state, cause, renewal } };
    }),
});

/** Both, saying what can be requested now. */
export function authorityTools(now: Interface | null): readonly Tool[] {
  const rules = now?.requestable ?? [];
  const told = rules.slice(0, MCP_RULES_TOLD_MAX).map((rule) => `- ${ruleText(rule)}`);
  const left = rules.length - told.length;
  const list =
    rules.length === 0
      ? "There is no rule to request now."
      : ["Rules:", ...told, ...(left > 0 ? [`- and ${left} more: see status`] : [])].join("\n");
  return [{ ...requestTool, description: `${requestTool.description}\n${list}` }, releaseTool];
}

/** What a live grant is to an agent. */
export function grantTool(grant: Grant): Tool {
  const { handle, rule, effect } = grant;
  const common = {
    name: toolName(rule, handle),
    annotations: {
      title: `${effect}: ${resourceText(grant)}`,
      openWorldHint: effect === "network",
    },
    run: heldBy(handle),
  };
  const also = `Commands may rest on it too: exec with grant ${handle}.`;
  switch (effect) {
    case "read":
      return {
        ...common,
        description: `Read a file under this grant. ${granted(grant)} ${also}`,
        input: ReadInput.omit({ grant: true }),
        output: ReadOutput,
      };
    case "write":
      return {
        ...common,
        description: `Write a file under this grant. ${granted(grant)} ${also}`,
        input: WriteInput.omit({ grant: true }),
        output: WriteOutput,
      };
    default:
      return {
        ...common,
        description: `Run a command under this grant. ${granted(grant)}`,
        input: ExecInput.omit({ grant: true }),
        output: ExecOutput,
      };
  }
}

/**
 * The tool behind a name that a grant has or had: its handle is in the name, so that a call of one that has vanished
 * reaches the API and is refused there, in its words.
 */
export function namedGrant(name: string, args: object): Tool | undefined {
  const [, handle] = /^use_[a-z0-9-]+_(h-[a-z0-9]{1,64})$/.exec(name) ?? [];
  if (handle === undefined) return undefined;
  const shape = "command" in args ? EXEC : "content" in args ? WRITE : READ;
  return { ...shape, name, description: "", annotations: {}, run: heldBy(handle) };
}

const EXEC = { input: ExecInput.omit({ grant: true }), output: ExecOutput };
const WRITE = { input: WriteInput.omit({ grant: true }), output: WriteOutput };
const READ = { input: ReadInput.omit({ grant: true }), output: ReadOutput };

/** Does what the arguments say, on this grant and no other. */
function heldBy(grant: string): Tool["run"] {
  const { run } = tool({
    name: "",
    description: "",
    input: z.looseObject({}),
    output: z.looseObject({}),
    annotations: {},
    run: (args, call) => {
      if ("command" in args)
        return execute({ ...(args as z.output<typeof ExecInput>), grant }, call);
      if ("content" in args)
        return write({ ...(args as z.output<typeof WriteInput>), grant }, call);
      return read({ ...(args as z.output<typeof ReadInput>), grant }, call);
    },
  });
  return run;
}

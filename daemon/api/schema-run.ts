/** Running a command as it travels: the request, the stream of events, the verdict alone. */
import { z } from "zod";
import {
  COMMAND_CHARS_MAX,
  EXEC_ENV_COUNT_MAX,
  EXEC_ENV_VALUE_CHARS_MAX,
  EXEC_TIMEOUT_MAX_MS,
  TERMINAL_SIDE_MAX,
} from "../limits.ts";
import type * as supervisor from "../supervisor/types.ts";
import type { SameType } from "./same-type.ts";
import { presented } from "./schema-grants.ts";
import { EffectSchema, SavedRuleSchema, VerdictSchema } from "./schema-policy.ts";
import { PathSchema, TimeSchema, text } from "./schema-text.ts";

const EnvSchema = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/), text(EXEC_ENV_VALUE_CHARS_MAX))
  .refine((env) => Object.keys(env).length <= EXEC_ENV_COUNT_MAX, {
    error: `more than ${EXEC_ENV_COUNT_MAX} variables`,
  });

/** Bytes in JSON: as text where they are valid UTF-8, else base64. Exactly one of the two. */
const asText = { text: z.string() };
const asBase64 = { base64: z.base64() };

export const StdinSchema = z
  .union([z.strictObject(asText), z.strictObject(asBase64)])
  .meta({ id: "Bytes", description: "Bytes: as text where they are valid UTF-8, else base64." });

const side = z.int().min(1).max(TERMINAL_SIDE_MAX);

export const TerminalSizeSchema = z
  .strictObject({ rows: side, columns: side })
  .meta({ id: "TerminalSize" });

export const RunRequestSchema = z
  .strictObject({
    command: text(COMMAND_CHARS_MAX)
      .min(1)
      .meta({ description: "One bash command line, judged and run exactly as it stands." }),
    cwd: PathSchema.exactOptional().meta({
      description: "Absolute, or relative to the worktree; the worktree when absent.",
    }),
    env: EnvSchema.exactOptional(),
    stdin: z
      .union([StdinSchema, z.enum(["stream", "open"])])
      .exactOptional()
      .meta({
        description:
          "Absent: end of file at once. `stream`: the request body goes on with one Bytes object a line (NDJSON) until its end. `open`: it stays open for `stdin` and `attach` of its job.",
      }),
    tty: TerminalSizeSchema.exactOptional().meta({
      description:
        "It runs on a terminal of this size: all output is stdout, and input is open. Not under executor plain.",
    }),
    timeoutMs: z.int().min(1).max(EXEC_TIMEOUT_MAX_MS).exactOptional(),
    idleTimeoutMs: z.int().min(1).max(EXEC_TIMEOUT_MAX_MS).exactOptional().meta({
      description: "Without output and input for this long it is ended (`idleTimedOut`).",
    }),
    outputBytesMax: z.int().min(0).exactOptional(),
    detach: z.boolean().exactOptional().meta({
      description:
        "`started` is the last event; its `exec` is the id of the job, which goes on by itself.",
    }),
    shell: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,31}$/)
      .exactOptional()
      .meta({
        description:
          "A name: folder and exported variables go from one command to the next in it. Not under executor plain.",
      }),
    waitMs: z.int().min(0).exactOptional().meta({
      description: "How long to wait for a person; 0: do not wait. The profile's when absent.",
    }),
    ...presented,
  })
  .meta({ id: "RunRequest" });

export const CheckRequestSchema = z
  .strictObject({
    command: text(COMMAND_CHARS_MAX).min(1),
    cwd: PathSchema.exactOptional(),
    ...presented,
  })
  .meta({ id: "CheckRequest" });

export const AuthoritySchema = z
  .strictObject({
    id: z.string(),
    session: z.string(),
    effects: z.array(EffectSchema),
    resource: z.union([
      z.strictObject({ kind: z.literal("command"), command: z.string(), cwd: z.string() }),
      z.strictObject({ kind: z.literal("rule"), rule: SavedRuleSchema }),
      z.strictObject({
        kind: z.literal("host"),
        host: z.string(),
        until: z.enum(["command", "session"]),
      }),
      z.strictObject({ kind: z.literal("grants"), handles: z.array(z.string()) }),
    ]),
    hosts: z
      .array(z.string())
      .exactOptional()
      .meta({ description: "Hosts that the command names and so may reach." }),
    expires: TimeSchema.nullable(),
  })
  .meta({ id: "Authority", description: "A right with an end, given by an approval." });

const DecisionEvent = z.strictObject({
  type: z.literal("decision"),
  action: z.string(),
  verdict: VerdictSchema,
});
const PendingEvent = z.strictObject({
  type: z.literal("pending"),
  approval: z.string(),
  waitedMs: z.number(),
  timeoutMs: z.number(),
});
const ApprovedEvent = z.strictObject({
  type: z.literal("approved"),
  approval: z.string(),
  authority: AuthoritySchema,
});
export const NoteEventSchema = z.strictObject({
  type: z.literal("note"),
  code: z.enum([
    "queued",
    "not_mounted",
    "disk_limit",
    "confined",
    "git_imported",
    "git_left",
    "git_apart",
    "protected_restored",
    "policy_not_trusted",
    "no_way_out",
    "grant_closed",
  ]),
  paths: z.array(z.string()),
  reason: z.string(),
});
const StartedEvent = z.strictObject({
  type: z.literal("started"),
  exec: z.string(),
  confinement: z.string(),
  at: TimeSchema,
});
const TruncatedEvent = z.strictObject({
  type: z.literal("truncated"),
  stream: z.enum(["stdout", "stderr"]),
  bytes: z.int(),
});
export const ExitEventSchema = z.strictObject({
  type: z.literal("exit"),
  exec: z.string(),
  exitCode: z.int().nullable(),
  timedOut: z.boolean(),
  cancelled: z.boolean(),
  oomKilled: z.boolean(),
  diskLimit: z.literal(true).exactOptional(),
  idleTimedOut: z.literal(true).exactOptional(),
  cwd: z.string().exactOptional().meta({
    description: "The shell's folder when it ended, where that is known. Nothing rests on it.",
  }),
  left: z.int().exactOptional().meta({
    description: "Processes left running in the background: it is a job of the session meanwhile.",
  }),
  durationMs: z.number(),
  stdoutBytes: z.int(),
  stderrBytes: z.int(),
});
const RefusedEvent = z.strictObject({
  type: z.literal("refused"),
  by: z.enum(["policy", "person", "timeout", "facts-changed", "not-waiting"]),
  action: z.string(),
  reason: z.string(),
  instead: z.string().exactOptional(),
  approval: z.string().exactOptional(),
});
const OutputType = z.enum(["stdout", "stderr"]);
export const OutputTextSchema = z.strictObject({ type: OutputType, ...asText });
export const OutputBase64Schema = z.strictObject({ type: OutputType, ...asBase64 });

export const ErrorSchema = z
  .strictObject({
    code: z.string().meta({ description: "Stable; see daemon/errors.ts." }),
    message: z.string(),
    hint: z.string().meta({ description: "The next step." }),
    requestId: z.string(),
    details: z.record(z.string(), z.unknown()).exactOptional(),
  })
  .meta({ id: "Error" });

/** Last line of a stream that an error ended after it had begun. */
export const ErrorEventSchema = z.strictObject({ type: z.literal("error"), error: ErrorSchema });

export const RunEventSchema = z
  .union([
    DecisionEvent,
    PendingEvent,
    ApprovedEvent,
    NoteEventSchema,
    StartedEvent,
    OutputTextSchema,
    OutputBase64Schema,
    TruncatedEvent,
    ExitEventSchema,
    RefusedEvent,
    ErrorEventSchema,
  ])
  .meta({
    id: "RunEvent",
    description:
      "`decision` is first; one of `exit`, `refused` and `error` is last, or `started` with `detach`. Output is text where it is valid UTF-8, else base64; a character is never split between two events.",
  });

export type RunRequest = z.infer<typeof RunRequestSchema>;
export type Bytes = z.infer<typeof StdinSchema>;
export type WireRunEvent = z.infer<typeof RunEventSchema>;
export type ErrorBody = z.infer<typeof ErrorSchema>;

type Carried = Exclude<supervisor.RunEvent, { type: "stdout" | "stderr" }>;
type CarriedWire = Exclude<WireRunEvent, { type: "stdout" | "stderr" | "error" }>;
/** Every event of the supervisor but output travels as it is; a difference does not compile. */
export const MIRRORS_RUN: SameType<CarriedWire, Carried> = true;

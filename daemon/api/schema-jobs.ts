/** Jobs of a session as they travel: what they are, their output by offsets, and what is sent to them. */
import { z } from "zod";
import type * as jobs from "../supervisor/jobs/job-calls.ts";
import type { SameType } from "./same-type.ts";
import {
  ErrorEventSchema,
  ExitEventSchema,
  NoteEventSchema,
  OutputBase64Schema,
  OutputTextSchema,
  StdinSchema,
  TerminalSizeSchema,
} from "./schema-run.ts";
import { CountTextSchema, TimeSchema } from "./schema-text.ts";

const StateSchema = z.enum(["running", "background", "ended"]).meta({
  description: "`background`: the command itself ended, what it left running did not.",
});
const offset = z.int().min(0).meta({ description: "Bytes of both streams before it." });

export const JobSchema = z
  .strictObject({
    id: z.string().meta({ description: "The `exec` of its events." }),
    session: z.string(),
    action: z.string(),
    command: z.string(),
    cwd: z.string(),
    state: StateSchema,
    detached: z.boolean().meta({ description: "Nobody's request waits for it." }),
    tty: TerminalSizeSchema.nullable(),
    stdin: z.boolean().meta({ description: "Whether it can be written to." }),
    confinement: z.string(),
    startedAt: TimeSchema,
    exit: ExitEventSchema.exactOptional().meta({ description: "How the command itself ended." }),
    lost: z.string().exactOptional().meta({ description: "Why nobody knows how it ended." }),
    endedAt: TimeSchema.exactOptional(),
    output: z.strictObject({ from: offset, to: offset }).meta({
      description: "Offsets of the output that is kept: the oldest byte, and after the newest.",
    }),
    readers: z.int(),
    notes: z.array(NoteEventSchema).exactOptional(),
  })
  .meta({ id: "Job", description: "One command of a session, while it runs and a while after." });

const AtEvent = z.strictObject({ type: z.literal("at"), offset, lost: z.int().min(0) });
const EndEvent = z.strictObject({ type: z.literal("end"), next: offset, state: StateSchema });

export const JobEventSchema = z
  .union([
    AtEvent,
    OutputTextSchema,
    OutputBase64Schema,
    ExitEventSchema,
    EndEvent,
    ErrorEventSchema,
  ])
  .meta({
    id: "JobEvent",
    description:
      "`at` is first: the offset where output begins, and how many bytes before it are lost; another `at` stands wherever bytes are missing because the reader was slow. `exit` stands where the command itself ended. `end` is last: go on from `next`.",
  });

const FlagSchema = z.enum(["true", "false"]).transform((value) => value === "true");

export const OutputQuerySchema = z.strictObject({
  since: CountTextSchema.exactOptional().meta({
    description: "Offset of the first byte wanted; the oldest that is kept when absent.",
  }),
  follow: FlagSchema.exactOptional().meta({
    description: "Go on until nothing of the job is left.",
  }),
});

export const AttachQuerySchema = z.strictObject({
  since: CountTextSchema.exactOptional().meta({
    description: "Offset of the first byte wanted; only what is new when absent.",
  }),
});

export const SignalSchema = z.enum([
  "HUP",
  "INT",
  "QUIT",
  "KILL",
  "USR1",
  "USR2",
  "TERM",
  "CONT",
  "STOP",
  "TSTP",
]);

export const SignalRequestSchema = z
  .strictObject({
    signal: SignalSchema,
    tree: z.boolean().exactOptional().meta({
      description: "To everything it started; else to its process group.",
    }),
  })
  .meta({ id: "SignalRequest" });

export const WriteRequestSchema = z
  .strictObject({
    data: StdinSchema.exactOptional(),
    end: z.boolean().exactOptional().meta({ description: "End of file after it." }),
  })
  .meta({ id: "WriteRequest" });

/** What a client says on an upgraded connection besides input. */
export const ControlSchema = z
  .union([
    z.strictObject({
      type: z.literal("resize"),
      rows: TerminalSizeSchema.shape.rows,
      columns: TerminalSizeSchema.shape.columns,
    }),
    z.strictObject({ type: z.literal("signal"), ...SignalRequestSchema.shape }),
    z.strictObject({ type: z.literal("end") }),
  ])
  .meta({
    id: "Control",
    description:
      "A `j` frame to the daemon; input goes in `i` frames, and `end` is its end (docs/api-streams.md).",
  });

export type Job = z.infer<typeof JobSchema>;
export type WireJobEvent = z.infer<typeof JobEventSchema>;
export type Signal = z.infer<typeof SignalSchema>;
export type Control = z.infer<typeof ControlSchema>;

type Carried = Exclude<jobs.JobEvent, { type: "stdout" | "stderr" }>;
type CarriedWire = Exclude<WireJobEvent, { type: "stdout" | "stderr" | "error" }>;
/** The shapes that must stay equal to the supervisor's own; a difference does not compile. */
export const MIRRORS_JOBS: [
  SameType<Job, jobs.JobInfo>,
  SameType<CarriedWire, Carried>,
  SameType<Signal, jobs.RunnerSignal>,
] = [true, true, true];

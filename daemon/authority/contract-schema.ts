/** What may stand in a contract file: each field with its meaning, its form and its bounds. */
import { z } from "zod";
import {
  CONTRACT_LIST_MAX,
  CONTRACT_RULES_MAX,
  GRANT_REASON_CHARS_MAX,
  GRANT_TTL_MAX_MS,
  GRANT_TTL_MIN_MS,
  GRANT_USES_MAX,
} from "../limits-authority.ts";
import { parseHostPattern } from "../policy/host-patterns.ts";
import { CONTRACT_DURATION, durationText, parseTtl } from "./durations.ts";
import { parsePathPattern } from "./resources.ts";
import { GRANTABLE_EFFECTS } from "./types.ts";

/** Text that a function reads or refuses with a reason; the error repeats the value. */
function read<T>(what: string, parse: (text: string) => { value: T } | { refused: string }) {
  return z
    .string({ error: `must be ${what}` })
    .min(1, { error: `must be ${what}`, abort: true })
    .max(4_096, { abort: true })
    .transform((text, context) => {
      const result = parse(text);
      if ("value" in result) return result.value;
      const message = `${JSON.stringify(text)} ${result.refused}`;
      context.issues.push({ code: "custom", input: text, message });
      return z.NEVER;
    });
}

const NAME_FORM = "must be lower-case words joined by -, such as focused-tests";
const name = z
  .string({ error: NAME_FORM })
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: NAME_FORM });

const path = read("a path from the worktree down, such as src/**", (text) => {
  const parsed = parsePathPattern(text);
  return parsed.refused === undefined ? { value: parsed.path } : { refused: parsed.refused };
});

const host = read("a host such as example.org or *.example.org", (text) => {
  const parsed = parseHostPattern(text);
  return parsed.refused === undefined
    ? { value: parsed.pattern }
    : { refused: `is refused: ${parsed.refused}` };
});

const ttl = z
  .string({ error: "must be a duration such as 90s, 10m or 2h" })
  .regex(CONTRACT_DURATION, { error: "must be a duration such as 90s, 10m or 2h", abort: true })
  .transform((text, context) => {
    const value = parseTtl(text);
    if (value !== null) return value;
    const range = `${durationText(GRANT_TTL_MIN_MS)} to ${durationText(GRANT_TTL_MAX_MS)}`;
    const message = `${JSON.stringify(text)} is outside ${range}`;
    context.issues.push({ code: "custom", input: text, message });
    return z.NEVER;
  });

const word = z
  .string({ error: "must be one word; numbers go in quotes" })
  .max(4_096)
  .refine((text) => !text.includes("\0"), { error: "must not hold a NUL" });

const command = z
  .array(word, { error: "must be a list of words such as [npm, test]" })
  .min(1, { error: "must name a program" })
  .max(CONTRACT_LIST_MAX)
  .refine(([program]) => program !== "", { error: "must name a program first" });

const paths = z.array(path).min(1).max(CONTRACT_LIST_MAX);
const hosts = z.array(host).min(1).max(CONTRACT_LIST_MAX);
const commands = z.array(command).min(1).max(CONTRACT_LIST_MAX);

const envelopeEntry = z.strictObject({
  effect: z
    .enum(["read", "write", "run", "git-write"], {
      error:
        "must be read, write, run or git-write: network and install always take a grant with an end",
    })
    .describe("What is done."),
  paths: paths
    .optional()
    .describe(
      "On what, from the worktree down. For writing `dir/**`, `**` and single files; default: the worktree.",
    ),
  commands: commands.optional().describe("Only by commands that begin so; default: any."),
});

const grantRule = z.strictObject({
  effect: z.enum(GRANTABLE_EFFECTS).describe("What is done. `install` may reach its `hosts` too."),
  paths: paths.optional().describe("On what: required for `read` and `write`."),
  hosts: hosts
    .optional()
    .describe(
      "`example.org`, `*.example.org` (one label more), `**.example.org` (any number), each with `:PORT` unless it is 80 or 443: required for `network`.",
    ),
  commands: commands
    .optional()
    .describe("Only by commands that begin so: required for `run`, `git-write` and `install`."),
  phase: z
    .union([name, z.array(name).min(1).max(CONTRACT_LIST_MAX)], {
      error: "must be the name of a phase, or a list of names",
    })
    .optional()
    .describe("Phase, or list of phases, it can be asked for in; leaving them closes it."),
  closes: z
    .array(name)
    .max(CONTRACT_LIST_MAX)
    .default([])
    .describe("Closures that end it, by name; whichever fires first."),
  ttl: ttl.optional().describe("Longest life; 30m when not said."),
  uses: z
    .int()
    .min(1)
    .max(GRANT_USES_MAX)
    .optional()
    .describe("How many commands or connections may use it; default: not counted."),
  approval: z
    .enum(["none", "person"])
    .default("none")
    .describe("Whether a person is asked each time."),
  description: z
    .string()
    .trim()
    .min(1)
    .max(GRANT_REASON_CHARS_MAX)
    .optional()
    .describe("What it is for; shown with every request."),
});

const fileTest = z.strictObject({
  path: path.describe("A single file or folder, from the worktree down."),
  exists: z.boolean().optional().describe("Fires when it exists (default), or when it does not."),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: "must be 64 lower-case hex digits, as sha256sum prints" })
    .optional()
    .describe("Fires when its whole content has this hash."),
  contains: z.string().min(1).max(4_096).optional().describe("Fires when it holds this text."),
});

const closure = z.strictObject({
  command: command
    .optional()
    .describe("Run by the daemon itself in the sandbox, never taken from what the agent says."),
  exit: z
    .int()
    .min(0)
    .max(255)
    .optional()
    .describe("The exit code that fires it; 0 when not said."),
  cwd: path.optional().describe("Folder the command runs in; the worktree when not said."),
  phase: name.optional().describe("Fires when the orchestrator enters this phase."),
  file: fileTest.optional().describe("Fires when a file is as said."),
  ttl: ttl.optional().describe("Fires so long after the grant was given."),
});

const denyEntry = z.strictObject({
  paths: paths.optional().describe("Globs of any form, for reading and writing."),
  hosts: hosts.optional().describe("Hosts no grant reaches."),
  commands: commands.optional().describe("Commands that begin so."),
});

export const contractFile = z
  .strictObject({
    task: name.describe("Name of the task, in the audit and in every answer."),
    phases: z
      .array(name)
      .max(CONTRACT_LIST_MAX)
      .default([])
      .describe(
        "Phases in their order; a session starts in the first. Only the admin side moves on.",
      ),
    envelope: z
      .array(envelopeEntry)
      .max(CONTRACT_RULES_MAX)
      .default([])
      .describe(
        "E0: what is there from the start. It narrows what the profile allows, never widens.",
      ),
    grants: z
      .record(name, grantRule)
      .default({})
      .describe("Γ: what may be asked for, by name. An agent chooses one and may narrow it."),
    closures: z
      .record(name, closure)
      .default({})
      .describe("Λ: what ends grants, by name. Each has one of command, phase, file, ttl."),
    deny: z.array(denyEntry).max(CONTRACT_RULES_MAX).default([]).describe("G: what nothing lifts."),
  })
  .describe("The contract of one task.");

export type ContractFile = z.output<typeof contractFile>;
export type GrantRuleFile = z.output<typeof grantRule>;
export type ClosureFile = z.output<typeof closure>;

/** What may stand in a profile file: each field with its meaning, its form and its bounds. */
import { posix } from "node:path";
import { z } from "zod";
import {
  COMMANDS_PER_PROJECT_MAX,
  COMMANDS_PER_SESSION_MAX,
  EXEC_ENV_COUNT_MAX,
  EXEC_ENV_VALUE_CHARS_MAX,
  EXEC_TIMEOUT_MAX_MS,
} from "../limits.ts";
import { network } from "./network-schema.ts";
import { duration, size } from "./quantities.ts";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const TIB = 2 ** 40;
const DAY_MS = 24 * 60 * 60_000;

export const PROFILE_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** One component after the other, with an optional tag or digest. */
const IMAGE =
  /^(?:sha256:[0-9a-f]{64}|[a-z0-9][a-z0-9._/:-]{0,200}(?::[A-Za-z0-9._-]{1,128})?(?:@sha256:[0-9a-f]{64})?)$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables by which a program is made to run or load something else than what was judged, or that the sandbox sets. */
const ENV_REFUSED =
  /^(?:PATH|HOME|IFS|ENV|PAGER|CDPATH|SHELLOPTS|PS4|PROMPT_COMMAND|(?:BASH|LD|GIT)_.*|BASHOPTS)$/;

/** Folders in which a file written under a narrow verdict would be run or obeyed under a wider one, and ~/.cache. */
const CACHE_REFUSED =
  /^~\/(?:\.(?:cache|config|ssh|gnupg|aws|kube|docker)(?:\/|$)|\.(?:local|m2|gem|cargo|gradle)$|\.(?:bash|profile|z|git|npmrc|yarnrc|curlrc|wgetrc|netrc|vim|emacs)[^/]*(?:\/|$)|.*\/(?:bin|config|init\.d|settings\.xml)(?:[./]|$))/;

const decision = z.enum(["allow", "ask"]);

const absolutePath = z
  .string()
  .max(4096)
  .refine((path) => path.startsWith("/") && posix.normalize(path) === path && path !== "/", {
    error: "must be an absolute path without . or .. and other than /",
  })
  .refine((path) => !/[\0-\x1f\x7f]/.test(path), { error: "must not hold control characters" });

const standing = z.strictObject({
  read: decision.optional().describe("Verbs that only read."),
  build: decision.optional().describe("Declared build, test and lint verbs."),
  run: decision
    .optional()
    .describe("Project code of any other kind: scripts, inline code, heredocs to an interpreter."),
  write: decision.optional().describe("Writing in the worktree."),
  scratch: decision.optional().describe("Writing in the sandbox's own /tmp and cache."),
  "git-write": decision
    .optional()
    .describe("Local git: add, commit, stash push, new branches. Protected branches always ask."),
  loopback: decision
    .optional()
    .describe("Connections inside the sandbox's own network, which leads nowhere else."),
});

const limits = z.strictObject({
  memory: size({ min: 16 * MIB, max: 4 * TIB })
    .optional()
    .describe("Memory of the whole sandbox; /tmp and the cache count as memory."),
  cpus: z.number().min(0.1).max(1024).optional().describe("Processors, fractions allowed."),
  pids: z.int().min(16).max(65_536).optional().describe("Processes and threads."),
  openFiles: z.int().min(64).max(1_048_576).optional().describe("Open files of one process."),
  shm: size({ min: 64 * KIB, max: TIB })
    .optional()
    .describe("Size of /dev/shm."),
  tmp: size({ min: MIB, max: TIB }).optional().describe("Size of /tmp."),
  cache: size({ min: MIB, max: TIB }).optional().describe("Size of ~/.cache."),
  fileSize: z
    .union([z.literal("none").transform(() => null), size({ min: MIB, max: 64 * TIB })], {
      error: "must be a size such as 4GiB, or none",
    })
    .optional()
    .describe("Largest single file a command may write; `none` for no limit."),
  worktreeGrowth: z
    .union([z.literal("none").transform(() => null), size({ min: MIB, max: 64 * TIB })], {
      error: "must be a size such as 20GiB, or none",
    })
    .optional()
    .describe(
      "How much one command may write into the worktree before it is stopped; looked at every second, `none` for no limit.",
    ),
  output: size({ min: KIB, max: TIB })
    .optional()
    .describe("Output of one command that is passed on before it is cut."),
  wallClock: duration({ min: 1_000, max: EXEC_TIMEOUT_MAX_MS })
    .optional()
    .describe("Longest run of one command that does not name its own limit."),
  background: z
    .union([z.literal("none").transform(() => 0), duration({ min: 1_000, max: 30 * DAY_MS })], {
      error: "must be a duration such as 12h, or none",
    })
    .optional()
    .describe(
      "Longest life of a detached job, and of what a command leaves running; `none` ends that with its command.",
    ),
  idleStop: duration({ min: 1_000, max: 30 * DAY_MS })
    .optional()
    .describe("A sandbox without a command for this long is stopped."),
  commandsPerSession: z
    .int()
    .min(1)
    .max(COMMANDS_PER_SESSION_MAX)
    .optional()
    .describe("Commands of one session that run at once; more wait their turn."),
  commandsPerProject: z
    .int()
    .min(1)
    .max(COMMANDS_PER_PROJECT_MAX)
    .optional()
    .describe("Commands that run at once in all sessions of one project."),
  commandsQueued: z
    .int()
    .min(0)
    .max(COMMANDS_PER_SESSION_MAX)
    .optional()
    .describe("Commands of one session that may wait; one more is refused (`queue-full`)."),
});

const option = z
  .string()
  .regex(/^-[^\s\0-\x1f]{1,64}$/, { error: "must be an option such as --out" });

const verb = z.strictObject({
  class: z
    .enum(["read", "build", "run", "write"])
    .describe("What the verb does, in the words of `policy.standing`."),
  pathOptions: z
    .array(option)
    .max(64)
    .default([])
    .describe("Options whose value is a path that must be in scope."),
  readSubcommands: z
    .array(z.string().regex(/^[^\s\0-\x1f-][^\s\0-\x1f]{0,63}$/, { error: "must be one word" }))
    .max(64)
    .default([])
    .describe("First operands with which the verb only reads."),
});

const example = z.string().min(1).max(4096);

const rule = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: "must be lower-case words joined by -" })
    .optional()
    .describe("Name in verdicts and the journal; default: its number in the list."),
  action: z
    .enum(["allow", "ask", "deny"])
    .describe("What a match says. A deny of a profile is absolute: nothing lifts it."),
  tool: z
    .enum(["exec", "read", "write"])
    .default("exec")
    .describe("Whether the pattern matches the words of a command or a path read or written."),
  pattern: z
    .union([z.string().min(1).max(4096), z.array(z.string().min(1).max(4096)).min(1).max(64)], {
      error: "must be text such as `git push *`, or a list of words",
    })
    .describe(
      "Words of a command, `*` for any one word or any rest; for read and write a path glob. Text is split at blanks.",
    ),
  justification: z
    .string()
    .trim()
    .min(1, { error: "must not be empty: it is what the refused or asked person reads" })
    .max(1024)
    .describe("Why, in a sentence; shown with every question and refusal."),
  match: z.array(example).max(64).default([]).describe("Examples that must match, tried at load."),
  not_match: z
    .array(example)
    .max(64)
    .default([])
    .describe("Examples that must not match, tried at load."),
});

const policy = z.strictObject({
  standing: standing.optional().describe("What passes without asking, in scope."),
  protectedBranches: z
    .array(z.string().min(1).max(256))
    .max(256)
    .optional()
    .describe("Globs of branches that a merge, push or commit always asks about."),
  protectedFiles: z
    .array(z.string().min(1).max(1024))
    .max(1024)
    .optional()
    .describe("Globs of files whose change always asks, besides instruction files."),
  verbs: z
    .record(
      z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/, {
        error: "must be the plain name of a program",
      }),
      verb,
    )
    .optional()
    .describe("The project's own verbs, by name."),
  unknown: z
    .enum(["ask", "confine"])
    .optional()
    .describe(
      "What happens to a verb nothing is known about; `confine` runs it read-only, offline.",
    ),
  denials: z
    .strictObject({
      consecutive: z
        .int()
        .min(1)
        .max(1000)
        .optional()
        .describe("Refusals of one class in a row that block it."),
      total: z
        .int()
        .min(1)
        .max(100_000)
        .optional()
        .describe("Refusals in all after which everything asks."),
    })
    .optional()
    .describe("When refusals add up."),
  rules: z.array(rule).max(1024).optional().describe("Rules of the admin; denies are absolute."),
});

export const profileFile = z
  .strictObject({
    description: z
      .string()
      .max(1024)
      .optional()
      .describe("One sentence for `recinto profile list`."),
    extends: z
      .string()
      .regex(PROFILE_NAME, { error: "must be the name of a profile" })
      .optional()
      .describe("Profile this one starts from. The same name means the shipped one."),
    image: z
      .string()
      .regex(IMAGE, { error: "must be an image name, a local id or a digest" })
      .refine((image) => !image.endsWith(":latest"), {
        error: "must not be `latest`: it moves; name a tag, a local id or a digest",
      })
      .optional()
      .describe("Image name, local id or digest. `latest` is refused."),
    git: z
      .enum(["none", "read", "commit"])
      .optional()
      .describe(
        "The repository behind the worktree: not there, read-only, or with a git folder of the sandbox's own, from which the agent's branch is brought to the host.",
      ),
    mount: z
      .enum(["worktree", "project"])
      .optional()
      .describe(
        "What is there of the project: the worktree alone, or the whole root read-only around it, other worktrees included.",
      ),
    cache: z
      .enum(["tmpfs", "volume"])
      .optional()
      .describe(
        "Where ~/.cache lies: in memory, gone with the sandbox, or in a folder of this sandbox's own that outlives it.",
      ),
    caches: z
      .record(
        z
          .string()
          .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, { error: "must be lower-case words joined by -" }),
        z
          .string()
          .regex(/^~\/(?:[A-Za-z0-9._-]+\/)*[A-Za-z0-9._-]+$/, { error: "must be a path below ~" })
          .refine((path) => path.split("/").every((part) => !/^\.{1,2}$/.test(part)), {
            error: "must not hold . or ..",
          })
          .refine((path) => !CACHE_REFUSED.test(path), {
            error: "holds settings that programs run by, or is there already",
          }),
      )
      .refine((caches) => Object.keys(caches).length <= 16, { error: "must not be more than 16" })
      .optional()
      .describe(
        "Folders of the home that this project's sandboxes share and keep, by name, such as `npm: ~/.npm`. No other project has them.",
      ),
    runtime: z
      .enum(["runc", "runsc"])
      .optional()
      .describe(
        "Container runtime of the engine. `runsc` is gVisor: a stronger wall, slower, without limits of memory, processors and processes, and without Landlock (`run` and `write` ask).",
      ),
    executor: z
      .enum(["auto", "runner", "once", "plain"])
      .optional()
      .describe(
        "How commands run: by the runner in the sandbox, its program once a command, or plain docker exec. `auto` takes the first that works; another that cannot is an error.",
      ),
    grants: z
      .enum(["pick", "present"])
      .optional()
      .describe(
        "Whether the daemon picks the one live grant that covers an action, or the agent has to present its handle.",
      ),
    limits: limits.optional().describe("What one sandbox and one command may use."),
    readable: z
      .array(absolutePath)
      .max(64)
      .optional()
      .describe("More host folders that are mounted read-only and count as in scope for reading."),
    env: z
      .record(
        z
          .string()
          .regex(ENV_NAME, { error: "must be a variable name" })
          .refine((name) => !ENV_REFUSED.test(name), {
            error: "is set by the sandbox or changes what a judged command runs",
          }),
        z
          .string()
          .max(EXEC_ENV_VALUE_CHARS_MAX)
          .refine((value) => !value.includes("\0"), { error: "must not hold a NUL" }),
      )
      .refine((env) => Object.keys(env).length <= EXEC_ENV_COUNT_MAX, {
        error: `must not have more than ${EXEC_ENV_COUNT_MAX} variables`,
      })
      .optional()
      .describe("Environment of every command, by name."),
    approvalWait: duration({ min: 1_000, max: 7 * DAY_MS })
      .optional()
      .describe("How long a question waits for a person."),
    onEscape: z
      .enum(["alert", "freeze"])
      .optional()
      .describe(
        "What a link that leaves the project does besides the alert; `freeze`: everything asks.",
      ),
    network: network
      .optional()
      .describe("Hosts that approved commands may reach; `none`: nothing leaves the sandbox."),
    policy: policy.optional().describe("What is allowed, asked and denied."),
  })
  .describe("A Recinto container profile.");

export type ProfileFile = z.output<typeof profileFile>;
export type RuleFile = z.output<typeof rule>;

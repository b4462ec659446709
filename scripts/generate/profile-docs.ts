/** Makes the JSON Schema of profiles and the reference page of what admins write, from the schemas that check it. */
import { z } from "zod";
import { COMMANDS_RUNNING_MAX } from "../../daemon/limits.ts";
import { configFile } from "../../daemon/settings/config.ts";
import { profileFile } from "../../daemon/settings/profile-schema.ts";
import {
  loadProfile,
  PROFILE_DEFAULTS,
  SHIPPED_PROFILES_DIR,
} from "../../daemon/settings/profiles.ts";
import { projectFile } from "../../daemon/settings/project-schema.ts";
import { DURATION, formatDuration, formatSize, SIZE } from "../../daemon/settings/quantities.ts";

interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
}

const LIMITS = `A command that hits a limit reads which one from the system: "Too many open files", "File too large" (or signal XFSZ, exit
153), "No space left on device" in \`/tmp\`, \`~/.cache\` and \`/dev/shm\`, "Resource temporarily unavailable" for processes. Its
exit says \`oomKilled\`, \`timedOut\` or \`diskLimit\` where it was killed, and \`truncated\` how much output was left out. For
\`worktreeGrowth\` the free space of the disk is looked at every second; once that much is gone, the files in the worktree
that changed since the command began are counted. It is a ceiling on accidents, not a quota: a file that was deleted
while it is open is not counted, and what is written within a second is already there. Give worktrees a file system of
their own, or one with quotas, where that matters.

Commands over \`commandsPerSession\` or \`commandsPerProject\` wait: the agent reads a \`note\` with code \`queued\`, may leave
again, and the command is judged anew when its turn has come. The next slot goes to the project with the fewest running
commands (all projects together run at most ${COMMANDS_RUNNING_MAX}), in it to the session with the fewest, and among equals to the one
served longest ago, so that an agent that sends many waits behind itself. A full queue is answered with \`queue-full\`,
HTTP status 429 and \`Retry-After\`. A question to a person takes no slot, and what was approved is never refused for a
full queue.
`;

const RUNTIMES = `### What \`runtime: runsc\` changes

gVisor puts a kernel of its own between the sandbox and the host's, so that a hole in Linux is not at once a hole in the
wall. \`./scripts/engine runsc\` installs Debian's runsc and makes it known to the engine, which goes on running; where the
engine does not have it, commands end with \`runtime-missing\`. What is different then:

- There is no Landlock. What rests on the kernel holding a command to its verdict (\`run\`, \`write\`, \`unknown: confine\`)
  asks, whatever the profile allows.
- The runner cannot be used, since gVisor opens no socket of the host: \`executor: auto\` takes \`once\`, or \`plain\` where
  gVisor cannot make the runner's program the parent of a command's orphans (Debian 12's cannot): it would not know when
  all of a command is gone. From \`plain\` nothing leaves the sandbox, \`network\` or not. \`recinto doctor\` says which it
  is and why; \`executor: runner\` is an error at once.
- Lost, as they are control groups' and runsc is started without: \`memory\`, \`cpus\`, \`pids\`. One sandbox can use up the
  machine. What gVisor or the daemon keeps itself holds: \`openFiles\`, \`fileSize\`, the size of \`/tmp\`, time, output.
- Slower: a command took 1.4 times as long to start as under runc, and every system call costs more.
- Debian 12's runsc is of 2022, and \`ls\` and \`stat\` of Debian 12 fail under it (\`Invalid argument\`: it refuses a flag of
  statx); a later runsc from elsewhere can be registered in \`/etc/docker/daemon.json\` under the name \`runsc\`.

Tried with Debian 12's runsc behind the script's wrapper (\`--network=none --ignore-cgroups --platform=ptrace\`; systrap
where it works); other ways to start runsc were not (\`test/docker/runsc.test.ts\`).
`;

const LINKS = `### \`onEscape\`

A link in a worktree that leads out of the project is journalled (\`hazard.found\`, in \`recinto events --follow\`), listed by
\`recinto hazards\`, and what goes through it asks. With \`freeze\` everything asks until every such link is gone or accepted.
\`recinto hazards accept ID\` lets agents read through one link, as long as its text and its end stay what they were;
writing, running and git through it ask as before, and the sandbox still has only what is mounted (\`not_mounted\`): to give
agents the content, name the folder under \`readable\`. \`recinto hazards forget ID\` takes it back.
`;

const SHIPPED = ["review", "default", "dev"] as const;

export function profileJsonSchema(): string {
  return `${JSON.stringify({ title: "Recinto profile", ...jsonSchema(profileFile) }, null, 2)}\n`;
}

export function profilesPage(): string {
  const profile = jsonSchema(profileFile);
  const { policy, limits, ...top } = profile.properties ?? {};
  const { rules, verbs, standing, denials, ...rest } = policy?.properties ?? {};
  const defaults = PROFILE_DEFAULTS as unknown as Record<string, unknown>;
  const policyDefaults = defaults.policy as Record<string, unknown>;
  return `${[
    "# Profiles, projects and the config file",
    "",
    "<!-- Made by scripts/generate-docs.ts from the schemas in daemon/settings. Edit those. -->",
    "",
    INTRODUCTION,
    "## The shipped profiles",
    "",
    shippedTable(),
    "",
    "## Fields of a profile",
    "",
    table(top, defaults),
    "",
    "### `limits`",
    "",
    table(limits?.properties, defaults.limits),
    "",
    LIMITS,
    RUNTIMES,
    LINKS,
    "### `policy`",
    "",
    table(rest, policyDefaults),
    "",
    "### `policy.standing`",
    "",
    "What passes without asking, each `allow` or `ask`, always in scope only.",
    "",
    table(standing?.properties, policyDefaults.standing),
    "",
    "### `policy.denials`",
    "",
    table(denials?.properties, policyDefaults.denials),
    "",
    "### `policy.rules`, a list",
    "",
    table(rules?.items?.properties, {}),
    "",
    RULE_EXAMPLE,
    "### `policy.verbs`, by name of the program",
    "",
    table((verbs?.additionalProperties as JsonSchema | undefined)?.properties, {}),
    "",
    "## Project files",
    "",
    "`/etc/recinto/projects/ID.yaml`; `recinto project add` writes one.",
    "",
    table(jsonSchema(projectFile).properties, {}),
    "",
    "## The config file",
    "",
    "`/etc/recinto/config.yaml`, or the file given with `--config`. Every key may be left out.",
    "",
    table(jsonSchema(configFile).properties, {}),
  ].join("\n")}\n`;
}

const INTRODUCTION = `An admin writes YAML; every file is checked as a whole before anything of it counts. An unknown key, a wrong value or a
YAML fault is an error with file, line and column, and a file that somebody other than root or the daemon's user could
have written is refused with the command that mends it. A running daemon reads changed files again; where an edit cannot
be used, what the file said before still holds, and the admin is told.

A profile may start from another one with \`extends\`. Maps (\`limits\`, \`env\`, \`policy.standing\`, …) are merged key by key;
lists are replaced as a whole. \`policy.rules\` is the exception: its rules are added to those of the profile it extends, so
that no deny is lost by writing another rule. What no profile in the chain says has the default below:
nothing passes without asking. A profile that extends its own name means the shipped one, so \`/etc/recinto/profiles/dev.yaml\` can
begin with \`extends: dev\`.

Sizes are a number and \`B\`, \`KiB\`, \`MiB\`, \`GiB\` or \`TiB\`; durations a number and \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`.
\`recinto profile check FILE\` tries a profile, \`recinto profile show NAME\` prints what it comes to.
For completion and checking in an editor: \`profiles/profile.schema.json\`.
`;

const RULE_EXAMPLE = `\`\`\`yaml
policy:
  rules:
    - id: no-publish
      action: deny
      pattern: npm publish *
      justification: releases are made by the release pipeline
      match: [npm publish, npm publish --dry-run]
      not_match: [npm pack]
\`\`\`

The examples are unit tests of the rule: a profile whose rule does not do what its examples say is not loaded.
`;

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: "input" }) as JsonSchema;
}

function table(
  fields: Readonly<Record<string, JsonSchema>> | undefined,
  defaults: unknown,
): string {
  const rows = Object.entries(fields ?? {}).map(([key, field]) => {
    const usual = (defaults as Record<string, unknown>)[key] ?? field.default;
    const shown = usual === undefined && isNull(defaults, key) ? "`none`" : cell(usual, field);
    return `| \`${key}\` | ${form(field)} | ${shown} | ${field.description ?? ""} |`;
  });
  return ["| key | form | default | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

function isNull(defaults: unknown, key: string): boolean {
  return (defaults as Record<string, unknown>)[key] === null;
}

function cell(value: unknown, field: JsonSchema): string {
  if (value === undefined || value === "") return "";
  if (typeof value === "number" && field.type !== "number" && field.type !== "integer") {
    const forms = [field, ...(field.anyOf ?? [])];
    const isDuration = forms.some(({ pattern }) => pattern === DURATION.source);
    return code(isDuration ? formatDuration(value) : formatSize(value));
  }
  return code(typeof value === "string" ? value : JSON.stringify(value));
}

function form(field: JsonSchema): string {
  if (field.anyOf !== undefined) return field.anyOf.map(form).join(" or ");
  if (field.enum !== undefined) return field.enum.map(code).join(" ");
  if (field.const !== undefined) return code(String(field.const));
  if (field.pattern === SIZE.source) return "size";
  if (field.pattern === DURATION.source) return "duration";
  if (field.type === "array")
    return `list of ${field.items === undefined ? "" : form(field.items)}`;
  if (field.type === "object") return "map";
  if (field.type === "number" || field.type === "integer") {
    const { minimum, maximum } = field;
    return minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : "number";
  }
  if (field.type === "boolean") return "`true` `false`";
  return field.type === "string" ? "text" : code(field.type ?? "");
}

function shippedTable(): string {
  const profiles = SHIPPED.map((name) => loadProfile(name, [SHIPPED_PROFILES_DIR]));
  const classes = Object.keys(PROFILE_DEFAULTS.policy.standing) as (keyof typeof STANDING)[];
  return [
    `| | ${SHIPPED.map(code).join(" | ")} |`,
    "|---|---|---|---|",
    ...classes.map(
      (name) =>
        `| ${code(name)} | ${profiles.map(({ policy }) => policy.standing[name]).join(" | ")} |`,
    ),
    "| package installation, network, push | ask | ask | ask |",
    "",
    ...profiles.map(({ name, description }) => `- ${code(name)}: ${description}`),
  ].join("\n");
}

const STANDING = PROFILE_DEFAULTS.policy.standing;

function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

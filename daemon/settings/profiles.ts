/** Profiles: from the admin's YAML, through `extends`, to a value in which nothing optional is left. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RecintoError } from "../errors.ts";
import {
  APPROVAL_WAIT_DEFAULT_MS,
  COMMANDS_PER_PROJECT_DEFAULT,
  COMMANDS_PER_SESSION_DEFAULT,
  COMMANDS_QUEUED_DEFAULT,
  EXEC_OUTPUT_BYTES_DEFAULT,
  EXEC_TIMEOUT_DEFAULT_MS,
  JOB_LIFE_DEFAULT_MS,
  PROFILE_EXTENDS_MAX,
  SANDBOX_IDLE_DEFAULT_MS,
} from "../limits.ts";
import { matchesExample } from "../policy/rule-examples.ts";
import type { Rule } from "../policy/types.ts";
import { readAdminFile } from "./admin-file.ts";
import { type FileProblem, fileError, type Locate, parseAdminYaml } from "./admin-yaml.ts";
import { networkOf } from "./network-schema.ts";
import { PROFILE_NAME, type ProfileFile, profileFile, type RuleFile } from "./profile-schema.ts";
import type { Profile } from "./types.ts";

/** The profiles that come with the program: beside `daemon/` in a checkout, beside `dist/` once built. */
export const SHIPPED_PROFILES_DIR = fileURLToPath(new URL("../../profiles/", import.meta.url));

/** Whether a rule matches an example: a command line for `exec`, a path for `read` and `write`. */
export type RuleMatcher = (rule: Rule, example: string) => boolean;

/** One file, checked by itself; `extends` not applied yet. */
export interface ParsedProfile {
  readonly name: string;
  readonly file: string;
  readonly extends: string | null;
  readonly fields: Omit<ProfileFile, "extends">;
  readonly rules: readonly Rule[];
}

/** What holds where no profile of the chain says otherwise: nothing passes without asking. */
const DEFAULTS = {
  description: "",
  image: "recinto/base",
  git: "read",
  mount: "worktree",
  cache: "tmpfs",
  caches: {},
  runtime: "runc",
  executor: "auto",
  grants: "pick",
  limits: {
    memory: 2 * 2 ** 30,
    cpus: 2,
    pids: 512,
    openFiles: 4096,
    shm: 64 * 2 ** 20,
    tmp: 512 * 2 ** 20,
    cache: 512 * 2 ** 20,
    fileSize: null,
    worktreeGrowth: null,
    output: EXEC_OUTPUT_BYTES_DEFAULT,
    wallClock: EXEC_TIMEOUT_DEFAULT_MS,
    background: JOB_LIFE_DEFAULT_MS,
    idleStop: SANDBOX_IDLE_DEFAULT_MS,
    commandsPerSession: COMMANDS_PER_SESSION_DEFAULT,
    commandsPerProject: COMMANDS_PER_PROJECT_DEFAULT,
    commandsQueued: COMMANDS_QUEUED_DEFAULT,
  },
  readable: [],
  env: {},
  approvalWait: APPROVAL_WAIT_DEFAULT_MS,
  onEscape: "alert",
  network: "none",
  policy: {
    standing: {
      read: "ask",
      build: "ask",
      run: "ask",
      write: "ask",
      scratch: "ask",
      "git-write": "ask",
      loopback: "ask",
    },
    protectedBranches: ["main", "master"],
    protectedFiles: [],
    verbs: {},
    unknown: "ask",
    denials: { consecutive: 3, total: 20 },
    rules: [],
  },
} as const satisfies Complete<Omit<ProfileFile, "extends">>;

export const PROFILE_DEFAULTS: Complete<Omit<ProfileFile, "extends">> = DEFAULTS;

/** Every key of every map is there. */
type Complete<T> = T extends readonly unknown[]
  ? Readonly<T>
  : T extends object
    ? { readonly [K in keyof T]-?: Complete<Exclude<T[K], undefined>> }
    : T;

/**
 * The text of one profile. Throws `bad-profile` with `FILE:LINE:COL: …`. Every rule's `match` and
 * `not_match` examples are tried, by the policy's own matching unless another `matcher` is given.
 */
export function parseProfile(
  text: string,
  { name, file, matcher = matchesExample }: { name: string; file: string; matcher?: RuleMatcher },
): ParsedProfile {
  const { value, locate } = parseAdminYaml(text, file, profileFile, "bad-profile");
  const { extends: base, ...fields } = value;
  const written = fields.policy?.rules ?? [];
  const rules = written.map((rule, index) => ruleOf(rule, name, index));
  const problems = rules.flatMap((rule, index) =>
    failedExamples(rule, written[index] as RuleFile, index, matcher, locate),
  );
  if (problems.length > 0) throw fileError("bad-profile", file, problems);
  return { name, file, extends: base ?? null, fields, rules };
}

/**
 * A profile by name, looked for in `dirs` in order (the admin's first, then SHIPPED_PROFILES_DIR), with everything it
 * extends applied: maps are merged deeply, lists are replaced, except `policy.rules`, which are added to the base's so
 * that a profile cannot lose a deny by adding a rule. A profile that extends its own name means the next folder's.
 * Throws `bad-profile`, `unsafe-admin-file`.
 */
export function loadProfile(
  name: string,
  dirs: readonly string[],
  options: { readonly matcher?: RuleMatcher } = {},
): Profile {
  const found = findProfile(name, dirs);
  return resolveProfile(parseFound(found, options.matcher), dirs, options);
}

/** Like `loadProfile`, starting from a file that was parsed already (`recinto profile check FILE`). */
export function resolveProfile(
  top: ParsedProfile,
  dirs: readonly string[],
  options: { readonly matcher?: RuleMatcher } = {},
): Profile {
  const chain = [top];
  for (let last = top; last.extends !== null; last = chain.at(-1) as ParsedProfile) {
    const rest = last.extends === last.name ? dirsAfter(last.file, dirs) : dirs;
    const found = findProfile(last.extends, rest, last);
    const names = [...chain.map((profile) => profile.name), found.name].join(" → ");
    if (chain.some((profile) => profile.file === found.file)) {
      throw new RecintoError("bad-profile", `${top.file}: extends itself: ${names}`);
    }
    if (chain.length >= PROFILE_EXTENDS_MAX) {
      throw new RecintoError(
        "bad-profile",
        `${top.file}: more than ${PROFILE_EXTENDS_MAX} profiles extend one another: ${names}`,
      );
    }
    chain.push(parseFound(found, options.matcher));
  }
  const bases = chain.reverse();
  const merged = bases.reduce<unknown>((all, { fields }) => merge(all, fields), DEFAULTS);
  return profileOf(top.name, merged as typeof PROFILE_DEFAULTS, [
    ...bases.flatMap((profile) => profile.rules),
  ]);
}

/** Names of all profiles in `dirs`, sorted. */
export function listProfiles(dirs: readonly string[]): readonly string[] {
  const names = dirs.filter((dir) => existsSync(dir)).flatMap((dir) => readdirSync(dir));
  const profiles = names.filter((name) => name.endsWith(".yaml")).map((name) => name.slice(0, -5));
  return [...new Set(profiles)].filter((name) => PROFILE_NAME.test(name)).sort();
}

interface FoundProfile {
  readonly name: string;
  readonly dir: string;
  readonly file: string;
}

function findProfile(name: string, dirs: readonly string[], from?: ParsedProfile): FoundProfile {
  const where = from === undefined ? "" : `${from.file}: extends `;
  if (!PROFILE_NAME.test(name)) {
    throw new RecintoError("bad-profile", `${where}${JSON.stringify(name)} is not a profile name`);
  }
  for (const dir of dirs) {
    const file = join(dir, `${name}.yaml`);
    if (existsSync(file)) return { name, dir, file };
  }
  throw new RecintoError("bad-profile", `${where}profile ${name}: no such profile`, {
    hint: `there are: ${listProfiles(dirs).join(", ") || "none"}`,
  });
}

function dirsAfter(file: string, dirs: readonly string[]): readonly string[] {
  return dirs.slice(dirs.findIndex((dir) => join(dir, "x") === join(dirname(file), "x")) + 1);
}

function parseFound({ name, dir, file }: FoundProfile, matcher?: RuleMatcher): ParsedProfile {
  // The shipped files are as trustworthy as the program they come with, whoever owns the checkout.
  const shipped = join(dir, "/") === SHIPPED_PROFILES_DIR;
  const text = shipped ? readFileSync(file, "utf8") : readAdminFile(file);
  return parseProfile(text, { name, file, ...(matcher && { matcher }) });
}

function merge(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (!isMap(base) || !isMap(over)) return over;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, merge(base[key], over[key])]));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function profileOf(name: string, fields: typeof PROFILE_DEFAULTS, rules: Rule[]): Profile {
  const { limits, policy } = fields;
  const { verbs, rules: _, ...rest } = policy;
  return {
    name,
    description: fields.description,
    image: fields.image,
    git: fields.git,
    mount: fields.mount,
    cache: fields.cache,
    caches: fields.caches,
    runtime: fields.runtime,
    executor: fields.executor,
    grants: fields.grants,
    limits: {
      memoryBytes: limits.memory,
      cpus: limits.cpus,
      pids: limits.pids,
      openFiles: limits.openFiles,
      shmBytes: limits.shm,
      tmpBytes: limits.tmp,
      cacheBytes: limits.cache,
      fileBytes: limits.fileSize,
      growthBytes: limits.worktreeGrowth,
      outputBytes: limits.output,
      wallClockMs: limits.wallClock,
      backgroundMs: limits.background,
      idleStopMs: limits.idleStop,
      commandsPerSession: limits.commandsPerSession,
      commandsPerProject: limits.commandsPerProject,
      commandsQueued: limits.commandsQueued,
    },
    readable: fields.readable,
    env: fields.env,
    approvalWaitMs: fields.approvalWait,
    onEscape: fields.onEscape,
    network: networkOf(fields.network),
    policy: {
      ...rest,
      verbs: Object.entries(verbs).map(([name, verb]) => ({ name, ...verb })),
      rules,
    },
  };
}

function ruleOf(rule: RuleFile, profile: string, index: number): Rule {
  const words =
    typeof rule.pattern !== "string"
      ? rule.pattern
      : rule.tool === "exec"
        ? rule.pattern.trim().split(/\s+/)
        : [rule.pattern];
  return {
    id: `${profile}/${rule.id ?? index + 1}`,
    source: "admin",
    action: rule.action,
    tool: rule.tool,
    pattern: words,
    justification: rule.justification,
  };
}

function failedExamples(
  rule: Rule,
  written: RuleFile,
  index: number,
  matcher: RuleMatcher,
  locate: Locate,
): FileProblem[] {
  const tried = (kind: "match" | "not_match") =>
    written[kind].flatMap((example, number) => {
      if (matcher(rule, example) === (kind === "match")) return [];
      const path = ["policy", "rules", index, kind, number];
      const says = kind === "match" ? "does not match" : "matches";
      const message = `the rule ${says} its example ${JSON.stringify(example)}`;
      return [{ ...locate(path), key: path.join("."), message }];
    });
  return [...tried("match"), ...tried("not_match")];
}

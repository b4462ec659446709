/** The daemon's own config file: where things are, and who may approve. */
import { existsSync } from "node:fs";
import { posix } from "node:path";
import { z } from "zod";
import { RecintoError } from "../errors.ts";
import { CONFIG_PATH_CHARS_MAX, CONFIG_ROLE_NAMES_MAX, CONFIG_ROLES_MAX } from "../limits.ts";
import { readAdminFile } from "./admin-file.ts";
import { parseAdminYaml } from "./admin-yaml.ts";
import { PROJECT_ID } from "./project-schema.ts";
import type { DaemonConfig } from "./types.ts";

export const CONFIG_FILE = "/etc/recinto/config.yaml";

const absolute = z
  .string()
  .max(CONFIG_PATH_CHARS_MAX)
  .refine((path) => path.startsWith("/") && posix.normalize(path) === path && path !== "/", {
    error: "must be an absolute path without . or ..",
  });

const accountName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?$/, { error: "must be the name of a user or group" });

const roleAssignment = z
  .strictObject({
    role: z.enum(["admin", "approver", "orchestrator", "auditor"]),
    users: z.array(accountName).max(CONFIG_ROLE_NAMES_MAX).default([]),
    groups: z.array(accountName).max(CONFIG_ROLE_NAMES_MAX).default([]),
    projects: z.array(z.string().regex(PROJECT_ID)).min(1).max(CONFIG_ROLE_NAMES_MAX).optional(),
  })
  .refine(({ users, groups }) => users.length + groups.length > 0, {
    error: "names nobody: add users or groups",
  })
  .refine(({ role, projects }) => role !== "admin" || projects === undefined, {
    error: "an admin is one of all projects: take projects out, or name another role",
  });

export const configFile = z.strictObject({
  runDir: absolute.default("/run/recinto").describe("Folder of the sockets."),
  stateDir: absolute.default("/var/lib/recinto").describe("Journal and saved rules."),
  profilesDir: absolute
    .default("/etc/recinto/profiles")
    .describe("The admin's profiles; shipped ones are found besides."),
  projectsDir: absolute
    .default("/etc/recinto/projects")
    .describe("One file for each project, and its rules in `ID.rules.yaml`."),
  rulesDir: absolute
    .default("/etc/recinto/rules")
    .describe("Rules of users: `users/NAME.yaml` or `.json`, by name or number."),
  adminGroup: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?$/, { error: "must be the name of a group" })
    .nullable()
    .default(null)
    .describe("Group that may use admin.sock; null for root alone."),
  roles: z
    .array(roleAssignment)
    .max(CONFIG_ROLES_MAX)
    .default([])
    .describe(
      "What members of `adminGroup` may do, each `{role, users?, groups?, projects?}`: `admin` everything, `approver` look and answer, `orchestrator` look and set contracts, phases and grants, `auditor` look. Without any all of them are admins; with some, who has none may do nothing. Root always may.",
    ),
  engineSocket: absolute.default("/var/run/docker.sock").describe("Unix socket of the engine."),
  agentsShareApproverUid: z
    .boolean()
    .default(false)
    .describe(
      "Accept agents whose user could approve their own questions. Every approval then says so.",
    ),
  watcher: z
    .enum(["watch", "chokidar"])
    .default("watch")
    .describe("How worktrees are watched; chokidar is the slower fallback."),
  logLevel: z
    .enum(["debug", "info", "warn", "error"])
    .default("info")
    .describe("Least level logged."),
  maxConsecutiveDenials: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe("Instead of the profiles' `denials.consecutive`."),
  maxTotalDenials: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe("Instead of the profiles' `denials.total`."),
  journalKeepDays: z
    .int()
    .min(1)
    .max(36_500)
    .optional()
    .describe("Entries of the journal older than this are dropped; absent: all are kept."),
});

/** Settings that the environment may set over the file (B2). */
const FROM_ENVIRONMENT = {
  maxConsecutiveDenials: "RECINTO_MAX_CONSECUTIVE_DENIALS",
  maxTotalDenials: "RECINTO_MAX_TOTAL_DENIALS",
} as const;

/** The file that is read where `file` is named; null: none is there, the defaults hold. */
export function configFileOf(file?: string): string | null {
  if (file !== undefined) return posix.resolve(file);
  return existsSync(CONFIG_FILE) ? CONFIG_FILE : null;
}

/**
 * The config in `file`; without one, in CONFIG_FILE if that exists, else the defaults. Throws `bad-config` with
 * `FILE:LINE:COL: …`, or `unsafe-admin-file`.
 */
export function loadConfig(
  file?: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): DaemonConfig {
  const path = configFileOf(file);
  const text = path === null ? "" : readAdminFile(path);
  return parseConfig(text, path ?? "(defaults)", environment);
}

export function parseConfig(
  text: string,
  file: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): DaemonConfig {
  const { value } = parseAdminYaml(text, file, configFile, "bad-config");
  const config: Record<string, unknown> = { ...value };
  for (const [key, variable] of Object.entries(FROM_ENVIRONMENT)) {
    const set = environment[variable];
    if (set === undefined || set === "") continue;
    const field = configFile.shape[key as keyof typeof FROM_ENVIRONMENT];
    const result = field.safeParse(/^\d{1,9}$/.test(set) ? Number(set) : Number.NaN);
    if (!result.success) {
      throw new RecintoError("bad-config", `${variable}=${set}: must be a whole number from 1 up`, {
        hint: `unset ${variable}, or give it a number`,
      });
    }
    config[key] = result.data;
  }
  return config as unknown as DaemonConfig;
}

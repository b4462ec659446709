/** What may stand in a project file; its name is the project's id. */
import { posix } from "node:path";
import { z } from "zod";
import { parseAdminYaml } from "./admin-yaml.ts";
import { PROFILE_NAME } from "./profile-schema.ts";
import type { Project } from "./types.ts";

export const PROJECT_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

const GROUP = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?$/;

export const projectFile = z.strictObject({
  root: z
    .string()
    .max(4096)
    .refine((root) => root.startsWith("/") && posix.normalize(root) === root && root !== "/", {
      error: "must be an absolute path without . or .., and other than /",
    })
    .refine((root) => !root.endsWith("/"), { error: "must not end with a slash" })
    .refine((root) => !/[\0-\x1f\x7f:]/.test(root), {
      error: "must not hold control characters or a colon, which no mount can name",
    })
    .describe("Folder of the project; every worktree lies below it."),
  profile: z
    .string()
    .regex(PROFILE_NAME, { error: "must be the name of a profile" })
    .default("default")
    .describe("Container profile of its sandboxes."),
  worktrees: z
    .string()
    .min(1)
    .max(1024)
    .refine((glob) => glob === "." || isBelow(glob), {
      error: "must be `.` or a glob below the root, such as .worktrees/*",
    })
    .default(".worktrees/*")
    .describe("Glob below the root that worktree folders match; `.` is the root itself."),
  agentGroup: z
    .union(
      [
        z.string().regex(GROUP),
        z
          .int()
          .min(0)
          .max(2 ** 32 - 2),
      ],
      {
        error: "must be the name or number of a group",
      },
    )
    .nullable()
    .default(null)
    .describe("Group that owns the agents' socket; null for the worktree owner's group."),
  rules: z
    .string()
    .max(4096)
    .refine((path) => path.startsWith("/") && posix.normalize(path) === path && path !== "/", {
      error: "must be an absolute path without . or ..",
    })
    .exactOptional()
    .describe("A rule file of the project, besides `ID.rules.yaml` in the same folder."),
});

/** A project file's text. Throws `bad-config` with `FILE:LINE:COL: …`. The root is not looked at here. */
export function parseProject(text: string, { id, file }: { id: string; file: string }): Project {
  return { id, ...parseAdminYaml(text, file, projectFile, "bad-config").value };
}

function isBelow(glob: string): boolean {
  const parts = glob.split("/");
  return parts.every((part) => part !== "" && part !== "." && !part.includes(".."));
}

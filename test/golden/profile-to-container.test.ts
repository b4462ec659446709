/** Profile → exact Docker create JSON: a change of the hardening is a changed line here. UPDATE_GOLDEN=1 writes them anew. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createJson } from "../../daemon/sandbox/docker/create-json.ts";
import { sandboxSpec } from "../../daemon/sandbox/spec.ts";
import {
  parseProfile,
  resolveProfile,
  SHIPPED_PROFILES_DIR,
} from "../../daemon/settings/profiles.ts";

const folder = fileURLToPath(new URL("./profile-to-container/", import.meta.url));
const SEPARATOR = "----------\n";

function containerOf(name: string, yaml: string): string {
  const parsed = parseProfile(yaml, { name, file: `${name}.yaml` });
  const spec = sandboxSpec({
    owner: "golden",
    profile: resolveProfile(parsed, [SHIPPED_PROFILES_DIR]),
    projectId: "shop",
    worktree: "/srv/shop/.worktrees/dev",
    user: { uid: 1001, gid: 1002 },
    imageId: `sha256:${"5".repeat(64)}`,
    gitCommonDir: parsed.fields.git === "none" ? null : "/srv/shop/.git",
    runner:
      parsed.fields.executor === "plain"
        ? null
        : {
            program: "/var/lib/recinto/bin/0123456789abcdef",
            socket: "/run/recinto/runners/0123456789ab",
          },
  });
  return `${JSON.stringify({ name: spec.name, create: createJson(spec) }, null, 2)}\n`;
}

describe("profile to container", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".golden"));
  test("there are golden files", () => expect(files.length).toBeGreaterThanOrEqual(5));
  for (const file of files) {
    test(file, () => {
      const path = join(folder, file);
      const [yaml = "", expected = ""] = readFileSync(path, "utf8").split(SEPARATOR);
      const actual = containerOf(basename(file, ".golden"), yaml);
      if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, yaml + SEPARATOR + actual);
      else expect(actual).toBe(expected);
    });
  }
});

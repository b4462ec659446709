/** Profile → exact Docker create JSON: a change of the hardening is a changed line here. UPDATE_GOLDEN=1 writes them anew. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { createJson } from "../../daemon/sandbox/docker/create-json.ts";
import {
  gitMounts,
  type PrivateGitPort,
  privateGitMounts,
} from "../../daemon/sandbox/git-mounts.ts";
import { GivenFolders } from "../../daemon/sandbox/given-folders.ts";
import { sandboxSpec } from "../../daemon/sandbox/spec.ts";
import {
  parseProfile,
  resolveProfile,
  SHIPPED_PROFILES_DIR,
} from "../../daemon/settings/profiles.ts";

const folder = fileURLToPath(new URL("./profile-to-container/", import.meta.url));
const SEPARATOR = "----------\n";

async function containerOf(name: string, yaml: string): Promise<string> {
  const parsed = parseProfile(yaml, { name, file: `${name}.yaml` });
  const profile = resolveProfile(parsed, [SHIPPED_PROFILES_DIR]);
  const worktree = "/srv/shop/.worktrees/dev";
  const user = { uid: 1001, gid: 1002 };
  const outer = profile.mount === "project" ? ["/srv/shop"] : [];
  const request = { key: "0123456789ab", project: "shop", worktree, user };
  const given = await new GivenFolders(folderOfGiven).mounts({ ...request, profile });
  const spec = sandboxSpec({
    owner: "golden",
    profile,
    projectId: "shop",
    worktree,
    user,
    projectRoot: outer[0] ?? null,
    given: given.map((mount) => ({
      ...mount,
      source: mount.source.replace(folderOfGiven, "/var/lib/recinto/given"),
    })),
    imageId: `sha256:${"5".repeat(64)}`,
    git: await gitMounts(profile.git, profile.git === "none" ? NONE : REPOSITORY, port, {
      ...request,
      outer,
    }),
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

const folderOfGiven = mkdtempSync(join(tmpdir(), "recinto-given-"));
afterAll(() => rmSync(folderOfGiven, { recursive: true }));

const gitDir = "/srv/shop/.git/worktrees/dev";
const REPOSITORY = { commonDir: "/srv/shop/.git", gitDir, dotGit: "file" } as const;
const NONE = { commonDir: null, reason: "the profile says so", dotGit: "file" } as const;
const port: PrivateGitPort = {
  prepare: async ({ key, repository }) => ({
    key,
    gitDir,
    mounts: privateGitMounts(repository, `/var/lib/recinto/git/${key}/1`, {
      modules: false,
      alternates: [],
    }),
  }),
};

describe("profile to container", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".golden"));
  test("there are golden files", () => expect(files.length).toBeGreaterThanOrEqual(5));
  for (const file of files) {
    test(file, async () => {
      const path = join(folder, file);
      const [yaml = "", expected = ""] = readFileSync(path, "utf8").split(SEPARATOR);
      const actual = await containerOf(basename(file, ".golden"), yaml);
      if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, yaml + SEPARATOR + actual);
      else expect(actual).toBe(expected);
    });
  }
});

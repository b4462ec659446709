/** What admins are told about how commands run in each sandbox. */
import { expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import type { Registry } from "../../daemon/settings/registry.ts";
import { withExecutors } from "../../daemon/supervisor/sandbox-executors.ts";

test("each sandbox says how its commands run and why, unless its project or profile is gone", () => {
  const sandbox = (project: string) => ({
    id: `box-${project}`,
    name: project,
    state: "running" as const,
    labels: {},
    image: "sha256:1",
    project,
    worktree: `/srv/${project}`,
  });
  const registry = {
    projects: () => [
      { id: "web", profile: "dev" },
      { id: "api", profile: "broken" },
    ],
    profile: (name: string) => {
      if (name === "broken") throw new RecintoError("bad-profile", "mended never");
      return { name, executor: "auto", runtime: "runc" };
    },
  } as unknown as Registry;
  const choice = { kind: "plain", reason: "the runner is not built", landlock: 0 } as const;
  const port = {
    // More than the choice, as a running executor is.
    executor: () => ({ ...choice, alive: true, close: async () => undefined }),
  };
  const found = withExecutors(["web", "api", "gone"].map(sandbox), port, registry);
  expect(found).toEqual([{ ...sandbox("web"), executor: choice }, sandbox("api"), sandbox("gone")]);
});

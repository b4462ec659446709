/** What makes a sandbox another one, and what may not be one. */
import { describe, expect, test } from "vitest";
import { createJson } from "../../daemon/sandbox/docker/create-json.ts";
import { LABELS, type SpecInput, sandboxSpec, specHash } from "../../daemon/sandbox/spec.ts";
import { loadProfile, SHIPPED_PROFILES_DIR } from "../../daemon/settings/profiles.ts";

const readGit = (path: string) => ({
  offered: true,
  mounts: [{ source: path, target: path, readOnly: true }],
  tmpfs: [],
});
const profile = loadProfile("dev", [SHIPPED_PROFILES_DIR]);
const input: SpecInput = {
  owner: "test",
  profile,
  projectId: "shop",
  worktree: "/srv/shop/dev",
  user: { uid: 1000, gid: 1000 },
  imageId: `sha256:${"a".repeat(64)}`,
  git: readGit("/srv/shop/.git"),
  runner: null,
};

describe("sandboxSpec", () => {
  test("the same input gives the same sandbox, and its hash is on its label", () => {
    expect(sandboxSpec(input)).toEqual(sandboxSpec(structuredClone(input)));
    expect(sandboxSpec(input).labels[LABELS.profileHash]).toBe(specHash(sandboxSpec(input)));
  });

  test.each<[string, Partial<SpecInput>]>([
    ["limits", { profile: { ...profile, limits: { ...profile.limits, pids: 65 } } }],
    ["environment", { profile: { ...profile, env: { CI: "1" } } }],
    ["readable folders", { profile: { ...profile, readable: ["/srv/docs"] } }],
    ["runtime", { profile: { ...profile, runtime: "runsc" } }],
    ["image", { imageId: `sha256:${"b".repeat(64)}` }],
    ["owner of the worktree", { user: { uid: 1001, gid: 1000 } }],
    ["repository", { git: { offered: false, mounts: [], tmpfs: [] } }],
  ])("a change of %s makes it anew under the same name", (_, change) => {
    const [before, after] = [sandboxSpec(input), sandboxSpec({ ...input, ...change })];
    expect(specHash(after)).not.toBe(specHash(before));
    expect(after.name).toBe(before.name);
  });

  test("what only concerns the policy does not", () => {
    const policy = { ...profile.policy, unknown: "confine" as const };
    const after = sandboxSpec({ ...input, profile: { ...profile, policy, approvalWaitMs: 1 } });
    expect(specHash(after)).toBe(specHash(sandboxSpec(input)));
  });

  test("another worktree, project or installation has another name", () => {
    const names = [
      {},
      { worktree: "/srv/shop/other" },
      { projectId: "shop2" },
      { owner: "other" },
    ].map((change) => sandboxSpec({ ...input, ...change }).name);
    expect(new Set(names).size).toBe(4);
  });

  test("a worktree of root is refused (A11)", () => {
    expect(() => sandboxSpec({ ...input, user: { uid: 0, gid: 0 } })).toThrow("owned by root");
  });

  test("a profile cannot bring a variable that changes what runs", () => {
    const bad = { ...profile, env: { LD_PRELOAD: "/srv/x.so" } };
    expect(() => sandboxSpec({ ...input, profile: bad })).toThrow("env LD_PRELOAD of profile dev");
  });

  test("a .git inside the worktree is mounted read-only over it", () => {
    const { mounts } = sandboxSpec({ ...input, git: readGit("/srv/shop/dev/.git") });
    expect(mounts).toEqual([
      { source: "/srv/shop/dev", target: "/srv/shop/dev", readOnly: false },
      { source: "/srv/shop/dev/.git", target: "/srv/shop/dev/.git", readOnly: true },
    ]);
  });
});

test("every variable is set once, and an image's own dangerous ones are cleared", () => {
  const names = createJson(sandboxSpec(input)).Env.map((line) => line.split("=")[0]);
  expect(new Set(names).size).toBe(names.length);
  expect(createJson(sandboxSpec(input)).Env).toContain("BASH_ENV");
});

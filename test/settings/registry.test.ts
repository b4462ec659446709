/** Projects and the registry: what an admin declares, edits and breaks while the daemon runs. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { parseConfig } from "../../daemon/settings/config.ts";
import {
  createRegistry,
  type Registry,
  type RegistryEvent,
} from "../../daemon/settings/registry.ts";
import type { DaemonConfig, Project } from "../../daemon/settings/types.ts";

let dir: string;
let config: DaemonConfig;
let registry: Registry | undefined;
let events: RegistryEvent[];

beforeEach(() => {
  dir = mkdtempSync("/tmp/recinto-registry-");
  for (const name of ["profiles", "projects", "shop/.worktrees/a", "shop/.worktrees/b", "lab"]) {
    mkdirSync(join(dir, name), { recursive: true, mode: 0o755 });
  }
  config = {
    ...parseConfig("", "c"),
    profilesDir: join(dir, "profiles"),
    projectsDir: join(dir, "projects"),
    rulesDir: join(dir, "rules"),
  };
  events = [];
});
afterEach(async () => {
  await registry?.close();
  registry = undefined;
  rmSync(dir, { recursive: true });
});

async function start(): Promise<Registry> {
  registry = createRegistry(config, { onEvent: (event) => events.push(event) });
  await registry.ready;
  return registry;
}

function project(id: string, root: string, more: Partial<Project> = {}): Project {
  const defaults = { profile: "default", worktrees: ".worktrees/*", agentGroup: null };
  return { id, root: join(dir, root), ...defaults, ...more };
}

function errorOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof RecintoError) return `${error.code}: ${error.message} | ${error.hint}`;
    throw error;
  }
  throw new Error("nothing was thrown");
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`never came: ${JSON.stringify(events)}`);
    await sleep(10);
  }
}

test("a project is added, listed, kept across a restart and removed", async () => {
  const shop = project("shop", "shop");
  expect((await start()).addProject(shop)).toEqual(shop);
  expect(events).toEqual([{ type: "project-added", project: shop }]);
  const text = readFileSync(join(dir, "projects/shop.yaml"), "utf8");
  expect(text).toBe(
    `# Project shop; recinto project add wrote this.\nroot: ${dir}/shop\nprofile: default\nworktrees: .worktrees/*\nagentGroup: null\n`,
  );
  await registry?.close();
  expect((await start()).projects()).toEqual([shop]);
  expect(registry?.removeProject("shop")).toEqual(shop);
  expect(registry?.projects()).toEqual([]);
  expect(errorOf(() => registry?.project("shop"))).toContain("unknown-project: no project shop");
});

test("a project can name a profile that was written a moment ago", async () => {
  const registry = await start();
  const ours = project("shop", "shop", { profile: "ours" });
  expect(errorOf(() => registry.addProject(ours))).toContain('no profile "ours"');
  writeFileSync(join(dir, "profiles/ours.yaml"), "extends: dev\n", { mode: 0o644 });
  expect(registry.addProject(ours)).toEqual(ours);
});

test("a root must be a real folder of the project's own", async () => {
  const registry = await start();
  registry.addProject(project("shop", "shop"));
  symlinkSync(join(dir, "lab"), join(dir, "alias"));
  writeFileSync(join(dir, "file"), "");
  const refusals: [Project, string][] = [
    [project("x", "none"), "cannot be opened (ENOENT)"],
    [project("x", "file"), "is not a folder"],
    [project("x", "alias"), `has a link on the way | name the real folder: ${dir}/lab`],
    [project("x", "shop/.worktrees"), "project shop's"],
    [{ ...project("x", "lab"), root: `${dir}/lab/` }, "must not end with a slash"],
    [project("x", "."), "lie in one another"],
    [{ ...project("x", "lab"), root: "/" }, "other than /"],
    [{ ...project("x", "lab"), root: "lab" }, "absolute path"],
    [{ ...project("x", "lab"), root: `${dir}/shop/../lab` }, "without . or .."],
    [project("x", "lab", { worktrees: "../*" }), "must be `.` or a glob below the root"],
    [project("x", "lab", { worktrees: "/etc" }), "must be `.` or a glob below the root"],
    [project("../x", "lab"), "cannot be a project id"],
    [project("shop", "lab"), "project-exists"],
    [project("x", "lab", { profile: "none" }), "no profile"],
  ];
  for (const [refused, why] of refusals) {
    expect(errorOf(() => registry.addProject(refused))).toContain(why);
  }
  expect(registry.projects().map(({ id }) => id)).toEqual(["shop"]);
});

test("a root that holds another project's is refused", async () => {
  const registry = await start();
  registry.addProject(project("inner", "shop/.worktrees", { worktrees: "*" }));
  expect(errorOf(() => registry.addProject(project("outer", "shop")))).toContain(
    `project outer: root ${dir}/shop and project inner's ${dir}/shop/.worktrees lie in one another`,
  );
});

test("A2: a root whose name only begins like another's is not in it", async () => {
  mkdirSync(join(dir, "shop-old"));
  const registry = await start();
  registry.addProject(project("shop", "shop"));
  registry.addProject(project("shop-old", "shop-old"));
  expect(registry.projects()).toHaveLength(2);
});

test("an edit on disk counts at once, a broken one keeps what was good", async () => {
  const file = join(dir, "profiles/team.yaml");
  writeFileSync(file, "extends: dev\ndescription: first\n");
  const registry = await start();
  expect(registry.profile("team").description).toBe("first");

  writeFileSync(file, "extends: dev\ndescription: second\n");
  await until(() => registry.profile("team").description === "second");
  expect(events.at(-1)?.type).toBe("profiles-reloaded");

  writeFileSync(file, "extends: dev\ndescrption: third\n");
  await until(() => events.some(({ type }) => type === "problem"));
  expect(events.find(({ type }) => type === "problem")).toMatchObject({
    kept: true,
    error: { message: `${file}:2:1: unknown key "descrption"` },
  });
  expect(registry.profile("team").description).toBe("second");
  expect([...registry.problems().keys()]).toEqual(["profile team"]);

  rmSync(file);
  await until(() => !registry.profiles().includes("team"));
  expect(errorOf(() => registry.profile("team"))).toContain("no profile");
});

test("a project file that others can write changes nothing", async () => {
  const registry = await start();
  registry.addProject(project("shop", "shop"));
  const file = join(dir, "projects/shop.yaml");
  writeFileSync(file, `root: ${dir}/lab\nprofile: dev\n`);
  chmodSync(file, 0o666);
  await until(() => registry.problems().has(file));
  expect(registry.problems().get(file)?.code).toBe("unsafe-admin-file");
  expect(registry.project("shop")).toEqual(project("shop", "shop"));
});

test("a project whose root became a link is dropped, not followed", async () => {
  const registry = await start();
  registry.addProject(project("lab", "lab"));
  rmSync(join(dir, "lab"), { recursive: true });
  symlinkSync("/etc", join(dir, "lab"));
  writeFileSync(join(dir, "projects/other.yaml"), `root: ${dir}/shop\n`);
  await until(() => registry.projects().some(({ id }) => id === "other"));
  expect(registry.projects().map(({ id }) => id)).toEqual(["other"]);
});

test("a worktree is found by path or by its only name, and never through a link", async () => {
  const registry = await start();
  const shop = registry.addProject(project("shop", "shop", { worktrees: ".worktrees/**" }));
  mkdirSync(join(dir, "shop/.worktrees/team/b"), { recursive: true });
  symlinkSync("/etc", join(dir, "shop/.worktrees/etc"));
  symlinkSync(join(dir, "lab"), join(dir, "shop/.worktrees/lab"));
  mkdirSync(join(dir, "lab/inner"));
  const a = join(dir, "shop/.worktrees/a");
  expect(registry.resolveWorktree(shop, a)).toBe(a);
  expect(registry.resolveWorktree(shop, ".worktrees/a")).toBe(a);
  expect(registry.resolveWorktree(shop, "a")).toBe(a);
  expect(registry.resolveWorktree(shop, "team/b")).toBe(join(dir, "shop/.worktrees/team/b"));
  const unknown = [
    "b",
    "etc",
    ".worktrees/etc",
    "lab",
    ".worktrees/lab/inner",
    "../lab",
    dir,
    "/etc",
    "",
    ".",
  ];
  for (const name of unknown) {
    expect(errorOf(() => registry.resolveWorktree(shop, name))).toMatch(/^unknown-worktree: /);
  }
  expect(errorOf(() => registry.resolveWorktree(shop, "b"))).toBe(
    'unknown-worktree: "b" names 2 worktrees | name one by its path: .worktrees/b, .worktrees/team/b',
  );
  expect(errorOf(() => registry.resolveWorktree(shop, "c"))).toContain(
    "there are: .worktrees/a, .worktrees/b, .worktrees/team, .worktrees/team/b",
  );
});

test("an absolute path inside a worktree means that worktree, where a session is opened", async () => {
  const registry = await start();
  const shop = registry.addProject(project("shop", "shop", { worktrees: ".worktrees/**" }));
  const a = join(dir, "shop/.worktrees/a");
  mkdirSync(join(a, "src/deep"), { recursive: true });
  expect(registry.worktreeOf(shop, join(a, "src/deep"))).toBe(join(a, "src/deep"));
  const flat = { ...shop, worktrees: ".worktrees/*" };
  expect(registry.worktreeOf(flat, join(a, "src/deep"))).toBe(a);
  expect(registry.worktreeOf(flat, join(a, "gone/x.txt"))).toBe(a);
  expect(registry.worktreeOf({ ...shop, worktrees: "." }, a)).toBe(join(dir, "shop"));
  expect(registry.worktreeOf(flat, "a")).toBe(a);
  for (const path of [`${a}-old`, `${a}/../..`, join(dir, "shop"), `${dir}/shop-old/x`, "/etc"]) {
    expect(errorOf(() => registry.worktreeOf(flat, path))).toMatch(/^unknown-worktree: /);
  }
});

test("the glob `.` means the root and nothing below it", async () => {
  const registry = await start();
  const lab = registry.addProject(project("lab", "lab", { worktrees: "." }));
  mkdirSync(join(dir, "lab/sub"));
  expect(registry.listWorktrees(lab)).toEqual([join(dir, "lab")]);
  expect(registry.resolveWorktree(lab, ".")).toBe(join(dir, "lab"));
  expect(errorOf(() => registry.resolveWorktree(lab, "sub"))).toMatch(/^unknown-worktree/);
});

test("the policy is told root, worktree, scratch and limits of this worktree", async () => {
  config = { ...config, maxTotalDenials: 9 };
  const registry = await start();
  const shop = registry.addProject(project("shop", "shop", { profile: "dev" }));
  const profile = registry.profile("dev");
  const worktree = registry.resolveWorktree(shop, "a");
  expect(registry.policySettings(shop, profile, worktree)).toEqual({
    profile: "dev",
    standing: profile.policy.standing,
    root: join(dir, "shop"),
    worktree: join(dir, "shop/.worktrees/a"),
    readable: [],
    scratch: ["/tmp", "/home/agent/.cache"],
    home: "/home/agent",
    protectedBranches: profile.policy.protectedBranches,
    protectedFiles: [],
    verbs: [],
    unknown: "ask",
    denials: { consecutive: 3, total: 9 },
  });
});

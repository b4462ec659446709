/** Rule files of projects and users (B1): found, checked as admin's files, kept while an edit is broken. */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../daemon/settings/config.ts";
import {
  createRegistry,
  type Registry,
  type RegistryEvent,
} from "../../daemon/settings/registry.ts";
import { userNames } from "../../daemon/settings/user-names.ts";

let dir: string;
let registry: Registry | undefined;
let events: RegistryEvent[];

beforeEach(() => {
  dir = mkdtempSync("/tmp/recinto-rules-");
  for (const name of ["profiles", "projects", "rules/users", "shop/.worktrees/a", "lab"]) {
    mkdirSync(join(dir, name), { recursive: true, mode: 0o755 });
  }
  write("projects/shop.yaml", `root: ${dir}/shop\n`);
  events = [];
});
afterEach(async () => {
  await registry?.close();
  registry = undefined;
  rmSync(dir, { recursive: true });
});

/** As editors do it: the whole file at once. */
function write(name: string, text: string): string {
  const file = join(dir, name);
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  writeFileSync(`${file}.tmp`, text, { mode: 0o644 });
  renameSync(`${file}.tmp`, file);
  return file;
}

async function start(): Promise<Registry> {
  const config = {
    ...parseConfig("", "c"),
    profilesDir: join(dir, "profiles"),
    projectsDir: join(dir, "projects"),
    rulesDir: join(dir, "rules"),
  };
  registry = createRegistry(config, { onEvent: (event) => events.push(event) });
  await registry.ready;
  return registry;
}

/** What is in force for the project: source, action, tool and words of each rule. */
function inForce(): readonly string[] {
  const project = registry?.project("shop");
  if (registry === undefined || project === undefined) throw new Error("not started");
  return registry
    .ruleFiles(project)
    .flatMap(({ owner, rules, merge }) =>
      rules.map(
        ({ source, action, pattern }) =>
          `${owner} ${source}${merge ? "" : " alone"}: ${action} ${pattern.join(" ")}`,
      ),
    );
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`never came: ${JSON.stringify(events)}`);
    await sleep(10);
  }
}

describe("where rule files are", () => {
  test("a project's beside its file or where the project says, a user's by name; both formats", async () => {
    const elsewhere = write("lab/more.yaml", "rules: [{pattern: terraform plan *, action: ask}]\n");
    write("projects/shop.yaml", `root: ${dir}/shop\nrules: ${elsewhere}\n`);
    write("projects/shop.rules.yaml", "rules: [{pattern: make deploy, action: deny}]\n");
    write("projects/other.rules.yaml", "rules: [{pattern: ls, action: deny}]\n");
    write(
      "rules/users/alice.json",
      '{"rules":[{"pattern":"@coder exec rm *","action":"deny"}],"merge":false}',
    );
    write("rules/users/61001.yaml", "rules: [{pattern: git fetch *, action: allow}]\n");
    await start();
    expect(inForce()).toEqual([
      "shop project: deny make deploy",
      "shop project: ask terraform plan *",
      "61001 user: allow git fetch *",
      "alice user alone: deny rm *",
    ]);
    expect(registry?.projects().map(({ id }) => id)).toEqual(["shop"]);
    expect([...(registry?.problems().keys() ?? [])]).toEqual([]);
  });

  test("a user's names are those of the machine's account file", () => {
    const passwd = "root:x:0:0::/root:/bin/sh\nalice:x:7:7::/h:/bin/sh\nal:x:7:7::/h:/bin/sh\n";
    expect([userNames(7, passwd), userNames(8, passwd)]).toEqual([["alice", "al"], []]);
  });
});

describe("while the daemon runs", () => {
  test("an edit counts once it is written, wherever the file is", async () => {
    const elsewhere = write("lab/more.yaml", "rules: [{pattern: a, action: ask}]\n");
    write("projects/shop.yaml", `root: ${dir}/shop\nrules: ${elsewhere}\n`);
    await start();
    write("lab/more.yaml", "rules: [{pattern: b, action: ask}]\n");
    await until(() => inForce().includes("shop project: ask b"));
    const mine = write("projects/shop.rules.yaml", "rules: [{pattern: c, action: deny}]\n");
    await until(() => inForce().includes("shop project: deny c"));
    write("rules/users/bo.yaml", "rules: [{pattern: d, action: deny}]\n");
    await until(() => inForce().includes("bo user: deny d"));
    rmSync(mine);
    await until(() => !inForce().includes("shop project: deny c"));
    expect(events.filter(({ type }) => type === "rules-reloaded")).toHaveLength(4);
  });

  test("a broken edit, or one by somebody else, changes nothing and is told with its place", async () => {
    const file = write("projects/shop.rules.yaml", "rules: [{pattern: make x, action: deny}]\n");
    await start();
    write("projects/shop.rules.yaml", "rules: [{pattern: make x, action: forbid}]\n");
    await until(() => events.some(({ type }) => type === "problem"));
    expect(events).toMatchObject([
      {
        type: "problem",
        file,
        kept: true,
        error: {
          code: "bad-rules",
          message: `${file}:1:35: action must be one of allow, ask, deny`,
        },
      },
    ]);
    expect(inForce()).toEqual(["shop project: deny make x"]);
    write("projects/shop.rules.yaml", "rules: [{pattern: make x, action: allow}]\n");
    chmodSync(file, 0o666);
    await until(() => registry?.problems().get(file)?.code === "unsafe-admin-file");
    expect(inForce()).toEqual(["shop project: deny make x"]);
  });

  test("an example that its rule does not do makes the file broken", async () => {
    const rule = "{pattern: git push *, action: allow, match: [git pull]}";
    const file = write("projects/shop.rules.yaml", `rules:\n  - ${rule}\n`);
    await start();
    expect(registry?.problems().get(file)?.message).toBe(
      `${file}:2:5: the rule does not match its example "git pull"`,
    );
  });

  test("a file that was never understood may have held a deny: everything asks, as the admin's word", async () => {
    write("projects/shop.rules.yaml", "rules: [}\n");
    await start();
    expect(inForce()).toEqual(["shop admin: ask *", "shop admin: ask **", "shop admin: ask **"]);
  });

  test("so does one that a project names and that is not there", async () => {
    write("projects/shop.yaml", `root: ${dir}/shop\nrules: ${dir}/lab/none.yaml\n`);
    await start();
    expect(inForce()).toHaveLength(3);
    write("lab/none.yaml", "rules: []\n");
    await until(() => inForce().length === 0);
  });
});

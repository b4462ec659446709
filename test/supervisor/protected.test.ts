/** No command changes a protected file without approval, whatever the policy saw of it. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunEvent } from "../../daemon/supervisor/types.ts";
import { admin, agent, answering, run, World } from "./world.ts";

let world: World;
let session: string;
const agents = () => join(world.worktree(), "AGENTS.md");
const content = () => readFileSync(agents(), "utf8");
const once = { answer: "approve", mode: "once" } as const;

beforeEach(async () => {
  world = new World();
  world.profile = "extends: dev\napprovalWait: 5s\npolicy: {protectedFiles: ['deploy/**']}\n";
  await world.start();
  world.write(agents(), "be kind\n");
  session = await world.open();
});
afterEach(() => world.end());

/** Runs a line whose program does this. */
async function does(line: string, effect: () => unknown, on?: (event: RunEvent) => Promise<void>) {
  world.programs.set(line, async () => {
    await effect();
    return 0;
  });
  const { events, last } = await run(world, session, line, on ? { on } : {});
  expect(last).toMatchObject({ type: "exit", exitCode: 0 });
  return events.flatMap((event) =>
    event.type === "note" && event.code === "protected_restored" ? event.paths : [],
  );
}

test("project code that writes one is undone, told, recorded, and what it wrote is kept", async () => {
  const evil = () => world.write(agents(), "be evil\n");
  expect(await does("node x.js", evil)).toEqual([agents()]);
  expect(content()).toBe("be kind\n");
  expect(world.recorded("protected.restored")).toEqual([
    [
      "protected.restored",
      expect.objectContaining({ path: "AGENTS.md", change: "changed", restored: true }),
    ],
  ]);
});

test("a new one, the profile's and a nested repository's config too", async () => {
  const names = ["sub/CLAUDE.md", "deploy/prod.yaml", "lib/.git/config"];
  const paths = names.map((name) => join(world.worktree(), name));
  const told = await does("node new.js", () => {
    for (const path of paths) world.write(path, "x");
  });
  expect([...told].sort()).toEqual([...paths].sort());
  expect(paths.filter((path) => existsSync(path))).toEqual([]);
});

test("what the host's git config runs out of the worktree, also when it was told so only now", async () => {
  const hook = join(world.worktree(), "tools/hooks/post-checkout");
  world.write(hook, "the owner's\n");
  execFileSync("git", ["init", "-q"], { cwd: world.worktree() });
  await does("node nothing.js", () => undefined);
  const git = ["config", "-f", ".git/config", "core.hooksPath", "tools/hooks"];
  execFileSync("git", git, { cwd: world.worktree() });
  await does("node nothing.js", () => undefined);
  expect(await does("node x.js", () => world.write(hook, "evil\n"))).toEqual([hook]);
  expect(readFileSync(hook, "utf8")).toBe("the owner's\n");
});

test("while the program goes on, it does not live under its own instructions for long", async () => {
  await does("node long.js", async () => {
    world.write(agents(), "be evil\n");
    await expect.poll(content, { timeout: 4_000 }).toBe("be kind\n");
  });
});

test("what a command left in the background is no owner: undone while it goes on, and at its end", async () => {
  let write: () => void = () => undefined;
  const writing = new Promise<void>((resolve) => {
    write = resolve;
  });
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const said: string[] = [];
  world.programs.set("node serve.js", ({ leave }) => {
    const work = async () => {
      await writing;
      world.write(agents(), "be evil\n");
      await expect.poll(content, { timeout: 4_000 }).toBe("be kind\n");
      said.push("undone while it went on");
      await finished;
      world.write(agents(), "be evil after all\n");
    };
    leave(work());
    return 0;
  });
  const { last } = await run(world, session, "node serve.js");
  expect(last).toMatchObject({ type: "exit", left: 1 });
  write();
  await expect.poll(() => said, { timeout: 8_000 }).toEqual(["undone while it went on"]);
  finish();
  await expect.poll(() => world.recorded("job.ended").length).toBe(1);
  await does("node nothing.js", () => undefined);
  expect(content()).toBe("be kind\n");
  expect(world.recorded("protected.accepted")).toEqual([]);
  // From here on it is the owner's again.
  world.write(agents(), "be kinder\n");
  await does("node nothing.js", () => undefined);
  expect(content()).toBe("be kinder\n");
});

test("C5: a closing check that the daemon runs is looked after like a command: it runs what the agent wrote", async () => {
  const { authority } = world.supervisor;
  await authority.setContract(admin(), { project: "web", worktree: "one", text: CHECKED });
  const asked = { rule: "docs", reason: "the task" };
  await authority.request(agent(), session, asked, new AbortController().signal);
  world.programs.set("make check", () => {
    world.write(agents(), "be evil\n");
    return 1;
  });
  const seen = await authority.check(agent(), session, "tests");
  expect(seen).toMatchObject({ fired: false, exitCode: 1 });
  expect(content()).toBe("be kind\n");
  expect(world.recorded("protected.restored").length).toBe(1);
  await does("cat docs/a.md", () => undefined);
  expect([content(), world.recorded("protected.accepted")]).toEqual(["be kind\n", []]);
});

const CHECKED = `task: docs
envelope:
  - {effect: read, paths: ["**"]}
grants:
  docs: {effect: write, paths: ["docs/**"], closes: [tests]}
closures:
  tests: {command: [make, check]}
`;

test("what a person approved by that name is accepted, and holds", async () => {
  const line = "echo be kinder > AGENTS.md";
  const told = await does(line, () => world.write(agents(), "be kinder\n"), answering(world, once));
  expect([told, content()]).toEqual([[], "be kinder\n"]);
  await does("node x.js", () => world.write(agents(), "be evil\n"));
  expect(content()).toBe("be kinder\n");
});

test("an approval of one file is none of another", async () => {
  const claude = join(world.worktree(), "CLAUDE.md");
  const line = "echo be kinder > AGENTS.md";
  const told = await does(
    line,
    () => {
      world.write(agents(), "be kinder\n");
      world.write(claude, "be evil\n");
    },
    answering(world, once),
  );
  expect([told, content(), existsSync(claude)]).toEqual([[claude], "be kinder\n", false]);
});

test("with another command at work an approved change is not believed: it may be the other's", async () => {
  let end: () => void = () => undefined;
  const other = does("node wait.js", () => new Promise<void>((resolve) => (end = resolve)));
  await expect.poll(() => world.ran.length).toBe(1);
  const line = "echo be kinder > AGENTS.md";
  const told = await does(line, () => world.write(agents(), "be kinder\n"), answering(world, once));
  expect([told, content()]).toEqual([[agents()], "be kind\n"]);
  end();
  await other;
});

test("the owner's edit while nothing runs is the new content", async () => {
  await does("node nothing.js", () => undefined);
  world.write(agents(), "the owner's\n");
  rmSync(join(world.worktree(), "file.txt"));
  expect(await does("node nothing.js", () => undefined)).toEqual([]);
  expect(await does("node x.js", () => world.write(agents(), "be evil\n"))).toEqual([agents()]);
  expect(content()).toBe("the owner's\n");
});

test("after a crash in the middle of a command the change counts as the command's", async () => {
  await does("node nothing.js", () => undefined);
  let end: () => void = () => undefined;
  world.programs.set(
    "node wait.js",
    () => new Promise<number>((resolve) => (end = () => resolve(0))),
  );
  const lost = run(world, session, "node wait.js").catch(() => undefined);
  await expect.poll(() => world.ran.length).toBe(2);
  await world.restart();
  writeFileSync(agents(), "be evil\n");
  session = await world.open();
  expect(await does("node nothing.js", () => undefined)).toEqual([agents()]);
  expect(content()).toBe("be kind\n");
  end();
  await lost;
});

test("reading is not slowed down by it", async () => {
  world.write(agents(), "x\n");
  await run(world, session, "ls");
  expect(existsSync(join(world.folder, "state/protected"))).toBe(true);
  expect(world.recorded("protected.accepted", "protected.restored")).toEqual([]);
});

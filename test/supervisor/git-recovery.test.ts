/** Imports that a daemon did not live to record, at the supervisor's next start. */
import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { admin, agent, OWNER, World } from "./world.ts";

describe.skipIf(process.getuid?.() !== 0)("an import without an end on record", () => {
  let world: World;
  const git = (...words: string[]): string =>
    execFileSync("git", words, {
      cwd: world.worktree(),
      uid: OWNER,
      gid: OWNER,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: "/nonexistent",
        GIT_AUTHOR_NAME: "h",
        GIT_AUTHOR_EMAIL: "h@h",
        GIT_COMMITTER_NAME: "h",
        GIT_COMMITTER_EMAIL: "h@h",
      },
      encoding: "utf8",
    }).trim();

  beforeEach(async () => {
    world = new World();
    await world.start();
    chmodSync(world.folder, 0o755);
    git("init", "-q", "-b", "work");
    git("commit", "-q", "--allow-empty", "-m", "one");
    const dotGit = join(world.worktree(), ".git");
    await world.gits.prepare({
      key: "k",
      project: "web",
      worktree: world.worktree(),
      repository: { commonDir: dotGit, gitDir: dotGit },
      user: { uid: OWNER, gid: OWNER },
      objectsInside: "/run/objects",
    });
  });
  afterEach(() => world.end());

  function intend(commit: string): void {
    const old = git("rev-parse", "HEAD");
    const ref = "refs/heads/work";
    const data = { action: "a-1", key: "k", worktree: world.worktree(), ref, old, commit };
    const from = { ref, commit: old };
    const event = "git.import.intended" as const;
    world.journal?.append({ event, project: "web", data: { ...data, from } });
  }

  test("is finished when the branch has moved, and can be undone", async () => {
    const tree = git("rev-parse", "HEAD^{tree}");
    const commit = git("commit-tree", "-p", "HEAD", "-m", "two", tree);
    intend(commit);
    git("update-ref", "refs/heads/work", commit);
    await world.restart();
    expect(world.recorded("git.imported", "git.left")).toEqual([
      ["git.imported", expect.objectContaining({ commit, recovered: true })],
    ]);
    const [entry] = world.journal?.read({ events: ["git.imported"] }) ?? [];
    await world.supervisor.git.undo(admin(), entry?.seq ?? 0);
    expect(git("log", "--format=%s")).toBe("one");
    expect(await world.supervisor.git.status(admin(), "web")).toMatchObject([
      { worktree: world.worktree(), host: "work", sandbox: "work", own: [], left: null },
    ]);
  });

  test("never came to it when the branch has not moved, and that is said once", async () => {
    intend("1".repeat(40));
    await world.restart();
    await world.restart();
    expect(world.recorded("git.imported", "git.left")).toEqual([
      ["git.left", expect.objectContaining({ action: "a-1" })],
    ]);
  });

  test("is an admin's business alone", async () => {
    const { supervisor } = world;
    await expect(supervisor.git.undo(agent(), 1)).rejects.toMatchObject({ code: "not-permitted" });
    await expect(supervisor.git.status(agent())).rejects.toMatchObject({ code: "not-permitted" });
    await expect(supervisor.git.undo(admin(), 1)).rejects.toMatchObject({ code: "not-found" });
  });
});

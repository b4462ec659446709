/** The repository that is mounted is the worktree's own, whatever the worktree claims. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { gitRepository } from "../../daemon/sandbox/git-dir.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "recinto-git-")));
afterAll(() => rmSync(base, { recursive: true }));
const root = join(base, "project");
const worktree = join(root, ".worktrees/dev");
const other = join(root, ".worktrees/other");

function git(...args: string[]): void {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
  execFileSync("git", ["-C", root, ...identity, ...args], { stdio: "pipe" });
}

beforeEach(() => {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root);
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", "first");
  git("worktree", "add", "-q", "-b", "dev", worktree);
  git("worktree", "add", "-q", "-b", "other", other);
});

const point = (gitDir: string) => writeFileSync(join(worktree, ".git"), `gitdir: ${gitDir}\n`);

test("a linked worktree has the repository it is registered in", async () => {
  expect(await gitRepository(worktree)).toEqual({
    commonDir: join(root, ".git"),
    gitDir: join(root, ".git/worktrees/dev"),
    dotGit: "file",
  });
});

test("a relative pointer means the same", async () => {
  point("../../.git/worktrees/dev");
  expect(await gitRepository(worktree)).toEqual({
    commonDir: join(root, ".git"),
    gitDir: join(root, ".git/worktrees/dev"),
    dotGit: "file",
  });
});

test("a plain repository has its own", async () => {
  const gitDir = join(root, ".git");
  expect(await gitRepository(root)).toEqual({ commonDir: gitDir, gitDir, dotGit: "folder" });
});

test.each<[string, () => void, string]>([
  ["a folder of the host", () => point("/etc"), "not the git folder of a linked worktree"],
  [
    "another worktree's git folder",
    () => point(join(root, ".git/worktrees/other")),
    "does not lead back",
  ],
  [
    "the repository itself",
    () => point(join(root, ".git")),
    "not the git folder of a linked worktree",
  ],
  [
    "a pointer that is a link",
    () => relink(join(worktree, ".git"), join(other, ".git")),
    "neither a file",
  ],
  ["nothing", () => rmSync(join(worktree, ".git")), "no .git"],
  ["no pointer", () => writeFileSync(join(worktree, ".git"), "hello\n"), "does not name"],
  [
    "a pointer with more after it",
    () => writeFileSync(join(worktree, ".git"), "gitdir: /a\nb\n"),
    "does not name",
  ],
])("a worktree that claims %s gets none", async (_, claim, reason) => {
  claim();
  expect(await gitRepository(worktree)).toMatchObject({
    commonDir: null,
    reason: expect.stringContaining(reason),
  });
});

test("a repository made up inside the worktree gets none", async () => {
  const fake = forge(join(worktree, "fake"));
  point(fake);
  expect(await gitRepository(worktree)).toMatchObject({ commonDir: null });
});

test("a repository made up in another agent's worktree gets none", async () => {
  const fake = forge(join(other, "fake"));
  point(fake);
  expect(await gitRepository(worktree, (folder) => folder.startsWith(other))).toMatchObject({
    commonDir: null,
    reason: expect.stringContaining("agents can write"),
  });
});

test("a folder that is no repository gets none, though it leads back", async () => {
  const fake = join(base, "outside/worktrees/x");
  mkdirSync(fake, { recursive: true });
  writeFileSync(join(fake, "gitdir"), `${join(worktree, ".git")}\n`);
  point(fake);
  expect(await gitRepository(worktree)).toMatchObject({
    reason: expect.stringContaining("does not look like a git repository"),
  });
});

function forge(commonDir: string): string {
  cpSync(join(root, ".git"), commonDir, { recursive: true });
  const own = join(commonDir, "worktrees/dev");
  writeFileSync(join(own, "gitdir"), `${join(worktree, ".git")}\n`);
  return own;
}

function relink(path: string, target: string): void {
  rmSync(path);
  symlinkSync(target, path);
}

/** Repository and branch of a worktree, read from files the agent may have written. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitLayout } from "../../daemon/worktree/git-dir.ts";
import { scratchFolder } from "./scratch-folder.ts";

function git(cwd: string, ...words: string[]): void {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
  execFileSync("git", [...who, ...words], { cwd, stdio: "pipe" });
}

function repository(): { main: string; linked: string } {
  const main = join(scratchFolder(), "shop");
  mkdirSync(main);
  git(main, "init", "-q", "-b", "trunk");
  git(main, "commit", "-q", "--allow-empty", "-m", "first");
  git(main, "worktree", "add", "-q", "-b", "feat/x", ".worktrees/a");
  return { main, linked: join(main, ".worktrees/a") };
}

test("a main repository and a linked worktree are told apart", () => {
  const { main, linked } = repository();
  const commonDir = join(main, ".git");
  expect(gitLayout(main)).toEqual({ kind: "own", gitDir: commonDir, commonDir });
  expect(gitLayout(linked)).toEqual({
    kind: "linked",
    gitDir: join(commonDir, "worktrees/a"),
    commonDir,
  });
});

test("no repository", () => {
  const folder = scratchFolder();
  expect(gitLayout(folder)).toEqual({ kind: "none" });
});

test("a pointer that is not git's own is reported", () => {
  const { main, linked } = repository();
  const dotGit = join(linked, ".git");
  const own = join(main, ".git/worktrees/a");
  const forged = join(linked, "forged/worktrees/a");
  mkdirSync(forged, { recursive: true });
  writeFileSync(join(forged, "gitdir"), `${dotGit}\n`);
  writeFileSync(join(forged, "commondir"), "../..\n");
  writeFileSync(join(forged, "HEAD"), "ref: refs/heads/harmless\n");
  git(main, "worktree", "add", "-q", "-b", "other", ".worktrees/b");
  const attempts: [string | null, string][] = [
    [`gitdir: ${forged}\n`, `.git names ${forged}, where agents can write`],
    ["gitdir: forged/worktrees/a\n", `.git names ${forged}, where agents can write`],
    [
      `gitdir: ${main}/.git/worktrees/b\n`,
      `.git names ${main}/.git/worktrees/b, which is not of this worktree: it does not lead back`,
    ],
    [
      `gitdir: ${main}/.git\n`,
      `.git names ${main}/.git, which is not the git folder of a linked worktree`,
    ],
    [`gitdir: ${own}\nand more\n`, ".git is neither a folder nor a pointer of git's"],
    [`gitdir: ${"x".repeat(5000)}\n`, ".git is neither a folder nor a pointer of git's"],
    ["nothing\n", ".git is neither a folder nor a pointer of git's"],
    [null, ".git is neither a folder nor a pointer of git's"],
  ];
  for (const [text, reason] of attempts) {
    rmSync(dotGit);
    if (text === null) symlinkSync(join(main, ".git"), dotGit);
    else writeFileSync(dotGit, text);
    expect(gitLayout(linked)).toEqual({ kind: "untrusted", reason });
  }
});

/** What is read from a worktree is read without believing it: branch, local programs, content, real paths. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BOUND_CONTENT_BYTES_MAX } from "../../daemon/limits.ts";
import { contentHash } from "../../daemon/supervisor/content-hash.ts";
import { differences } from "../../daemon/supervisor/differences.ts";
import { branchOf } from "../../daemon/supervisor/git-branch.ts";
import { localBins } from "../../daemon/supervisor/local-bins.ts";
import type { BoundFacts } from "../../daemon/supervisor/types.ts";

let root: string;
let worktree: string;

beforeEach(() => {
  root = mkdtempSync("/var/tmp/recinto-facts-");
  worktree = join(root, ".worktrees", "one");
});

afterEach(() => rmSync(root, { recursive: true }));

const project = () => ({ root, worktrees: ".worktrees/*" });

function git(...words: string[]): void {
  execFileSync("git", words, {
    cwd: root,
    stdio: "ignore",
    env: {
      PATH: process.env.PATH,
      HOME: root,
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@b",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@b",
    },
  });
}

describe("branch", () => {
  beforeEach(() => {
    git("init", "-q", "-b", "main");
    git("commit", "-q", "--allow-empty", "-m", "x");
    git("worktree", "add", "-q", "-b", "feature/x", worktree);
  });

  test("of a linked worktree and of a main one, detached or not", () => {
    expect(branchOf(project(), worktree)).toBe("feature/x");
    expect(branchOf({ root, worktrees: "." }, root)).toBe("main");
    git("-C", worktree, "checkout", "-q", "--detach");
    expect(branchOf(project(), worktree)).toBeNull();
  });

  test("is not known where an agent could have made what says so", () => {
    const pointer = readFileSync(join(worktree, ".git"), "utf8");
    const forged = join(worktree, "forged");
    mkdirSync(forged);
    writeFileSync(join(forged, "HEAD"), "ref: refs/heads/harmless\n");
    writeFileSync(join(forged, "gitdir"), `${join(worktree, ".git")}\n`);
    const says = (text: string) => {
      writeFileSync(join(worktree, ".git"), text);
      return branchOf(project(), worktree);
    };
    expect(says(`gitdir: ${forged}\n`)).toBeUndefined();
    // A colluding worktree's folder.
    const two = join(root, ".worktrees", "two");
    mkdirSync(two);
    writeFileSync(join(two, "HEAD"), "ref: refs/heads/harmless\n");
    writeFileSync(join(two, "gitdir"), `${join(worktree, ".git")}\n`);
    expect(says(`gitdir: ${two}\n`)).toBeUndefined();
    // The main repository: its HEAD is not this worktree's.
    expect(says(`gitdir: ${join(root, ".git")}\n`)).toBeUndefined();
    // Another worktree's git folder, which points back to that one.
    git("worktree", "add", "-q", "-b", "other", join(root, ".worktrees", "three"));
    expect(says(`gitdir: ${join(root, ".git", "worktrees", "three")}\n`)).toBeUndefined();
    expect(says("gitdir: ")).toBeUndefined();
    expect(says("x".repeat(10_000))).toBeUndefined();
    expect(says(pointer)).toBe("feature/x");
    rmSync(join(worktree, ".git"));
    symlinkSync("/etc/hostname", join(worktree, ".git"));
    expect(branchOf(project(), worktree)).toBeUndefined();
    rmSync(join(worktree, ".git"));
    expect(branchOf(project(), worktree)).toBeUndefined();
  });
});

test("local programs are those from the folder up to the worktree, and no further", () => {
  const add = (folder: string, name: string) => {
    mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
    writeFileSync(join(folder, "node_modules", ".bin", name), "");
  };
  add(join(worktree, "packages", "a"), "vitest");
  add(worktree, "tsc");
  add(root, "evil");
  expect(localBins(worktree, join(worktree, "packages", "a"))).toEqual(["tsc", "vitest"]);
  expect(localBins(worktree, worktree)).toEqual(["tsc"]);
  expect(localBins(worktree, "/")).toEqual(["tsc"]);
  expect(localBins(worktree, `${worktree}-old`)).toEqual(["tsc"]);
});

describe("content", () => {
  beforeEach(() => mkdirSync(worktree, { recursive: true }));

  test("is a hash of a plain file, and nothing for anything else", async () => {
    const file = join(worktree, "run.sh");
    writeFileSync(file, "abc");
    expect(await contentHash(file)).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    symlinkSync(file, join(worktree, "link"));
    execFileSync("mkfifo", [join(worktree, "fifo")]);
    for (const name of ["link", "fifo", "none", "."]) {
      expect(await contentHash(join(worktree, name))).toBeNull();
    }
  });

  test("of a huge file is bound by what changes with it", async () => {
    const file = join(worktree, "huge");
    execFileSync("truncate", ["-s", String(BOUND_CONTENT_BYTES_MAX + 1), file]);
    const before = await contentHash(file);
    expect(before).toMatch(/^unhashed:/);
    writeFileSync(file, "x", { flag: "r+" });
    expect(await contentHash(file)).not.toBe(before);
  });
});

test("differences are told one by one, and none where nothing changed", () => {
  const shown: BoundFacts = {
    branch: "a",
    realpath: { "/w/x": "/w/x", "/w/gone": "/w/gone" },
    content: { "/w/s": "1", "/w/new": null, "/w/old": "2" },
  };
  expect(differences(shown, structuredClone(shown))).toEqual([]);
  expect(
    differences(shown, {
      branch: null,
      realpath: { "/w/x": "/etc", "/w/gone": null },
      content: { "/w/s": "9", "/w/new": "3", "/w/old": null },
    }),
  ).toEqual([
    "the branch was a, now it is detached",
    "/w/gone led to /w/gone, now to nothing",
    "/w/x led to /w/x, now to /etc",
    "/w/new was not there, now it is",
    "/w/old is not there any more",
    "the content of /w/s changed",
  ]);
});

/** Unified diffs: what git and diff make is applied to the byte, and whatever does not fit changes nothing. */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { FileRoot } from "../../daemon/worktree/files/file-root.ts";
import { applyPatch } from "../../daemon/worktree/files/patching.ts";
import { readPatch } from "../../daemon/worktree/files/unified-diff.ts";
import { scratchFolder } from "./scratch-folder.ts";

const OWNER = 61_003;
let folder: string;
let root: FileRoot;

beforeEach(() => {
  folder = join(scratchFolder(), "wt");
  mkdirSync(folder);
  own(folder);
  root = FileRoot.open(folder);
  onTestFinished(() => root.close());
});

function own(path: string): void {
  if (process.getuid?.() === 0) chownSync(path, OWNER, OWNER);
}

function put(name: string, text: string): void {
  const path = join(folder, name);
  if (!existsSync(dirname(path))) {
    mkdirSync(dirname(path));
    own(dirname(path));
  }
  writeFileSync(path, text, "latin1");
  own(path);
}

const got = (name: string) => readFileSync(join(folder, name), "latin1");

function apply(patch: string, strip = 1) {
  const patches = readPatch(patch, strip);
  return applyPatch(
    root,
    patches.map((each) => ({ patch: each, from: each.from, to: each.to })),
  );
}

async function refusal(patch: string): Promise<string> {
  const before = state();
  try {
    await apply(patch);
  } catch (error) {
    expect(state()).toEqual(before);
    if (error instanceof RecintoError) return error.code;
    throw error;
  }
  return "applied";
}

function state(): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => lstatSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, got(name)]));
}

test("a commit of git's: changed, made, deleted, renamed, executable, without a last line end", async () => {
  const repo = scratchFolder();
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", repo, "-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      encoding: "latin1",
    });
  const write = (name: string, text: string) => writeFileSync(join(repo, name), text, "latin1");
  const lines = Array.from({ length: 60 }, (_, i) => `line ${i}\n`);
  git("init", "-q");
  write("deleted", "gone\n");
  for (const name of ["changed", "renamed", "run"]) write(name, `${name}\n${lines.join("")}`);
  write("bytes", "\xfc\xff latin1\nend");
  git("add", ".");
  git("commit", "-q", "-m", "first");
  for (const name of ["changed", "renamed", "deleted", "run", "bytes"])
    put(name, readFileSync(join(repo, name), "latin1"));

  write(
    "changed",
    `changed\n${lines.slice(0, 10).join("")}in the middle\n${lines.slice(11, 50).join("")}end`,
  );
  write("bytes", "\xfc\xff latin1\nchanged \xe9\nend");
  mkdirSync(join(repo, "new folder"));
  write("new folder/ü", "made\n");
  write("empty", "");
  git("rm", "-q", "deleted");
  git("mv", "renamed", "moved");
  write("moved", `moved\n${lines.join("")}`);
  execFileSync("chmod", ["+x", join(repo, "run")]);
  git("add", ".");
  const patch = git("diff", "--cached", "-M");
  const done = await apply(patch);
  expect(done.map(({ path, change }) => [path, change]).sort()).toEqual([
    ["bytes", "changed"],
    ["changed", "changed"],
    ["deleted", "deleted"],
    ["empty", "made"],
    ["moved", "renamed"],
    [Buffer.from("new folder/ü").toString("latin1"), "made"],
    ["run", "changed"],
  ]);
  for (const name of ["changed", "bytes", "moved", "empty", "new folder/ü", "run"]) {
    expect(got(name)).toBe(readFileSync(join(repo, name), "latin1"));
  }
  expect([existsSync(join(folder, "deleted")), existsSync(join(folder, "renamed"))]).toEqual([
    false,
    false,
  ]);
  expect(lstatSync(join(folder, "run")).mode & 0o111).not.toBe(0);
  expect(readdirSync(folder).filter((name) => name.startsWith(".recinto"))).toEqual([]);
});

test("a hunk whose lines moved is found, the nearest one", async () => {
  put("a", "x\ny\nx\ny\nnew\nx\ny\n");
  await apply("--- a/a\n+++ b/a\n@@ -3,2 +3,2 @@\n x\n-y\n+Y\n");
  expect(got("a")).toBe("x\ny\nx\nY\nnew\nx\ny\n");
});

describe("nothing changes when", () => {
  const GOOD = "--- a/good\n+++ b/good\n@@ -1 +1 @@\n-old\n+new\n";
  beforeEach(() => {
    put("good", "old\n");
    put("other", "other\n");
  });
  test.each([
    [
      "the last file does not fit",
      `${GOOD}--- a/other\n+++ b/other\n@@ -1 +1 @@\n-wrong\n+x\n`,
      "patch-conflict",
    ],
    [
      "a file is not there",
      `${GOOD}--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n`,
      "file-not-found",
    ],
    [
      "a new file is there already",
      `${GOOD}--- /dev/null\n+++ b/other\n@@ -0,0 +1 @@\n+x\n`,
      "file-exists",
    ],
    [
      "a deleted file has more in it",
      `${GOOD}--- a/other\n+++ /dev/null\n@@ -1 +0,0 @@\n-oth\n`,
      "patch-conflict",
    ],
    [
      "a folder stands in the way",
      `${GOOD}--- /dev/null\n+++ b/dir\n@@ -0,0 +1 @@\n+x\n`,
      "file-exists",
    ],
    [
      "a way leads through a file",
      `${GOOD}--- /dev/null\n+++ b/other/x\n@@ -0,0 +1 @@\n+x\n`,
      "file-kind",
    ],
    ["a file is changed twice", GOOD + GOOD, "bad-patch"],
    ["it is empty", "\n", "bad-patch"],
    ["it is prose", "please change the file\n", "bad-patch"],
    ["it is cut off", "--- a/good\n+++ b/good\n@@ -1,3 +1,3 @@\n-old\n", "bad-patch"],
    ["a hunk has no head", "--- a/good\n+++ b/good\n-old\n+new\n", "bad-patch"],
    [
      "something stands between",
      `${GOOD}rm -rf /\n${GOOD.replaceAll("good", "other")}`,
      "bad-patch",
    ],
    [
      "it is binary",
      "diff --git a/good b/good\nindex 1..2 100644\nGIT binary patch\nliteral 0\n",
      "bad-patch",
    ],
    [
      "it makes a link",
      "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
      "bad-patch",
    ],
    ["no name is left", "--- good\n+++ good\n@@ -1 +1 @@\n-old\n+new\n", "bad-patch"],
  ])("%s", async (_, patch, code) => {
    mkdirSync(join(folder, "dir"));
    expect(await refusal(patch)).toBe(code);
  });
});

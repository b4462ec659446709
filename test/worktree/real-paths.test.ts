/** Real-path facts on a real disk (A2), and that nothing is opened for them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REAL_PATHS_MAX } from "../../daemon/limits.ts";
import { realPathFacts } from "../../daemon/worktree/real-paths.ts";
import { scratchFolder } from "./scratch-folder.ts";

test("A2: each path is said to lead where the sandbox would find it", () => {
  const top = scratchFolder();
  const wt = join(top, "wt");
  mkdirSync(join(wt, "src"), { recursive: true });
  mkdirSync(join(top, "other"));
  writeFileSync(join(wt, "src/a"), "");
  symlinkSync("src", join(wt, "alias"));
  symlinkSync("/etc", join(wt, "etc"));
  symlinkSync("../other", join(wt, "other"));
  symlinkSync("loop", join(wt, "loop"));
  symlinkSync("gone", join(wt, "dangling"));
  symlinkSync("/etc", join(top, "other/image"));
  const paths = [
    "src/a",
    "src/none",
    "alias/a",
    "alias/new",
    "etc/passwd",
    "other/image/passwd",
    "loop",
    "dangling",
    "alias/../src/a",
  ].map((path) => `${wt}/${path}`);
  expect(realPathFacts([...paths, "/usr/bin/env"], { roots: [wt] })).toEqual({
    [`${wt}/src/a`]: `${wt}/src/a`,
    [`${wt}/src/none`]: null,
    [`${wt}/alias/a`]: `${wt}/src/a`,
    // Nothing there yet, but writing it would make it elsewhere than it is spelled.
    [`${wt}/alias/new`]: `${wt}/src/new`,
    [`${wt}/etc/passwd`]: "/etc/passwd",
    // `other` is not mounted: in the sandbox there is no link `image` to follow.
    [`${wt}/other/image/passwd`]: `${top}/other/image/passwd`,
    [`${wt}/loop`]: null,
    [`${wt}/dangling`]: `${wt}/gone`,
    [`${wt}/alias/../src/a`]: `${wt}/src/a`,
    "/usr/bin/env": "/usr/bin/env",
  });
  expect(realPathFacts([`${wt}/other/image/passwd`], { roots: [top] })).toEqual({
    [`${wt}/other/image/passwd`]: "/etc/passwd",
  });
});

test("names that are not ASCII, and names no file can have", () => {
  const wt = scratchFolder();
  symlinkSync("/etc", join(wt, "naïve"));
  expect(realPathFacts([`${wt}/naïve/x`, `${wt}/a\0b`, "relative"], { roots: [wt] })).toEqual({
    [`${wt}/naïve/x`]: "/etc/x",
    [`${wt}/a\0b`]: null,
    relative: null,
  });
});

test("a FIFO is looked at and not opened, which would hang", () => {
  const wt = scratchFolder();
  execFileSync("mkfifo", [join(wt, "pipe")]);
  expect(realPathFacts([`${wt}/pipe`], { roots: [wt] })).toEqual({ [`${wt}/pipe`]: `${wt}/pipe` });
});

test("more paths than a command can name are refused, not looked up for ever", () => {
  const paths = Array.from({ length: REAL_PATHS_MAX + 1 }, (_, n) => `/w/${n}`);
  expect(() => realPathFacts(paths, { roots: ["/w"] })).toThrow("more than 8192 paths");
});

/** Opening below a root: what can be reached, and that a link swapped in at any moment leads nowhere. */
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { hashFile } from "../../daemon/worktree/safe-open.ts";
import { scratchFolder } from "./scratch-folder.ts";

const sha = (text: string) => createHash("sha256").update(text).digest("hex");

test("a file is hashed by name, through links that stay inside, and not through any other", async () => {
  const top = scratchFolder();
  const root = join(top, "wt");
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "src/run.sh"), "echo hi\n");
  writeFileSync(join(top, "secret"), "secret");
  symlinkSync("src/run.sh", join(root, "inside"));
  symlinkSync(join(root, "src"), join(root, "absolute"));
  symlinkSync("../secret", join(root, "out"));
  symlinkSync(top, join(root, "top"));
  execFileSync("mkfifo", [join(root, "pipe")]);
  const names = ["src/run.sh", "./src/../src/run.sh", "inside", "absolute/run.sh"];
  for (const name of names) expect(await hashFile(root, name)).toBe(sha("echo hi\n"));
  const others = [
    "out",
    "top/secret",
    "../secret",
    join(top, "secret"),
    "src",
    "",
    "none",
    "pipe",
    "a\0",
  ];
  for (const name of others) expect(await hashFile(root, name), name).toBeNull();
});

test("a root that is a link is refused", async () => {
  const top = scratchFolder();
  mkdirSync(join(top, "real"));
  writeFileSync(join(top, "real/a"), "x");
  symlinkSync("real", join(top, "link"));
  expect(await hashFile(join(top, "link"), "a")).toBeNull();
  expect(await hashFile(join(top, "real"), "a")).toBe(sha("x"));
});

test("a file too long to hash is bound by what its owner cannot set back", async () => {
  const root = scratchFolder();
  writeFileSync(join(root, "huge"), "");
  truncateSync(join(root, "huge"), 300 * 1024 * 1024);
  const before = await hashFile(root, "huge");
  expect(before).toMatch(/^stat:\d+:\d+:314572800:\d+$/);
  execFileSync("touch", ["-d", "2001-01-01", join(root, "huge")]);
  expect(await hashFile(root, "huge")).not.toBe(before);
});

test("a link swapped in while it is opened never reads outside", async () => {
  const top = scratchFolder();
  const root = join(top, "wt");
  mkdirSync(join(root, "inner"), { recursive: true });
  mkdirSync(join(top, "outer"));
  writeFileSync(join(root, "inner/f"), "inside");
  writeFileSync(join(top, "outer/f"), "outside");
  symlinkSync("../outer", join(root, "link"));
  // The folder and the link to outside change places as fast as another process can do it.
  const swapping = `
    const { renameSync } = require("node:fs");
    const root = process.argv[1];
    for (const end = Date.now() + 1500; Date.now() < end; ) {
      renameSync(root + "/inner", root + "/held");
      renameSync(root + "/link", root + "/inner");
      renameSync(root + "/inner", root + "/link");
      renameSync(root + "/held", root + "/inner");
    }`;
  const swapped = promisify(execFile)(process.execPath, ["-e", swapping, root]);
  let over = false;
  void swapped.finally(() => {
    over = true;
  });
  const seen = new Set<string | null>();
  while (!over) seen.add(await hashFile(root, "inner/f"));
  await swapped;
  expect([...seen].filter((hash) => hash !== null && hash !== sha("inside"))).toEqual([]);
  expect(seen).toEqual(new Set([null, sha("inside")]));
});

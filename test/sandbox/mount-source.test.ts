/** A folder is mounted only as itself: no link on the way, nothing the sandbox needs. */
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkMountSource } from "../../daemon/sandbox/mount-source.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "recinto-mount-")));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, "project/worktree"), { recursive: true });
symlinkSync("project", join(root, "link"));
symlinkSync("/etc", join(root, "project/etc"));
writeFileSync(join(root, "file"), "");

test("a plain folder is taken with its owner and identity", async () => {
  const path = join(root, "project/worktree");
  if (process.getuid?.() === 0) chownSync(path, 1234, 1235);
  const { uid, gid, dev, ino } = statSync(path);
  expect(await checkMountSource(path)).toEqual({ path, uid, gid, identity: `${dev}:${ino}` });
});

test.each([
  ["a link as the last part", () => join(root, "project/etc"), "is a symbolic link"],
  ["a link on the way", () => join(root, "link/worktree"), "is a symbolic link"],
  ["a file", () => join(root, "file"), "is not a folder"],
  ["what is not there", () => join(root, "none"), "ENOENT"],
  ["a relative path", () => "project/worktree", "not an absolute"],
  ["dots", () => `${root}/project/../project/worktree`, "not an absolute"],
  ["a slash at the end", () => `${root}/project/`, "not an absolute"],
])("%s is refused", async (_, path, why) => {
  await expect(checkMountSource(path())).rejects.toMatchObject({
    code: "worktree-refused",
    message: expect.stringContaining(why),
  });
});

test.each([
  "/etc",
  "/etc/x",
  "/proc/1/root",
  "/usr",
  "/usr/bin",
  "/home",
  "/home/agent",
  "/tmp",
  "/dev/shm",
  "/sys",
])("%s is refused: it would hide a part of the sandbox", async (path) => {
  await expect(checkMountSource(path)).rejects.toThrow("it would hide");
});

/** Opening below a root: what can be reached, and that a link swapped in at any moment leads nowhere. */
import { execFile, execFileSync } from "node:child_process";
import { closeSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openFile, openRoot } from "../../daemon/worktree/safe-open.ts";
import { scratchFolder } from "./scratch-folder.ts";

/** What is in the file, or the errno name of why it was not opened. */
function read(root: string, name: string): string {
  const folder = openRoot(root);
  if (folder.fd === undefined) return folder.errno;
  const file = openFile(folder.fd, name);
  closeSync(folder.fd);
  if (file.fd === undefined) return file.errno;
  const text = readFileSync(file.fd, "utf8");
  closeSync(file.fd);
  return text;
}

test("a file is opened by its name below the root, and through no link", () => {
  const top = scratchFolder();
  const root = join(top, "wt");
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "src/run.sh"), "echo hi\n");
  writeFileSync(join(top, "secret"), "secret");
  symlinkSync("src/run.sh", join(root, "inside"));
  symlinkSync(join(root, "src"), join(root, "absolute"));
  symlinkSync("../secret", join(root, "out"));
  symlinkSync(top, join(root, "top"));
  for (const name of ["src/run.sh", "./src/../src/run.sh"]) {
    expect(read(root, name)).toBe("echo hi\n");
  }
  const others = ["inside", "absolute/run.sh", "out", "top/secret"];
  expect(others.map((name) => read(root, name))).toEqual(others.map(() => "ELOOP"));
  expect([read(root, "../secret"), read(root, join(top, "secret"))]).toEqual(["EXDEV", "EXDEV"]);
  expect(read(root, "none")).toBe("ENOENT");
});

test("a FIFO is opened without waiting for who writes to it", () => {
  const root = scratchFolder();
  execFileSync("mkfifo", [join(root, "pipe")]);
  expect(read(root, "pipe")).toBe("");
});

test("a root that is a link is refused", () => {
  const top = scratchFolder();
  mkdirSync(join(top, "real"));
  writeFileSync(join(top, "real/a"), "x");
  symlinkSync("real", join(top, "link"));
  expect([read(join(top, "link"), "a"), read(join(top, "real"), "a")]).toEqual(["ELOOP", "x"]);
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
  const seen = new Set<string>();
  while (!over) {
    for (let i = 0; i < 100; i++) seen.add(read(root, "inner/f"));
    await setImmediate();
  }
  await swapped;
  expect(seen).toContain("inside");
  expect(
    [...seen].filter((text) => !["inside", "ENOENT", "ELOOP", "EAGAIN"].includes(text)),
  ).toEqual([]);
  // It was there at the wrong moment too, or nothing was shown.
  expect(seen.size).toBeGreaterThan(1);
});

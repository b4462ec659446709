/** Admin files: whatever somebody else could have written is refused, with the command that mends it. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { readAdminFile } from "../../daemon/settings/admin-file.ts";

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync("/tmp/recinto-admin-");
  file = join(dir, "config.yaml");
  writeFileSync(file, "runDir: /run/x\n", { mode: 0o644 });
});
afterEach(() => rmSync(dir, { recursive: true }));

function refusal(path = file): { code: string; message: string; hint: string } {
  try {
    readAdminFile(path);
  } catch (error) {
    if (!(error instanceof RecintoError)) throw error;
    const { code, message, hint } = error;
    return { code, message, hint };
  }
  throw new Error("it was read");
}

test("a file of ours that only we can write is read", () => {
  expect(readAdminFile(file)).toBe("runDir: /run/x\n");
});

test.each([0o666, 0o664, 0o646])("mode %o of the file is refused", (mode) => {
  chmodSync(file, mode);
  expect(refusal()).toEqual({
    code: "unsafe-admin-file",
    message: `${file} can be written by others (mode ${mode.toString(8)})`,
    hint: `chmod go-w ${file}`,
  });
});

test("a folder that others can write is refused, sticky or not", () => {
  for (const mode of [0o777, 0o1777]) {
    chmodSync(dir, mode);
    expect(refusal()).toEqual({
      code: "unsafe-admin-file",
      message: `${dir} can be written by others (mode ${mode.toString(8)})`,
      hint: `chmod go-w ${dir}`,
    });
  }
});

test("a folder further up that others can write is refused, unless it is sticky", () => {
  const inner = join(dir, "inner");
  mkdirSync(inner, { mode: 0o755 });
  const nested = join(inner, "x.yaml");
  writeFileSync(nested, "x", { mode: 0o644 });
  chmodSync(dir, 0o777);
  expect(refusal(nested).message).toBe(`${dir} can be written by others (mode 777)`);
  chmodSync(dir, 0o1777);
  expect(readAdminFile(nested)).toBe("x");
});

test("a link is refused, and so is what is no file", () => {
  const link = join(dir, "link.yaml");
  symlinkSync(file, link);
  expect(refusal(link)).toMatchObject({ code: "unsafe-admin-file", message: `${link} is a link` });
  expect(refusal(dir)).toMatchObject({ message: `${dir} is not a regular file` });
  const fifo = join(dir, "fifo.yaml");
  execFileSync("mkfifo", [fifo]);
  expect(refusal(fifo)).toMatchObject({ message: `${fifo} is not a regular file` });
});

test.runIf(process.getuid?.() === 0)("a file of another user is refused", () => {
  chownSync(file, 12345, 12345);
  expect(refusal()).toEqual({
    code: "unsafe-admin-file",
    message: `${file} belongs to uid 12345`,
    hint: `chown root ${file}`,
  });
});

test("what is missing, too long or no text is an error that names the file", () => {
  expect(refusal(join(dir, "none")).message).toBe(`${dir}/none: cannot be read (ENOENT)`);
  writeFileSync(file, Buffer.alloc(1024 * 1024 + 1, 0x20));
  expect(refusal().message).toContain("more than the 1048576 an admin file may have");
  writeFileSync(file, Buffer.from([0x61, 0xff]));
  expect(refusal().message).toBe(`${file}: is not UTF-8 text`);
});

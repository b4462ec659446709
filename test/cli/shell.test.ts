/** What `recinto-sh` answers by itself, before any daemon: help, mistakes in its words, and scripts that are none. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMAND_CHARS_MAX } from "../../daemon/limits.ts";
import { shell } from "./run-cli.ts";

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "recinto-sh-"));
});
afterAll(() => rmSync(cwd, { recursive: true }));

/** No daemon is anywhere near. */
const run = (words: string[], options: { input?: string | Buffer } = {}) =>
  shell(words, { cwd, env: { RECINTO_SOCKET: "", RECINTO_PROJECT: "" }, ...options });

test("help and version need no daemon", async () => {
  const help = await run(["--help"]);
  expect([help.code, help.err]).toEqual([0, ""]);
  for (const word of ["-c 'CODE'", "RECINTO_PROJECT", "RECINTO_SH_ENV", "126"]) {
    expect(help.out).toContain(word);
  }
  expect((await run(["--version"])).out).toMatch(/^recinto-sh, version \d+\.\d+\.\d+/);
});

test("an option that it does not take is exit 2, as for bash", async () => {
  const { code, out, err } = await run(["-O", "extglob", "-c", "ls"]);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toMatch(/^recinto-sh: -O: is not an option that recinto-sh takes\nusage: /);
});

test.each<[string, string | Buffer | null, number, RegExp]>([
  ["gone.sh", null, 127, /gone\.sh: No such file or directory/],
  [".", null, 126, /\.: Is a directory/],
  ["binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0]), 126, /binary: cannot execute binary file/],
  ["latin", Buffer.from("echo \xe9\n", "latin1"), 126, /latin: is not UTF-8/],
  ["long", "#".repeat(COMMAND_CHARS_MAX + 1), 126, /long: is longer than/],
])("the script %s is no code that can be run", async (name, content, code, message) => {
  if (content !== null) writeFileSync(join(cwd, name), content);
  const ran = await run([name]);
  expect([ran.code, ran.out]).toEqual([code, ""]);
  expect(ran.err).toMatch(message);
});

test("nothing to run asks nobody, and code is asked about by nobody in particular", async () => {
  expect(await run(["-c", "  \n"])).toEqual({ code: 0, out: "", err: "" });
  expect(await run([], { input: "" })).toEqual({ code: 0, out: "", err: "" });
  const lost = await run(["-c", "ls"]);
  expect(lost.code).toBe(64);
  expect(lost.err).toMatch(/^recinto: RECINTO_PROJECT is not set/);
});

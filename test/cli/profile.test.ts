/** `recinto profile check`: every mistake of a file at once, and what the daemon would say about where it lies. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cli } from "./run-cli.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync("/var/tmp/recinto-profile-");
});
afterAll(() => rmSync(folder, { recursive: true }));

function check(text: string, mode = 0o600) {
  const file = join(folder, `x${mode.toString(8)}.yaml`);
  rmSync(file, { force: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return { file, ran: cli(["profile", "check", file]) };
}

test("a good file is told with how many rules and verbs it has", async () => {
  const { file, ran } = check(`extends: default
policy:
  verbs: {migrate: {class: run}}
  rules: [{action: deny, pattern: npm publish *, justification: the pipeline does}]
`);
  expect(await ran).toMatchObject({ code: 0, err: "" });
  expect((await ran).out).toMatch(
    new RegExp(`^${file}: good; image recinto/base, 1 rule, 1 verb\n$`),
  );
});

test("all mistakes are listed, each with line, column and the value that was given", async () => {
  const { file, ran } = check("a: 1\nb: 2\ngit: maybe\n");
  const { code, err } = await ran;
  expect(code).toBe(78);
  expect(err.split("\n")).toEqual([
    `${file}:1:1: unknown key "a"`,
    `${file}:2:1: unknown key "b"`,
    expect.stringMatching(/:3:6: git: invalid option: expected one of .* \(it is "maybe"\)$/),
    `recinto: ${file}: 3 mistakes (mend each at the line and column named)`,
    "",
  ]);
});

test("an empty file is refused, with how one begins", async () => {
  for (const text of ["", "# later\n\n"]) {
    const { file, ran } = check(text);
    expect(await ran).toEqual({
      code: 78,
      out: "",
      err: `recinto: ${file} is empty (write \`extends: default\`, then what is different; docs/profiles.md has every key)\n`,
    });
  }
});

test("a file that others can write is checked, with a warning that the daemon would not read it", async () => {
  const { file, ran } = check("extends: default\n", 0o666);
  expect(await ran).toMatchObject({
    code: 0,
    err: `warning: ${file} can be written by others (mode 666): the daemon would not read it (chmod go-w ${file})\n`,
  });
});

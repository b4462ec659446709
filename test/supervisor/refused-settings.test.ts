/** A running daemon that cannot use an admin's edit says so where people look: in the journal and in health. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = new World();
  await world.start();
});

afterEach(() => world.end());

/** Nothing tells when the settings are being watched: the edit is made until it is seen. */
const OFTEN = { interval: 700, timeout: 10_000 };
const after = (file: string, text: string) => {
  writeFileSync(file, text);
  return problems();
};
const problems = async () => (await world.supervisor.health()).problems;

test("a profile that an edit broke is on record and in health until it is mended", async () => {
  expect(await problems()).toEqual([]);
  const file = join(world.folder, "profiles", "test.yaml");
  await expect
    .poll(() => after(file, "git: maybe\n"), OFTEN)
    .toEqual([expect.stringContaining(`${file}:1:6: git: `)]);
  expect(world.recorded("settings.refused")).toEqual([
    [
      "settings.refused",
      {
        file: "profile test",
        code: "bad-profile",
        message: expect.stringContaining(`${file}:1:6: git: `),
        hint: expect.stringContaining("recinto profile check"),
        kept: true,
      },
    ],
  ]);
  await expect.poll(() => after(file, world.profile), OFTEN).toEqual([]);
});

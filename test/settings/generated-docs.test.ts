/** The committed JSON Schema and reference page say what the schemas say today. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { profileFile } from "../../daemon/settings/profile-schema.ts";
import { profileJsonSchema, profilesPage } from "../../scripts/generate/profile-docs.ts";

const committed = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("profiles/profile.schema.json is current: npx tsx scripts/generate-docs.ts", () => {
  expect(committed("profiles/profile.schema.json")).toBe(profileJsonSchema());
});

test("docs/profiles.md is current: npx tsx scripts/generate-docs.ts", () => {
  expect(committed("docs/profiles.md")).toBe(profilesPage());
});

test("every field of a profile has a meaning in the reference", () => {
  const rows = profilesPage()
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => / \| \|$|\| {2}\|$|undefined/.test(row))).toEqual([]);
});

test("the YAML examples of the reference are profiles", () => {
  const examples = [...profilesPage().matchAll(/```yaml\n([\s\S]*?)```/g)];
  expect(examples.length).toBeGreaterThan(0);
  for (const [, text] of examples) {
    expect(profileFile.safeParse(parse(text as string)).success).toBe(true);
  }
});

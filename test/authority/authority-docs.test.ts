/** The committed reference and JSON Schema of contracts say what the sources say today. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { authorityPage, contractJsonSchema } from "../../scripts/generate/contract-docs.ts";

const committed = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("docs/authority.md is current: npx tsx scripts/generate-docs.ts", () => {
  expect(committed("docs/authority.md")).toBe(authorityPage());
});

test("profiles/contract.schema.json is current: npx tsx scripts/generate-docs.ts", () => {
  expect(committed("profiles/contract.schema.json")).toBe(contractJsonSchema());
});

test("every field of a contract has a meaning in the reference", () => {
  const rows = authorityPage()
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows.filter((row) => row.split(" | ").some((cell) => cell.trim() === ""))).toEqual([]);
  expect(rows.length).toBeGreaterThan(25);
});

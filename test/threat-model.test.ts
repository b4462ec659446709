/** Keeps docs/threat-model.md honest: every threat names tests, and every test that it names is there. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(`${ROOT}docs/threat-model.md`, "utf8");
const threats = (page.split("\n## Threats\n")[1] ?? "").split("\n## Not protected\n")[0] ?? "";
const rows = threats
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| threat |"))
  .map((line) => line.split(" | ") as [string, string, string]);

test("every threat has what holds, and a test that shows it", () => {
  expect(rows.length).toBeGreaterThan(35);
  const without = rows.filter((row) => row.length !== 3 || named(row[2]).length === 0);
  expect(without).toEqual([]);
});

test("every test that is named is there", () => {
  const gone = rows
    .flatMap(([, , shown]) => named(shown))
    .filter(([file, name]) => {
      const path = `${ROOT}${file}`;
      return !existsSync(path) || !readFileSync(path, "utf8").includes(`"${name}"`);
    });
  expect(gone).toEqual([]);
});

/** `FILE` "NAME", one or more. */
function named(cell: string): [string, string][] {
  return [...cell.matchAll(/`(test\/[^`]+)` "([^"]+)"/g)].map(([, file, name]) => [
    file as string,
    name as string,
  ]);
}

/** docs/executors.md says which tests run under which executor: here, that it says what the tests' sources say. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("./docker/", import.meta.url);
const page = readFileSync(new URL("../docs/executors.md", import.meta.url), "utf8");

/** Test files in the first column of the table with this head, sorted. */
function table(head: string): readonly string[] {
  const start = page.indexOf(`| ${head} |`);
  expect(start, head).toBeGreaterThan(0);
  const rows = page.slice(start).split("\n\n")[0]?.split("\n").slice(2) ?? [];
  return rows.map((row) => /^\| `(test\/docker\/[^`]+)`/.exec(row)?.[1] ?? row).sort();
}

const sources = readdirSync(folder)
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => [`test/docker/${name}`, readFileSync(new URL(name, folder), "utf8")] as const);
/** Files whose tests run once for each of these executors. */
const over = (list: RegExp) =>
  sources.flatMap(([name, text]) => (list.test(text) ? [name] : [])).sort();

test.each([
  ["under `runner`, `once` and `plain`", /\.each\(EXECUTORS\)/],
  ["not under `plain`", /\.each\(\["runner", "once"\] as const\)/],
  ["under `runner` alone", /Rig\.make\(\{ executor: "runner" \}\)/],
])("the table of tests %s is what their sources say", (head, list) => {
  expect(table(head)).toEqual(over(list));
});

test("every executor there is has its column, and the tests' list of them is whole", () => {
  const kinds = /export type ExecutorKind = (.+);/.exec(
    readFileSync(new URL("../daemon/sandbox/executor.ts", import.meta.url), "utf8"),
  )?.[1];
  expect(kinds).toBe('"runner" | "once" | "plain"');
  expect(page).toContain("| | `runner` | `once` | `plain` |");
  const rig = readFileSync(new URL("rig.ts", folder), "utf8");
  expect(rig).toContain('export const EXECUTORS = ["runner", "once", "plain"] as const;');
});

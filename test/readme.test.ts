/** The README's code blocks run: every `sh` block that is not marked `no-run`, as a reader would paste it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** Blocks that are whole test runs of their own, and where they are run instead. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["./scripts/quickstart", "test/docker/quickstart.test.ts"],
  ["./scripts/test", "this very run"],
]);

const readme = readFileSync("README.md", "utf8");
const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) =>
  (match[1] ?? "").trim(),
);
const illustrations = [...readme.matchAll(/^```sh no-run\n([\s\S]*?)^```/gm)].map(
  (match) => match[1] ?? "",
);

describe("the README", () => {
  it("fits on a screen or two and has blocks to run", () => {
    expect(readme.split("\n").length).toBeLessThanOrEqual(100);
    expect(blocks.length).toBeGreaterThanOrEqual(3);
  });

  it.each(blocks.filter((block) => !ELSEWHERE.has(block)))("runs: %s", (block) => {
    const run = spawnSync("bash", ["-ec", block], { encoding: "utf8", timeout: 120_000 });
    // `policy check` says with its exit code whether the command would pass; anything else is a broken block.
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: "" });
  });

  it.each(
    illustrations
      .flatMap((block) => block.split("\n"))
      .filter((line) => line.startsWith("recinto "))
      .map((line) => [/^recinto ((?:[a-z]+ ?){1,2})/.exec(line)?.[1]?.trim() ?? ""]),
  )("names a command that exists: recinto %s", (words) => {
    const run = spawnSync("./scripts/recinto", [...words.split(" "), "--help"], {
      encoding: "utf8",
    });
    expect(run.status).toBe(0);
    expect(run.stdout).toContain("Usage: recinto");
  });
});

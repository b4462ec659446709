/** The quickstart as a person runs it: it ends well, and every line of its table is as it claims. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { whyNot } from "./rig.ts";

const missing = (await whyNot()) ?? (process.getuid?.() === 0 ? null : "it needs root");

describe.skipIf(missing)("./scripts/quickstart", () => {
  test("shows a dozen commands, each as it claims, and says what to do next", () => {
    const run = spawnSync("./scripts/quickstart", { encoding: "utf8", timeout: 110_000 });
    const wrong = run.stdout.split("\n").filter((line) => line.includes("✗"));
    expect({ status: run.status, wrong, stderr: run.status === 0 ? "" : run.stderr }).toEqual({
      status: 0,
      wrong: [],
      stderr: "",
    });
    expect(run.stdout.split("\n").filter((line) => line.includes("✓")).length).toBeGreaterThan(11);
    expect(run.stdout).toContain("hash chain whole");
    expect(run.stdout).toContain("Next:");
  });
});

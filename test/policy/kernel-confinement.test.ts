/** Where the kernel cannot hold commands, what the profile allows because it can asks. */
import { describe, expect, test } from "vitest";
import { evaluate } from "../../daemon/policy/evaluate.ts";
import type { PolicySettings } from "../../daemon/policy/types.ts";
import { inputFor } from "./judged.ts";

const rules = (command: string, settings: Partial<PolicySettings>) => {
  const { verdict, segments } = evaluate(inputFor(command, { profile: "dev", settings }));
  return [verdict, ...segments.map(({ rule }) => rule)];
};

describe("a sandbox whose kernel holds nothing", () => {
  test.each([
    ["python3 -c 'print(1)'", "confinement/run"],
    ["echo x > notes.txt", "confinement/write"],
  ])("asks about %s, which the profile allows elsewhere", (command, rule) => {
    expect(rules(command, { kernelConfinement: true })[0]).toBe("allow");
    expect(rules(command, {})[0]).toBe("allow");
    expect(rules(command, { kernelConfinement: false })).toEqual(["ask", rule]);
  });

  test("asks about an unknown verb although the profile says confine", () => {
    const confine = { unknown: "confine" } as const;
    expect(rules("frobnicate --all", confine)[0]).toBe("allow");
    expect(rules("frobnicate --all", { ...confine, kernelConfinement: false })[0]).toBe("ask");
  });

  test("still allows what only reads and what the profile counts as build", () => {
    expect(rules("ls -la", { kernelConfinement: false })[0]).toBe("allow");
    expect(rules("npm test", { kernelConfinement: false })[0]).toBe("allow");
  });
});

/** Globs: strict where they allow, generous where they ask. */
import { describe, expect, it } from "vitest";
import { coversPath, matches, matchesBranch } from "../../daemon/policy/globs.ts";

describe("globs", () => {
  it("a star stays in its folder unless it is wide", () => {
    expect([
      matches("*.md", "a.md"),
      matches("*.md", "x/a.md"),
      matches("*.md", "x/a.md", { wide: true }),
      matches("**/*.md", "x/y/a.md"),
      matches("**/*.md", "a.md"),
      matches("?.md", "ab.md"),
    ]).toEqual([true, false, true, true, true, false]);
  });

  it("brackets and extended globs match more when asking than when allowing", () => {
    expect([
      matches("[a-c]x", "bx", { exact: true }),
      matches("[a-c]x", "zx", { exact: true }),
      matches("[a-c]x", "zx"),
      matches("[!a]x", "ax", { exact: true }),
      matches("[[:alpha:]]x", "ax", { exact: true }),
      matches("[z-a]x", "bx", { exact: true }),
      matches("@(a|b)", "b"),
      matches("@(a|b)", "b", { exact: true }),
    ]).toEqual([true, false, true, false, false, false, true, false]);
  });

  it("branch globs cross slashes, path globs cover a folder and what is below it", () => {
    expect([
      matchesBranch("release/1.0/fix", ["release/*"]),
      matchesBranch("maintenance", ["main"]),
      coversPath("/p/src/**", "/p/src"),
      coversPath("/p/src/**", "/p/src/a/b"),
      coversPath("/p/src/*", "/p/src/a/b"),
      coversPath("/p/src/**", "/p/src-old/a"),
    ]).toEqual([true, false, true, true, false, false]);
  });
});

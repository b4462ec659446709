/** Whether one resource lies in another: never more is said than surely holds. */
import { describe, expect, it } from "vitest";
import {
  absoluteGlobs,
  beyond,
  coversCommand,
  coversPathPattern,
  deniedBy,
  namesPath,
  parsePathPattern,
  parseWritePath,
} from "../../daemon/authority/resources.ts";
import { coversHostPattern, namesHost } from "../../daemon/policy/host-patterns.ts";

const NOTHING = { paths: [], hosts: [], commands: [] };

describe("paths", () => {
  it.each([
    ["**", "anything/at/all/**", true],
    ["**", "**", true],
    ["src/**", "src/a/**", true],
    ["src/**", "src/a.ts", true],
    ["src/**", "src", true],
    ["src/**", "src-old/a.ts", false],
    ["src/**", "srcs/**", false],
    ["src/**", "**", false],
    ["src/a.ts", "src/a.ts", true],
    ["src/a.ts", "src/**", false],
    ["**/*.md", "docs/a.md", true],
    ["**/*.md", "docs/**", false],
    ["src/*/x.ts", "src/a/x.ts", true],
    ["src/*/x.ts", "src/a/b/x.ts", false],
    // What a wildcard of the narrow one may stand for is not looked into.
    ["src/**", "src/*.ts", false],
    ["src/*.ts", "src/*.ts", true],
  ])("%s covers %s: %s", (wide, narrow, covers) => {
    expect(coversPathPattern(wide, narrow)).toBe(covers);
  });

  it("a write names folders or files, a read any glob; nothing leaves the worktree", () => {
    expect([
      parseWritePath("a/../b/**"),
      parseWritePath("**"),
      parseWritePath("app/(group)/page.tsx"),
      parseWritePath("app/[id]/page.tsx"),
      parsePathPattern("app/[id]/**/*.tsx"),
      parsePathPattern("a\nb"),
    ]).toEqual([
      { path: "b/**" },
      { path: "**" },
      { path: "app/(group)/page.tsx" },
      {
        refused: "cannot be enforced for writing: name single files, or the folder: app/**",
      },
      { path: "app/[id]/**/*.tsx" },
      { refused: "holds control characters" },
    ]);
  });

  it("a worktree whose name reads as a wildcard gets no globs rather than wider ones", () => {
    expect([
      absoluteGlobs(["src/**"], "/w"),
      absoluteGlobs(["src/**"], "/w/*"),
      absoluteGlobs(["src/**"], "/w/[a]"),
      namesPath(["src/**"], "/w/*", "/w/other/src/x"),
      namesPath(["src/**"], "/w/(a)", "/w/(a)/src/x"),
    ]).toEqual([["/w/src/**"], [], [], false, true]);
  });
});

describe("hosts", () => {
  it.each([
    ["example.org", "example.org", true],
    ["example.org", "EXAMPLE.ORG.", true],
    ["example.org", "www.example.org", false],
    ["example.org", "example.org:443", true],
    ["example.org", "example.org:8443", false],
    ["example.org:8443", "example.org", false],
    ["*.example.org", "a.example.org", true],
    ["*.example.org", "a.b.example.org", false],
    ["*.example.org", "example.org", false],
    ["*.example.org", "*.example.org", true],
    ["*.example.org", "**.example.org", false],
    ["**.example.org", "a.b.example.org", true],
    ["**.example.org", "*.a.example.org", true],
    ["**.example.org", "*.example.org", true],
    ["**.example.org", "evilexample.org", false],
    ["*", "example.org", false],
    ["example.org", "not a host", false],
  ])("%s covers %s: %s", (wide, narrow, covers) => {
    expect(coversHostPattern(wide, narrow)).toBe(covers);
  });

  it("a host is named on whatever port, since the proxy checks the port", () => {
    expect([
      namesHost(["example.org:8443"], "example.org"),
      namesHost(["*.example.org"], "A.example.org"),
      namesHost(["[::1]"], "::1"),
      namesHost(["example.org"], "example.org.evil.net"),
      namesHost([], "example.org"),
    ]).toEqual([true, true, true, false, false]);
  });
});

describe("resources", () => {
  it("commands are covered by their beginning, word by word", () => {
    expect([
      coversCommand(["npm", "test"], ["npm", "test", "--", "x"]),
      coversCommand(["npm", "test"], ["npm", "testing"]),
      coversCommand(["npm", "test"], ["npm"]),
    ]).toEqual([true, false, false]);
  });

  it("says which part is beyond (C2)", () => {
    const wide = { paths: ["src/**"], hosts: ["*.x.org"], commands: [["npm", "ci"]] };
    expect([
      beyond({ paths: ["src/a"], hosts: ["a.x.org"], commands: [["npm", "ci", "-q"]] }, wide),
      beyond({ ...NOTHING, paths: ["lib/a"] }, wide),
      beyond({ ...NOTHING, hosts: ["x.org"] }, wide),
      beyond({ ...NOTHING, commands: [["npm", "i"]] }, wide),
      beyond({ ...NOTHING, hosts: ["x.org"] }, NOTHING),
      beyond({ ...NOTHING, commands: [["npm", "i"]] }, NOTHING),
    ]).toEqual([
      null,
      "the path lib/a is beyond src/**",
      "the host x.org is beyond *.x.org",
      "the command npm i begins with none of npm ci",
      "the host x.org is beyond nothing of that kind",
      null,
    ]);
  });

  it("G denies what lies in it as a whole; a folder that merely holds it is denied use by use (C1)", () => {
    const deny = {
      paths: ["**/.env", "**/secrets", "docs/private/**"],
      hosts: ["**.evil.org"],
      commands: [["git", "push"]],
    };
    expect([
      deniedBy({ ...NOTHING, paths: ["a/.env"] }, deny),
      deniedBy({ ...NOTHING, paths: ["docs/private/x/**"] }, deny),
      deniedBy({ ...NOTHING, paths: ["a/secrets/**"] }, deny),
      deniedBy({ ...NOTHING, paths: ["docs/**"] }, deny),
      deniedBy({ ...NOTHING, hosts: ["a.evil.org"] }, deny),
      deniedBy({ ...NOTHING, commands: [["git", "push", "--tags"]] }, deny),
      deniedBy({ ...NOTHING, commands: [["git"]] }, deny),
    ]).toEqual([
      "the contract denies the path a/.env",
      "the contract denies the path docs/private/x/**",
      "the contract denies the path a/secrets/**",
      null,
      "the contract denies the host a.evil.org",
      "the contract denies the command git push --tags",
      null,
    ]);
  });
});

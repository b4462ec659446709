/** Paths are compared by component and followed as the kernel does (A2). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { absolute, isWithin, normalise, resolve } from "../../daemon/policy/paths.ts";

describe("paths (A2)", () => {
  it.each([
    ["/", "/"],
    ["//a//b/", "/a/b"],
    ["/a/./b/../c", "/a/c"],
    ["/../../a", "/a"],
    ["/a/b/../../..", "/"],
    ["/a/..b/...", "/a/..b/..."],
  ])("%s is %s", (path, plain) => {
    expect(normalise(path)).toBe(plain);
  });

  it("a folder whose name only begins alike does not hold a path", () => {
    expect([
      isWithin("/p1/a", "/p1"),
      isWithin("/p1", "/p1"),
      isWithin("/p10/a", "/p1"),
      isWithin("/p1-old", "/p1"),
      isWithin("/x", "/"),
    ]).toEqual([true, true, false, false, true]);
  });

  it("what is joined below a folder without .. stays in it", () => {
    const names = fc.array(fc.stringMatching(/^[a-z.]{1,3}$/).filter((name) => name !== ".."));
    fc.assert(
      fc.property(names, (parts) => isWithin(absolute(parts.join("/"), "/srv/w"), "/srv/w")),
    );
  });

  it("follows links at any component, and takes .. from where they lead", () => {
    const facts = { "/w/link": "/etc", "/w/in": "/w/deep/er", "/w/gone": null };
    expect(
      ["link/passwd", "in/../x", "link/../x", "gone/x", "plain/../y"].map((path) =>
        resolve(path, "/w", facts),
      ),
    ).toEqual([
      { lexical: "/w/link/passwd", real: "/etc/passwd", missing: false },
      { lexical: "/w/x", real: "/w/deep/x", missing: false },
      { lexical: "/w/x", real: "/x", missing: false },
      { lexical: "/w/gone/x", real: "/w/gone/x", missing: true },
      { lexical: "/w/y", real: "/w/y", missing: false },
    ]);
  });

  it("a fact about the whole path holds even where its folder is a link too", () => {
    const facts = { "/w/d": "/w/e", "/w/d/f": "/outside/f" };
    expect(resolve("d/f", "/w", facts).real).toBe("/outside/f");
  });
});

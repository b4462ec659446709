/** Following paths: links of every kind, as the sandbox would see them, against a disk that is only a table. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Look, resolvePath } from "../../daemon/worktree/resolve-path.ts";

const ROOT = "/home/p/shop";

/** Path → link text, or "folder" / "file". */
function disk(entries: Readonly<Record<string, string>>): Look {
  return (path) => {
    const entry = entries[path];
    if (entry === undefined) return { kind: "missing" };
    if (entry === "folder") return { kind: "folder" };
    return entry === "file" ? { kind: "other" } : { kind: "link", target: entry };
  };
}

const DISK = disk({
  "/home/p/shop/src": "folder",
  "/home/p/shop/src/a.ts": "file",
  "/home/p/shop/rel": "src/a.ts",
  "/home/p/shop/abs": "/home/p/shop/src",
  "/home/p/shop/out": "/etc",
  "/home/p/shop/up": "../../..",
  "/home/p/shop/beside": "../shop-old/x",
  "/home/p/shop/chain": "chain2",
  "/home/p/shop/chain2": "out/passwd",
  "/home/p/shop/dangling": "not/yet",
  "/home/p/shop/loop": "loop2",
  "/home/p/shop/loop2": "loop",
  "/home/p/shop/src/back": "../out",
  "/home/p/shop/round": "../../p/shop/src/a.ts",
  "/home/p/shop/detour": "/etc/../home/p/shop/src/a.ts",
  "/home/p/shop/climb": "src/../../../../../../../../etc/shadow",
  "/home/p/shop/proc": "/proc/self/root/etc",
});

test.each([
  ["/home/p/shop/src/a.ts", "/home/p/shop/src/a.ts", "yes", 0, false],
  ["/home/p/shop/rel", "/home/p/shop/src/a.ts", "yes", 1, false],
  ["/home/p/shop/abs/a.ts", "/home/p/shop/src/a.ts", "yes", 1, false],
  ["/home/p/shop/out", "/etc", "unknown", 1, true],
  ["/home/p/shop/out/passwd", "/etc/passwd", "unknown", 1, true],
  ["/home/p/shop/up", "/", "yes", 1, false],
  ["/home/p/shop/up/etc", "/etc", "unknown", 1, true],
  ["/home/p/shop/beside", "/home/p/shop-old/x", "unknown", 1, true],
  ["/home/p/shop/chain", "/etc/passwd", "unknown", 3, true],
  ["/home/p/shop/src/back/x", "/etc/x", "unknown", 2, true],
  ["/home/p/shop/dangling", "/home/p/shop/not/yet", "no", 1, false],
  ["/home/p/shop/none/../rel", "/home/p/shop/src/a.ts", "no", 1, false],
  ["/home/p/shop/round", "/home/p/shop/src/a.ts", "yes", 1, false],
  ["/home/p/shop/climb", "/etc/shadow", "unknown", 1, true],
  ["/home/p/shop/proc", "/proc/self/root/etc", "unknown", 1, true],
  // `..` behind a link is the parent of where the link leads, not of where it stands.
  ["/home/p/shop/abs/../rel", "/home/p/shop/src/a.ts", "yes", 2, false],
  ["/home/p/shop/src/a.ts/x", "/home/p/shop/src/a.ts/x", "no", 0, false],
  ["/usr/bin/env", "/usr/bin/env", "unknown", 0, true],
  ["/home/p", "/home/p", "yes", 0, false],
])("%s leads to %s", (path, to, found, links, left) => {
  expect(resolvePath(path, [ROOT], DISK)).toEqual({ path: to, found, links, left });
});

test("a loop is given up, whatever its length", () => {
  expect(resolvePath(`${ROOT}/loop`, [ROOT], DISK)).toMatchObject({ found: "loop", left: false });
});

test("a path that spells its way back in through the image's folders is not taken at its word", () => {
  // In the image `/etc` might be a link, so where `/etc/..` is cannot be known from here.
  expect(resolvePath(`${ROOT}/detour`, [ROOT], DISK)).toEqual({
    path: "/etc",
    found: "unknown",
    links: 1,
    left: true,
  });
});

test("nothing outside the roots is ever looked at", () => {
  const part = fc.constantFrom("a", "b", "c", "..", ".", "");
  const path = fc.array(part, { maxLength: 8 }).map((parts) => parts.join("/"));
  const target = fc
    .tuple(fc.constantFrom("", "/", "/r/", "/r/w/"), path)
    .map((both) => both.join(""));
  const look = fc.dictionary(path, fc.option(target, { nil: undefined }), { maxKeys: 12 });
  fc.assert(
    fc.property(target, look, (start, links) => {
      const roots = ["/r/w"];
      const seen: string[] = [];
      const resolution = resolvePath(`/r/w/${start}`, roots, (at) => {
        seen.push(at);
        const link = links[at.slice("/r/w/".length)];
        return link === undefined ? { kind: "folder" } : { kind: "link", target: link };
      });
      expect(seen.filter((at) => !at.startsWith("/r/w/"))).toEqual([]);
      expect(resolution.path).toMatch(/^\//);
      if (resolution.found !== "loop" && !resolution.left) {
        expect(resolution.path.split("/")).not.toContain("..");
      }
    }),
  );
});

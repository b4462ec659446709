/** A wildcard of a command against a glob of a rule: whether one file can be meant by both. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { absolutePattern, mayOverlap } from "../../daemon/policy/glob-overlap.ts";
import { matches } from "../../daemon/policy/globs.ts";

test.each<[string, string, boolean]>([
  ["/w/*", "/w/secret.txt", true],
  ["/w/*", "**/*.pem", true],
  ["/w/*.ts", "**/*.pem", false],
  ["/w/k*", "**/*.pem", true],
  ["/w/config/*/a", "/w/config/private/**", true],
  ["/w/c*/p*/a", "/w/config/private/**", true],
  ["/w/conf*/other/a", "/w/config/private/**", false],
  ["/w/conf*", "/w/config/private/**", false],
  ["/w/config/pri*", "/w/config/private/**", true],
  ["/w/*", "**/.env", false],
  ["/w/.*", "**/.env", true],
  ["/w/.[e]nv", "**/.env", true],
  ["/w/*.env", "**/.env", false],
  ["/w/config.*", "**/.env", false],
  ["/w/*/.env", "**/.env", true],
  ["/w/.env.*", "**/.env", false],
])("%s and %s: %s", (pattern, glob, expected) => {
  expect(mayOverlap(pattern, glob)).toBe(expected);
});

test("a file that both take is never missed", () => {
  const piece = (...more: string[]) => fc.constantFrom("a", "b", "ab", "*", "?", "/", ...more);
  const text = (...more: string[]) => fc.array(piece(...more), { maxLength: 7 });
  const name = fc.array(fc.constantFrom("a", "b", "/"), { maxLength: 7 });
  fc.assert(
    fc.property(text(), text("**/", "**"), name, (shell, rule, file) => {
      const [pattern, glob, path] = [shell, rule, file].map((parts) => `/${parts.join("")}`);
      if (pattern === undefined || glob === undefined || path === undefined) return;
      const single = pattern.replace(/\*+/g, "*");
      const both = matches(single, path, { exact: true }) && matches(glob, path, { exact: true });
      if (both)
        expect([single, glob, path, mayOverlap(single, glob)]).toEqual([single, glob, path, true]);
    }),
    { numRuns: 5_000 },
  );
});

test("a pattern is read below the folder it is written in; what goes up behind a wildcard is not known", () => {
  expect(absolutePattern("../x/*.ts", "/w/a")).toBe("/w/x/*.ts");
  expect(absolutePattern("*/../.env", "/w")).toBe(null);
});

/** Prefixes that name an action (A6), and the verbs for which none is ever offered. */
import { describe, expect, it } from "vitest";
import { arityOf, neverOffered } from "../../../daemon/policy/catalogue/arity.ts";

const words = (line: string): string[] => line.split(" ");

describe("arity", () => {
  it.each([
    ["rm a b", 1],
    ["git push origin main", 2],
    ["git stash pop", 3],
    ["npm run build -- --x", 3],
    ["npm test", 2],
    ["docker compose up -d", 3],
    ["docker ps", 2],
    ["python -m pytest -q", 3],
    ["cargo build --release", 2],
    ["tsc -p x", 1],
    ["sv task list", 2],
    ["sv --json task", 1],
    ["git", 1],
    ["/usr/bin/git push origin", 2],
  ])("%s is named by its first %i words", (line, count) => {
    expect(arityOf(words(line))).toBe(count);
  });

  it("an option before the action leaves only the whole command", () => {
    expect(arityOf(words("git -c a.b=c push origin"))).toBe(5);
    expect(arityOf(words("npm --prefix x run build"))).toBe(5);
  });

  it.each([
    "bash x.sh",
    "python3 x.py",
    "python3.11 x.py",
    "env X=1 ls",
    "xargs rm",
    "curl x",
    "ssh h",
    "pip install x",
    "npm install x",
    "npm exec x",
    "yarn",
    "git push",
    "go run .",
    "npx x",
    "make x",
    "./x",
    "uv run x",
    "docker ps",
  ])("always is never offered for %s", (line) => {
    expect(neverOffered(words(line))).toBe(true);
  });

  it.each(["mkdir x", "npm run build", "git commit -m x", "sv task list", "cargo fmt", "cp a b"])(
    "always may be offered for %s",
    (line) => {
      expect(neverOffered(words(line))).toBe(false);
    },
  );
});

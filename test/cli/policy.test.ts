/** `recinto policy` as a program: the fixed shapes of `check --batch`, links on the disk, and the walk of `explain`. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const CLI = fileURLToPath(new URL("../../daemon/cli.ts", import.meta.url));

function recinto(words: readonly string[], input = "") {
  const argv = ["--import", "tsx", CLI, "policy", ...words];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { input, encoding: "utf8" });
  return { status, stdout, stderr, lines: stdout.split("\n").filter((line) => line !== "") };
}

function batch(root: string, rows: readonly object[], ...options: string[]) {
  const input = rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row))).join("\n");
  const run = recinto(["check", "--batch", "-", "--root", root, ...options], input);
  return { ...run, answers: run.lines.map((line) => JSON.parse(line)) };
}

describe("recinto policy check --batch", () => {
  it("answers in order with id, verdict, effects, roots, segments and reason, and exits 0", () => {
    const cwd = "/srv/projects/p1/.worktrees/a1";
    const { status, answers } = batch("/srv/projects/p1", [
      { id: "a", command: "cat README.md", cwd },
      { id: 7, command: "rm -rf src", cwd },
    ]);
    expect(status).toBe(0);
    expect(
      answers.map(({ id, verdict, effects, roots }) => ({ id, verdict, effects, roots })),
    ).toEqual([
      { id: "a", verdict: "allow", effects: ["read"], roots: [cwd] },
      { id: 7, verdict: "ask", effects: ["write"], roots: [] },
    ]);
    const [{ text, argv, verdict, rung, rule, reason }] = answers[1].segments;
    expect({ text, argv, verdict, rung, rule, reason }).toEqual({
      text: "rm -rf src",
      argv: ["rm", "-rf", "src"],
      verdict: "ask",
      rung: "safety",
      rule: "safety/recursive-delete",
      reason: "deletes folders with all they hold",
    });
  });

  it("takes facts from each line: a branch, real paths, local programs, escaping links", () => {
    const cwd = "/srv/projects/p1/.worktrees/a1";
    const { answers } = batch(
      "/srv/projects/p1",
      [
        { id: 1, command: "git commit -m x", cwd },
        { id: 2, command: "git commit -m x", cwd, facts: { branch: "main" } },
        { id: 3, command: "cat link/x", cwd, facts: { realpath: { [`${cwd}/link`]: "/etc" } } },
        { id: 4, command: "cat gone", cwd, facts: { realpath: { [`${cwd}/gone`]: null } } },
        { id: 5, command: "npx tsc --noEmit", cwd },
        { id: 6, command: "npx tsc --noEmit", cwd, facts: { localBins: ["eslint"] } },
        { id: 7, command: "cat a/b", cwd, facts: { escapingLinks: [`${cwd}/a`] } },
      ],
      "--profile",
      "dev",
    );
    expect(answers.map(({ verdict }) => verdict)).toEqual([
      "allow",
      "ask",
      "ask",
      "ask",
      "allow",
      "ask",
      "ask",
    ]);
  });

  it("answers a line it cannot read with an error in its place, judges the others, and exits 65", () => {
    const { status, answers } = batch("/srv/projects/p1", [
      "nonsense",
      { id: 1, command: 3, cwd: "/" },
      { id: 2, command: "ls", cwd: "relative" },
      { id: 3, command: "ls", cwd: "/srv/projects/p1", facts: { realpath: { a: 1 } } },
      { id: 4, command: "ls", cwd: "/srv/projects/p1" },
    ] as object[]);
    expect(status).toBe(65);
    expect(answers.map(({ id, verdict, error }) => [id, verdict ?? error.code])).toEqual([
      [null, "bad-request"],
      [null, "bad-request"],
      [null, "bad-request"],
      [null, "bad-request"],
      [4, "allow"],
    ]);
  });
});

describe("recinto policy on a root that is on this disk", () => {
  let root = "";

  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "recinto-policy-")));
    const worktree = join(root, ".worktrees/a1");
    mkdirSync(join(worktree, "src"), { recursive: true });
    writeFileSync(join(worktree, "src/a.ts"), "");
    symlinkSync("/etc", join(worktree, "etc-link"));
    symlinkSync("/tmp/not-yet", join(worktree, "dangling"));
    symlinkSync("src", join(worktree, "inside"));
    symlinkSync("etc-link", join(worktree, "chain"));
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it("resolves links, dangling ones and chains, and finds them behind wildcards (A2)", () => {
    const cwd = join(root, ".worktrees/a1");
    const commands = [
      "cat src/a.ts",
      "cat inside/a.ts",
      "cat etc-link/passwd",
      "cat chain/passwd",
      "cat dangling",
      "cat inside/../../../../x",
      "cat *",
      "cat e*/passwd",
      "cat src/*",
      "cat missing",
      "ls .",
    ];
    const { answers } = batch(
      root,
      commands.map((command) => ({ command, cwd })),
    );
    expect(answers.map(({ verdict }, i) => [commands[i], verdict])).toEqual([
      ["cat src/a.ts", "allow"],
      ["cat inside/a.ts", "allow"],
      ["cat etc-link/passwd", "ask"],
      ["cat chain/passwd", "ask"],
      ["cat dangling", "ask"],
      ["cat inside/../../../../x", "ask"],
      ["cat *", "ask"],
      ["cat e*/passwd", "ask"],
      ["cat src/*", "allow"],
      ["cat missing", "allow"],
      ["ls .", "allow"],
    ]);
  });
});

describe("recinto policy check and explain", () => {
  const here = mkdtempSync("/var/tmp/recinto-policy-");
  const where = ["--root", here, "--cwd", join(here, ".worktrees/a1")];
  afterAll(() => rmSync(here, { recursive: true }));

  it("a root that is not here is a mistake: the verdict would be about nothing", () => {
    for (const root of ["nope", join(here, "nope")]) {
      const { status, stdout, stderr } = recinto(["check", "--root", root, "--", "ls"]);
      expect([status, stdout]).toEqual([64, ""]);
      expect(stderr).toContain(`--root "${root}": `);
    }
    expect(recinto(["check", "--root", ".", "--", "ls"]).status).toBe(0);
  });

  it("check prints verdict, reason and what to do instead; --json the object that the API gives", () => {
    const { status, stdout } = recinto(["check", ...where, "--", "git push origin main"]);
    expect([status, stdout]).toEqual([
      0,
      "ask: `git push origin main` pushes to the protected branch main (ceiling/push)\ninstead: commit locally; a person pushes\n",
    ]);
    const json = JSON.parse(recinto(["check", "--json", ...where, "--", "ls", "a b"]).stdout);
    expect([json.verdict, json.segments[0].argv]).toEqual(["allow", ["ls", "a b"]]);
  });

  it("explain walks every rung", () => {
    const { lines } = recinto(["explain", ...where, "--", "rm -rf src"]);
    const walked = lines.filter((line) => /^ {3}[0-9] /.test(line));
    const rungs = [...new Set(walked.map((line) => line.slice(3, 21).trim()))];
    expect(rungs).toEqual([
      "0 understand",
      "1 absolute deny",
      "2 stale authority",
      "3 ceilings",
      "4 safety",
      "5 denials",
      "6 rules",
      "7 grants",
      "8 scope",
      "9 otherwise",
    ]);
    expect(lines[0]).toBe(
      "ask: `rm -rf src` deletes folders with all they hold (safety/recursive-delete)",
    );
  });

  it("an unknown profile is one line with the next step", () => {
    const { status, stderr } = recinto(["check", "--profile", "nope", "--", "ls"]);
    expect(status).toBe(78);
    expect(stderr).toContain("nope: no such profile");
  });
});

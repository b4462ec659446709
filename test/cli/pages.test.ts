/** The man page names every command, and the completion knows what can follow. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../daemon/cli/commands.ts";

const page = readFileSync("docs/man/recinto.1", "utf8");

describe("recinto(1)", () => {
  test.each(Object.keys(COMMANDS))("has a section on %s", (name) => {
    expect(page).toMatch(new RegExp(`^\\.SS recinto ${name}( |$)`, "m"));
  });

  test("is roff without a mistake, where there is a roff to ask", () => {
    for (const file of ["docs/man/recinto.1", "docs/man/recintod.8"]) {
      const groff = spawnSync("groff", ["-man", "-Tutf8", "-ww", "-z", file], { encoding: "utf8" });
      if (groff.error !== undefined) return void console.warn("skipped: there is no groff");
      expect([groff.status, groff.stderr]).toEqual([0, ""]);
    }
  });
});

describe("completion", () => {
  const complete = (...words: string[]) => {
    const script = `. scripts/completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _recinto; printf '%s ' "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync("bash", ["--norc", "-c", script, "bash", ...words], {
      encoding: "utf8",
    });
    return stdout.trim().split(" ").filter(Boolean);
  };

  test("offers every command, and those that begin so", () => {
    expect(complete("recinto", "")).toEqual(expect.arrayContaining(Object.keys(COMMANDS)));
    expect(complete("recinto", "appr")).toEqual(["approvals"]);
  });

  test("offers what a group has, and the options of a command", () => {
    expect(complete("recinto", "policy", "ch")).toEqual(["check"]);
    expect(complete("recinto", "run", "--proj")).toEqual(["--project"]);
  });

  test("finds the command behind options and their values", () => {
    expect(complete("recinto", "--run-dir", "/x", "run", "--worktree", "run", "--js")).toEqual([
      "--json",
    ]);
  });

  test("says nothing about the agent's own command", () => {
    expect(complete("recinto", "run", "--", "git", "--proj")).toEqual([]);
  });
});

describe("docs/operations.md", () => {
  const operations = readFileSync("docs/operations.md", "utf8");
  const called = [
    ...operations.matchAll(/(?:^|`)(?:\.\/scripts\/)?recinto ([a-z]+)(?: ([a-z]+))?/gm),
  ];

  test.each([...new Set(called.map(([, group = "", name]) => `${group} ${name ?? ""}`.trim()))])(
    "calls a command that there is: recinto %s",
    async (words) => {
      const [group = "", name] = words.split(" ");
      const command = await COMMANDS[group]?.();
      expect(command?.name()).toBe(group);
      const names = command?.commands.map((child) => child.name()) ?? [];
      if (name !== undefined && names.length > 0) expect(names).toContain(name);
    },
  );
});

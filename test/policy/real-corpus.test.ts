/** How often a person would be asked: 1,500 commands that agents really ran, by label (issue 3; read, never copied). */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { judged } from "./judged.ts";

const FILE = `${
  process.env.RECINTO_CORPORA ?? fileURLToPath(new URL("../../../shared/corpora", import.meta.url))
}/real.jsonl`;

interface Row {
  readonly command: string;
  readonly cwd: string;
  readonly label: string;
}

/**
 * Labels were made by a heuristic. Where it says outside, install or network and the verdict is allow, the command has
 * one of these shapes, by which it is not really one.
 */
const NOT_REALLY: readonly {
  readonly why: string;
  readonly profiles: string;
  readonly is: (row: Row) => boolean;
}[] = [
  {
    why: "the project root holds it: reading scope is the root, and only the worktree is narrower",
    profiles: "default dev",
    is: ({ command }) =>
      /\/srv\/projects\/p1(?:\/web|\/\.worktrees)?(?:\/| |$)|(?:^|[\s/])\.\.(?:\/|\s|$)/.test(
        command,
      ),
  },
  {
    why: "scratch: /tmp is the sandbox's own, and dev allows it",
    profiles: "dev",
    is: ({ command }) => /\/tmp\b/.test(command),
  },
  {
    why: "inline code is run whatever it tries to open: the kernel holds it in the sandbox",
    profiles: "dev",
    is: ({ command }) => /\bpython3?\b[\s\S]*(?:-c|<<)/.test(command),
  },
  {
    why: "writes a script into the worktree; what that would touch is seen when it runs",
    profiles: "dev",
    is: ({ command }) => /^cat <<'EOF' > [\w.-]+\n/.test(command),
  },
  {
    why: "asks a program for its version or its help",
    profiles: "default dev",
    is: ({ command }) => /^(?:curl|yt-dlp) --(?:version|help)/.test(command),
  },
];

if (!existsSync(FILE))
  process.stderr.write(`skipped: no corpus at ${FILE} (set RECINTO_CORPORA)\n`);

describe.skipIf(!existsSync(FILE))("what agents really ran", () => {
  const rows = existsSync(FILE)
    ? readFileSync(FILE, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Row)
    : [];

  const share = (profile: string, labels: readonly string[]): Record<string, number> =>
    Object.fromEntries(
      labels.map((label) => {
        const those = rows.filter((row) => row.label === label);
        const passed = those.filter(
          ({ command, cwd }) => judged(command, { profile, cwd }).verdict === "allow",
        );
        return [label, passed.length / those.length];
      }),
    );

  it("default lets at least 90 % of reads, builds and tests pass", () => {
    const shares = share("default", ["read", "build_test"]);
    expect(Object.entries(shares).filter(([, passed]) => passed < 0.9)).toEqual([]);
  });

  it("dev lets at least 90 % of reads, builds, project code, writes and local git pass", () => {
    const shares = share("dev", ["read", "build_test", "run_code", "write", "git_write"]);
    expect(Object.entries(shares).filter(([, passed]) => passed < 0.9)).toEqual([]);
  });

  it.each(["default", "dev"])(
    "%s lets nothing pass that installs, reaches the network or leaves",
    (profile) => {
      const wrong = rows
        .filter(({ label }) => /^(?:install|network|outside)$/.test(label))
        .filter(({ command, cwd }) => judged(command, { profile, cwd }).verdict === "allow")
        .filter(
          (row) => !NOT_REALLY.some(({ profiles, is }) => profiles.includes(profile) && is(row)),
        );
      expect(wrong.map(({ command }) => command)).toEqual([]);
    },
  );
});

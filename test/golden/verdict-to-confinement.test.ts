/** Command, profile and grants → what the kernel holds it to: a change of the wall is a changed line here. UPDATE_GOLDEN=1 writes them anew. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { LiveGrant } from "../../daemon/policy/types.ts";
import { hold } from "../../daemon/sandbox/confinement.ts";
import { SANDBOX_SCRATCH } from "../../daemon/settings/sandbox-home.ts";
import { type Circumstances, judged, WORKTREE } from "../policy/judged.ts";

const folder = fileURLToPath(new URL("./verdict-to-confinement/", import.meta.url));
const SEPARATOR = "----------\n";

const GRANT: LiveGrant = {
  id: "g1",
  effects: ["write"],
  paths: [`${WORKTREE}/src/auth/**`],
  hosts: [],
  commands: [],
};

/** What each file is about, besides its commands. */
const CASES: Readonly<
  Record<string, Circumstances & { grants?: readonly LiveGrant[]; landlock?: number }>
> = {
  review: { profile: "review" },
  default: { profile: "default" },
  dev: { profile: "dev" },
  confine: { profile: "dev", settings: { unknown: "confine" } },
  granted: { profile: "review", authority: { grants: [GRANT] }, grants: [GRANT] },
  "without-kernel": { profile: "dev", settings: { kernelConfinement: false }, landlock: 0 },
};

function held(command: string, { grants = [], landlock = 7, ...how }: (typeof CASES)[string]) {
  const { verdict, segments, effects } = judged(command, how);
  if (verdict === "deny") return `${command}\n  deny: it does not start\n`;
  const approved = verdict === "ask";
  const { text, confinement, harmless } = hold(
    {
      segments,
      approved,
      grants,
      worktree: WORKTREE,
      scratch: SANDBOX_SCRATCH,
      privateGitDir: "/var/lib/recinto/git/a1",
    },
    landlock,
  );
  const { writable, readOnly, tcp } = confinement;
  const may = [readOnly ? null : "metadata", tcp ? "sockets" : null].filter(Boolean).join(", ");
  return `${command}
  ${approved ? "ask, and approved" : "allow"} (${effects.join(", ") || "nothing"}): ${text}
  writable: ${writable.join(" ")}
  besides: ${may || "nothing"}${harmless ? " (harmless)" : ""}
`;
}

describe("verdict to confinement", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".golden"));
  test("each case has its file", () => {
    expect(files.map((name) => name.replace(".golden", "")).sort()).toEqual(
      Object.keys(CASES).sort(),
    );
  });
  for (const file of files) {
    test(file, () => {
      const path = join(folder, file);
      const [commands = "", expected = ""] = readFileSync(path, "utf8").split(SEPARATOR);
      const how = CASES[file.replace(".golden", "")];
      if (how === undefined) throw new Error(`${file} is no case`);
      const actual = commands
        .trimEnd()
        .split("\n")
        .map((command) => held(command, how))
        .join("\n");
      if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, commands + SEPARATOR + actual);
      else expect(actual).toBe(expected);
    });
  }
});

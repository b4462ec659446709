/** Verdict → what the kernel holds a command to: every row of it, as whole values. */
import { describe, expect, test } from "vitest";
import type { ActionClass, LiveGrant, Rung } from "../../daemon/policy/types.ts";
import {
  type ConfinementInput,
  confinedHint,
  confinementOf,
  confinementText,
  hold,
} from "../../daemon/sandbox/confinement.ts";

const worktree = "/srv/shop/.worktrees/dev";
const scratch = ["/tmp", "/home/agent/.cache"];
const grant = (id: string, ...paths: string[]): LiveGrant => ({
  id,
  effects: ["write"],
  paths,
  hosts: [],
  commands: [],
});

function of(
  segments: readonly (readonly [Rung, ...ActionClass[]])[],
  more: Partial<ConfinementInput> = {},
) {
  const { writable, readOnly, tcp } = confinementOf({
    segments: segments.map(([rung, ...classes]) => ({ rung, classes, rule: "g1" })),
    approved: false,
    grants: [],
    worktree,
    scratch,
    privateGitDir: "/var/lib/recinto/git/dev",
    ...more,
  });
  return `${writable.join(" ")} | ${readOnly ? "read-only" : "-"} | ${tcp ? "tcp" : "-"}`;
}

const SCRATCH = "/home/agent/.cache /tmp";
const WRITE = `/dev/shm /home/agent/.cache ${worktree} /tmp | - | tcp`;

describe("a verdict becomes a confinement", () => {
  test.each<[string, string, string]>([
    ["read", of([["scope", "read"]]), `${SCRATCH} | read-only | -`],
    ["nothing known", of([]), `${SCRATCH} | read-only | -`],
    ["scratch", of([["scope", "read", "scratch"]]), `${SCRATCH} | - | -`],
    ["loopback", of([["scope", "read", "loopback"]]), `${SCRATCH} | read-only | tcp`],
    ["write", of([["scope", "write"]]), WRITE],
    ["run", of([["scope", "run"]]), WRITE],
    ["build", of([["scope", "build"]]), WRITE],
    [
      "a read and a write in one line",
      of([
        ["scope", "read"],
        ["scope", "write"],
      ]),
      WRITE,
    ],
    [
      "git-write",
      of([["scope", "git-write"]]),
      `/dev/shm /home/agent/.cache ${worktree} /tmp /var/lib/recinto/git/dev | - | tcp`,
    ],
    [
      "git-write without a git folder",
      of([["scope", "git-write"]], { privateGitDir: null }),
      WRITE,
    ],
    [
      "an unknown verb that nobody decided about",
      of([["scope", "unknown"]]),
      `${SCRATCH} | read-only | -`,
    ],
    [
      "the same beside a write: its processes cannot be told apart",
      of([
        ["scope", "unknown"],
        ["scope", "write"],
      ]),
      `${SCRATCH} | read-only | -`,
    ],
    ["an unknown verb that a rule allows", of([["rule", "unknown"]]), WRITE],
    [
      "an unknown verb that a person approved",
      of([["default", "unknown"]], { approved: true }),
      WRITE,
    ],
    [
      "a grant on one folder",
      of([["grant", "write"]], { grants: [grant("g1", `${worktree}/src/auth/**`)] }),
      `/dev/shm /home/agent/.cache ${worktree}/src/auth /tmp | - | tcp`,
    ],
    [
      "a grant on one file",
      of([["grant", "write"]], { grants: [grant("g1", `${worktree}/a.txt`)] }),
      `/dev/shm /home/agent/.cache ${worktree}/a.txt /tmp | - | tcp`,
    ],
    [
      "somebody else's grant is not looked at",
      of([["grant", "write"]], { grants: [grant("g2", "/**"), grant("g1", `${worktree}/x/**`)] }),
      `/dev/shm /home/agent/.cache ${worktree}/x /tmp | - | tcp`,
    ],
    [
      "a read in a worktree below a scratch folder: that folder cannot be written then",
      of([["scope", "read"]], { worktree: "/tmp/project/dev" }),
      "/home/agent/.cache | read-only | -",
    ],
    [
      "a write there",
      of([["scope", "write"]], { worktree: "/tmp/project/dev" }),
      "/dev/shm /home/agent/.cache /tmp /tmp/project/dev | - | tcp",
    ],
  ])("%s", (_, actual, expected) => expect(actual).toBe(expected));
});

describe("what is told about it", () => {
  const read = { writable: scratch, readOnly: true, tcp: false };
  const write = { writable: [...scratch, "/dev/shm", worktree], readOnly: false, tcp: true };
  test.each([
    [0, write, "mounts-only"],
    [7, read, "landlock-7+seccomp: read"],
    [3, write, `landlock-3+seccomp: write ${worktree}`],
  ] as const)("Landlock %i", (abi, confinement, expected) => {
    expect(confinementText(abi, confinement, scratch)).toBe(expected);
  });

  test("a hint is given for a refusal under a narrow confinement, and for nothing else", () => {
    const hint = (exitCode: number | null, stderr: string, confinement = read) =>
      confinedHint(
        { ...confinement, writable: [...confinement.writable] },
        scratch,
        worktree,
        exitCode,
        stderr,
      );
    const refused = "touch: cannot touch 'x': Permission denied\n";
    expect(hint(1, refused)).toContain(`ask for write to ${worktree}`);
    expect(hint(0, refused)).toBeNull();
    expect(hint(1, "no such file")).toBeNull();
    expect(hint(1, refused, write as never)).toBeNull();
  });
});

test("a command that passed because the kernel would hold it does not run where the kernel does not", () => {
  const held = (approved: boolean, cls: ActionClass, landlock: number) => () =>
    hold(
      {
        segments: [{ rung: "scope", classes: [cls], rule: "scope/run" }],
        approved,
        grants: [],
        worktree,
        scratch,
        privateGitDir: null,
      },
      landlock,
    ).text;
  for (const cls of ["run", "write", "unknown"] as const) {
    expect(held(false, cls, 0)).toThrow("the kernel cannot hold commands in this sandbox");
    expect(held(true, cls, 0)()).toBe("mounts-only");
    expect(held(false, cls, 7)()).toContain("landlock-7");
  }
  expect(held(false, "read", 0)()).toBe("mounts-only");
});

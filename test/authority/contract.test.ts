/** Contracts as text: what they compile to, and what is refused where. */
import { describe, expect, it } from "vitest";
import { compileContract } from "../../daemon/authority/contract.ts";
import { compiled, TEXT } from "./contracts.ts";

const MINIMAL = "task: t\n";

function problems(text: string): string[] {
  return (compileContract(text).problems ?? []).map(
    ({ line, column, key, message }) => `${line}:${column} ${key}: ${message}`,
  );
}

describe("a contract compiles to plain values (C1)", () => {
  it("E0, Γ, Λ and G stand apart, every default is filled in", () => {
    const nothing = { paths: [], hosts: [], commands: [] };
    const rule = { ...nothing, description: "", phases: [], closes: [], uses: null };
    expect(compiled().contract).toEqual({
      task: "propagate-timeout",
      phases: ["implement", "verify", "publish"],
      envelope: [
        { ...nothing, effect: "read", paths: ["**"] },
        { ...nothing, effect: "run", commands: [["npm", "test"]] },
      ],
      grants: [
        {
          ...rule,
          name: "serialize",
          effect: "write",
          paths: ["src/serialization/**"],
          phases: ["implement"],
          closes: ["focused-tests"],
          ttlMs: 1_800_000,
          ttlNamed: false,
          approval: "none",
        },
        {
          ...rule,
          name: "deps",
          effect: "network",
          hosts: ["*.packages.example.org"],
          ttlMs: 600_000,
          ttlNamed: true,
          uses: 3,
          approval: "person",
        },
        {
          ...rule,
          name: "notes",
          effect: "write",
          paths: ["docs/**", "NOTES.md"],
          ttlMs: 3_600_000,
          ttlNamed: true,
          approval: "none",
        },
        {
          ...rule,
          name: "once",
          effect: "run",
          commands: [["make", "release"]],
          ttlMs: 1_800_000,
          ttlNamed: false,
          uses: 1,
          approval: "none",
        },
        {
          ...rule,
          name: "publish",
          effect: "git-write",
          commands: [["git", "tag"]],
          phases: ["verify", "publish"],
          closes: ["tagged", "published"],
          ttlMs: 1_800_000,
          ttlNamed: false,
          approval: "none",
        },
      ],
      closures: [
        {
          name: "focused-tests",
          when: { kind: "command", argv: ["npm", "test", "--", "serialization"], exit: 0, cwd: "" },
        },
        {
          name: "tagged",
          when: { kind: "file", path: "RELEASED", test: { kind: "exists", exists: true } },
        },
        { name: "published", when: { kind: "phase", phase: "publish" } },
      ],
      deny: {
        paths: ["**/.env", "docs/private/**"],
        hosts: ["evil.packages.example.org"],
        commands: [["git", "push"]],
      },
    });
  });

  it("survives JSON, so that a restart goes on under the same contract", () => {
    const { contract } = compiled();
    expect(JSON.parse(JSON.stringify(contract))).toEqual(contract);
  });

  it("paths and hosts come in one spelling", () => {
    const { contract } = compiled(
      `${MINIMAL}grants:\n  a: {effect: write, paths: ["./src/../lib//x/**"]}\n  b: {effect: network, hosts: ["EXAMPLE.org.:443"]}\n`,
    );
    expect(contract.grants.map(({ paths, hosts }) => [paths, hosts])).toEqual([
      [["lib/x/**"], []],
      [[], ["example.org:443"]],
    ]);
  });

  it("a task alone has an empty envelope and nothing to ask for", () => {
    expect(compiled(MINIMAL).contract).toEqual({
      task: "t",
      phases: [],
      envelope: [],
      grants: [],
      closures: [],
      deny: { paths: [], hosts: [], commands: [] },
    });
  });
});

describe("a contract that cannot be held is refused where it is wrong", () => {
  it("globs for writing that the kernel cannot hold, each with the nearest form it can", () => {
    const text = `${MINIMAL}grants:
  a:
    effect: write
    paths:
      - src/*.ts
      - "**/*.md"
      - src/*/gen/**
      - src/
      - "a{b,c}"
`;
    expect(problems(text)).toEqual(['9:9 grants.a.paths.3: "src/" names a folder: write src/**']);
    expect(problems(text.replace("      - src/\n", ""))).toEqual([
      '6:9 grants.a.paths.0: "src/*.ts" cannot be enforced for writing: name single files, or the folder: src/**',
      '7:9 grants.a.paths.1: "**/*.md" cannot be enforced for writing: name single files, or the folder: **',
      '8:9 grants.a.paths.2: "src/*/gen/**" cannot be enforced for writing: name single files, or the folder: src/**',
      '9:9 grants.a.paths.3: "a{b,c}" cannot be enforced for writing: name single files, or the folder: **',
    ]);
  });

  it.each([
    ["/etc/passwd", '"/etc/passwd" is absolute: name it from the worktree down'],
    ["../x", '"../x" leaves the worktree: name something inside it'],
    ["a/../../x", '"a/../../x" leaves the worktree: name something inside it'],
    ["*/../../x", '"*/../../x" leaves the worktree: name something inside it'],
    [".", '"." names the worktree itself: write ** for all of it'],
  ])("a path outside the worktree: %s", (path, message) => {
    expect(problems(`${MINIMAL}deny:\n  - paths: ["${path}"]\n`)).toEqual([
      `3:13 deny.0.paths.0: ${message}`,
    ]);
  });

  it.each([
    ["*", '"*" is refused: every host is no host: name those that the task needs'],
    ["*.com", '"*.com" is refused: anybody can have a name below com'],
    ["*.co.uk", '"*.co.uk" is refused: anybody can have a name below co.uk'],
    [
      "ex*mple.org",
      '"ex*mple.org" is refused: a wildcard stands for whole labels in front: write *.example.org',
    ],
    [
      "https://x.org/a",
      '"https://x.org/a" is refused: a host has no scheme and no path: write example.org',
    ],
    ["x.org:70000", '"x.org:70000" is refused: not a port'],
  ])("a host that is none: %s", (host, message) => {
    const text = `${MINIMAL}grants:\n  n: {effect: network, hosts: ["${host}"]}\n`;
    expect(problems(text)).toEqual([`3:32 grants.n.hosts.0: ${message}`]);
  });

  it("references to what is not there", () => {
    const text = `${MINIMAL}phases: [a, a]
grants:
  w: {effect: write, paths: [x], phase: b, closes: [c, d]}
closures:
  c: {phase: z}
`;
    expect(problems(text)).toEqual([
      "2:13 phases.1: the phase a is there twice",
      "4:41 grants.w.phase: there is no phase b; there are a, a",
      "4:56 grants.w.closes.1: there is no closure d; there are c",
      "6:14 closures.c.phase: there is no phase z; there are a, a",
    ]);
  });

  it.each([
    ["w: {effect: write}", "3:6 grants.w: a grant for write names its paths: add paths: […]"],
    [
      "w: {effect: run, paths: [a]}",
      "3:6 grants.w: a grant for run names its commands: add commands: […]",
    ],
    [
      "w: {effect: network, hosts: [x.org], paths: [a]}",
      "3:47 grants.w.paths: network is not on paths: make a second grant with effect: write",
    ],
    [
      "w: {effect: read, paths: [a], hosts: [x.org]}",
      "3:40 grants.w.hosts: read reaches no host: make a second grant with effect: network",
    ],
    [
      "w: {effect: privilege}",
      '3:15 grants.w.effect: invalid option: expected one of "read"|"write"|"run"|"git-write"|"network"|"install" (it is "privilege")',
    ],
    [
      "w: {effect: write, paths: [a], ttl: 10}",
      "3:39 grants.w.ttl: must be a duration such as 90s, 10m or 2h (it is 10)",
    ],
    ["w: {effect: write, paths: [a], ttl: 48h}", '3:39 grants.w.ttl: "48h" is outside 1s to 24h'],
    [
      "w: {effect: write, paths: [a], uses: 0}",
      "3:40 grants.w.uses: too small: expected number to be >=1 (it is 0)",
    ],
    [
      "w: {effect: run, commands: [npm test]}",
      '3:31 grants.w.commands.0: must be a list of words such as [npm, test] (it is "npm test")',
    ],
    [
      "w: {effect: write, paths: [a], extend: true}",
      '3:34 grants.w: unknown key "extend": see docs/authority.md for those there are',
    ],
    [
      "W: {effect: write, paths: [a]}",
      '3:3 grants.W: the name "W" must be lower-case words joined by -, such as focused-tests',
    ],
  ])("a grant rule that says too little or too much: %s", (rule, problem) => {
    expect(problems(`${MINIMAL}grants:\n  ${rule}\n`)).toEqual([problem]);
  });

  it.each([
    ["c: {}", "3:6 closures.c: a closure has one of command, phase, file, ttl, this one has none"],
    [
      "c: {ttl: 1m, command: [a]}",
      "3:6 closures.c: a closure has one of command, phase, file, ttl, this one has command and ttl",
    ],
    [
      "c: {ttl: 1m, exit: 0}",
      "3:22 closures.c.exit: exit belongs to a command: add command: […] or remove it",
    ],
    [
      "c: {file: {path: '*.md'}}",
      '3:20 closures.c.file.path: "*.md" has a wildcard: name one path',
    ],
    [
      "c: {file: {path: a, exists: true, contains: b}}",
      "3:13 closures.c.file: one test only: keep exists, sha256 or contains",
    ],
    [
      "c: {file: {path: a, sha256: abc}}",
      '3:31 closures.c.file.sha256: must be 64 lower-case hex digits, as sha256sum prints (it is "abc")',
    ],
  ])("a closure that cannot be told: %s", (closure, problem) => {
    expect(problems(`${MINIMAL}closures:\n  ${closure}\n`)).toEqual([problem]);
  });

  it("network is never in an envelope: it always has an end", () => {
    expect(problems(`${MINIMAL}envelope:\n  - {effect: network}\n`)).toEqual([
      '3:14 envelope.0.effect: must be read, write, run or git-write: network and install always take a grant with an end (it is "network")',
    ]);
  });

  it("text that is no YAML, twice the same key, too much of it", () => {
    expect([
      problems("task: [").map((each) => each.slice(0, 4)),
      problems("task: a\ntask: b\n"),
      problems(`task: a #${"x".repeat(300_000)}`),
      problems("[]"),
      problems(""),
    ]).toEqual([
      ["1:8 "],
      ["2:1 : Map keys must be unique"],
      ["1:1 : longer than 262144 characters: split the task"],
      ["1:1 : invalid input: expected object, received array"],
      ["1:1 task: must be lower-case words joined by -, such as focused-tests"],
    ]);
  });

  it("every problem is told at once, in the order of the text", () => {
    const broken = TEXT.replace("10m", "1d").replace("uses: 1", "uses: many");
    expect(problems(broken).map((each) => each.split(": ")[0])).toEqual([
      "8:67 grants.deps.ttl",
      "10:58 grants.once.uses",
    ]);
  });
});

/** Profiles: what the shipped ones say, how `extends` merges, and where a fault is said to be. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import {
  listProfiles,
  loadProfile,
  parseProfile,
  SHIPPED_PROFILES_DIR,
} from "../../daemon/settings/profiles.ts";

let dir: string;
beforeEach(() => {
  // Not below /tmp by chance of TMPDIR: an admin's file may have sticky folders above it only.
  dir = mkdtempSync("/tmp/recinto-profiles-");
});
afterEach(() => rmSync(dir, { recursive: true }));

function write(name: string, text: string): void {
  writeFileSync(join(dir, `${name}.yaml`), text, { mode: 0o644 });
}

function errorOf(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof RecintoError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("nothing was thrown");
}

function messageOf(text: string): string {
  return errorOf(() => parseProfile(text, { name: "x", file: "x.yaml" })).message;
}

test("the shipped profiles allow what the design's table says, and no more", () => {
  const standing = (name: string) => loadProfile(name, [SHIPPED_PROFILES_DIR]).policy.standing;
  expect(standing("review")).toEqual({
    read: "allow",
    build: "ask",
    run: "ask",
    write: "ask",
    scratch: "ask",
    "git-write": "ask",
    loopback: "ask",
  });
  expect(standing("default")).toEqual({ ...standing("review"), build: "allow" });
  expect(standing("dev")).toEqual({
    read: "allow",
    build: "allow",
    run: "allow",
    write: "allow",
    scratch: "allow",
    "git-write": "allow",
    loopback: "allow",
  });
});

test("every shipped profile loads, and differs from default only in what it says", () => {
  expect(listProfiles([SHIPPED_PROFILES_DIR])).toEqual(["default", "dev", "review"]);
  const { name, description, policy, git, ...rest } = loadProfile("default", [
    SHIPPED_PROFILES_DIR,
  ]);
  for (const other of ["dev", "review"]) {
    expect(loadProfile(other, [SHIPPED_PROFILES_DIR])).toMatchObject({
      ...rest,
      policy: { protectedBranches: policy.protectedBranches, unknown: "ask", rules: [] },
    });
  }
  expect([git, loadProfile("review", [SHIPPED_PROFILES_DIR]).git]).toEqual(["read", "read"]);
  expect(loadProfile("dev", [SHIPPED_PROFILES_DIR]).git).toBe("commit");
  expect(rest.limits).toEqual({
    memoryBytes: 4 * 2 ** 30,
    cpus: 2,
    pids: 512,
    openFiles: 4096,
    shmBytes: 64 * 2 ** 20,
    tmpBytes: 2 ** 30,
    cacheBytes: 2 ** 30,
    fileBytes: null,
    growthBytes: 20 * 2 ** 30,
    outputBytes: 64 * 2 ** 20,
    backgroundMs: 12 * 60 * 60_000,
    wallClockMs: 600_000,
    idleStopMs: 1_800_000,
    commandsPerSession: 32,
    commandsPerProject: 128,
    commandsQueued: 64,
  });
});

test("a profile that says nothing allows nothing", () => {
  write("bare", "");
  const { standing } = loadProfile("bare", [dir]).policy;
  expect(new Set(Object.values(standing))).toEqual(new Set(["ask"]));
});

test("maps merge key by key, lists are replaced, rules are added", () => {
  write(
    "base",
    `
env: {A: one, B: two}
readable: [/srv/one]
policy:
  standing: {read: allow}
  verbs: {make-docs: {class: build}}
  protectedBranches: [trunk]
  rules: [{action: deny, pattern: npm publish *, justification: by the pipeline only}]
`,
  );
  write(
    "child",
    `
extends: base
env: {B: three}
readable: [/srv/two]
policy:
  standing: {build: allow}
  verbs: {acme: {class: run, pathOptions: [--out]}}
  rules: [{id: fetch, action: allow, pattern: [git, fetch], justification: harmless}]
`,
  );
  const { env, readable, policy } = loadProfile("child", [dir]);
  expect({ env, readable, policy }).toEqual({
    env: { A: "one", B: "three" },
    readable: ["/srv/two"],
    policy: {
      standing: {
        read: "allow",
        build: "allow",
        run: "ask",
        write: "ask",
        scratch: "ask",
        "git-write": "ask",
        loopback: "ask",
      },
      protectedBranches: ["trunk"],
      protectedFiles: [],
      unknown: "ask",
      denials: { consecutive: 3, total: 20 },
      verbs: [
        { name: "make-docs", class: "build", pathOptions: [], readSubcommands: [] },
        { name: "acme", class: "run", pathOptions: ["--out"], readSubcommands: [] },
      ],
      rules: [
        {
          id: "base/1",
          source: "admin",
          action: "deny",
          tool: "exec",
          pattern: ["npm", "publish", "*"],
          justification: "by the pipeline only",
        },
        {
          id: "child/fetch",
          source: "admin",
          action: "allow",
          tool: "exec",
          pattern: ["git", "fetch"],
          justification: "harmless",
        },
      ],
    },
  });
});

test("a profile that extends its own name means the one in the next folder", () => {
  write("dev", "extends: dev\nlimits: {memory: 1GiB}\n");
  const { limits, policy } = loadProfile("dev", [dir, SHIPPED_PROFILES_DIR]);
  expect(limits.memoryBytes).toBe(2 ** 30);
  expect(policy.standing.write).toBe("allow");
});

test("a loop of extends is an error that shows the loop", () => {
  write("a", "extends: b");
  write("b", "extends: a");
  expect(errorOf(() => loadProfile("a", [dir]))).toEqual({
    code: "bad-profile",
    message: `${dir}/a.yaml: extends itself: a → b → a`,
  });
});

test("a chain of extends has an end", () => {
  for (let n = 0; n < 12; n++) write(`p${n}`, `extends: p${n + 1}`);
  expect(errorOf(() => loadProfile("p0", [dir])).message).toContain("more than 8 profiles");
});

test("a name that would lead out of the folder is no profile name", () => {
  write("climber", "extends: ../../etc/passwd");
  expect(errorOf(() => loadProfile("../climber", [dir])).message).toContain("not a profile name");
  expect(errorOf(() => loadProfile("climber", [dir])).message).toBe(
    `${dir}/climber.yaml:1:10: extends: must be the name of a profile`,
  );
});

test.each([
  ["unknown key", "limits:\n  memory: 1GiB\n  cpu: 2\n", 'x.yaml:3:3: limits: unknown key "cpu"'],
  ["misspelt top key", "extnds: default", 'x.yaml:1:1: unknown key "extnds"'],
  [
    "size without unit",
    "limits:\n  memory: 512",
    "x.yaml:2:11: limits.memory: must be a size such as 512MiB or 4GiB",
  ],
  [
    "size out of bounds",
    "limits: {memory: 1KiB}",
    "x.yaml:1:18: limits.memory: must be between 16MiB and 4TiB",
  ],
  [
    "duration in words",
    "approvalWait: ten minutes",
    "x.yaml:1:15: approvalWait: must be a duration such as 30s or 10m",
  ],
  [
    "moving tag",
    "image: recinto/base:latest",
    "x.yaml:1:8: image: must not be `latest`: it moves; name a tag, a local id or a digest",
  ],
  [
    "variable that changes what runs",
    "env:\n  OK: '1'\n  LD_PRELOAD: /x.so",
    "x.yaml:3:3: env.LD_PRELOAD: is set by the sandbox or changes what a judged command runs",
  ],
  [
    "no justification",
    "policy:\n  rules:\n    - {action: deny, pattern: x, justification: ' '}",
    "x.yaml:3:49: policy.rules.0.justification: must not be empty: it is what the refused or asked person reads",
  ],
  ["same key twice", "git: none\ngit: read", "x.yaml:2:1: Map keys must be unique"],
  ["a tag nobody knows", "image: !run foo", "x.yaml:1:8: Unresolved tag: !run"],
  [
    "relative readable root",
    "readable: [../secrets]",
    "x.yaml:1:12: readable.0: must be an absolute path without . or .. and other than /",
  ],
  ["a list", "- a", "x.yaml:1:1: invalid input: expected object, received array"],
])("%s is an error with line and column", (_, text, message) => {
  expect(messageOf(text)).toBe(message);
});

test("all problems are in the details, the first in the message", () => {
  const run = () => parseProfile("a: 1\nb: 2\ngit: maybe\n", { name: "x", file: "x.yaml" });
  expect(errorOf(run).message).toBe('x.yaml:1:1: unknown key "a" (and 2 more)');
});

test("an alias bomb is refused, not unfolded", () => {
  const levels = Array.from({ length: 12 }, (_, n) =>
    n === 0
      ? "a0: &a0 [x, x, x, x, x, x]"
      : `a${n}: &a${n} [${Array(9)
          .fill(`*a${n - 1}`)
          .join(", ")}]`,
  );
  const startedAt = performance.now();
  expect(messageOf(levels.join("\n"))).toContain("Excessive alias count");
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test("a key named __proto__ is only an unknown key", () => {
  expect(messageOf("policy:\n  standing:\n    __proto__: {run: allow}")).toBe(
    'x.yaml:3:5: policy.standing: unknown key "__proto__"',
  );
  expect(({} as { run?: string }).run).toBeUndefined();
});

test("a profile in a folder that others can write is refused", () => {
  write("x", "");
  chmodSync(dir, 0o777);
  expect(errorOf(() => loadProfile("x", [dir]))).toEqual({
    code: "unsafe-admin-file",
    message: `${dir} can be written by others (mode 777)`,
  });
});

test("a rule that does not do what its examples say is not loaded", () => {
  const rule = (examples: string) =>
    `policy:\n  rules:\n    - action: deny\n      pattern: npm publish *\n      justification: by the pipeline\n      ${examples}`;
  expect(messageOf(rule("match: [npm publish, npm pack]"))).toBe(
    'x.yaml:6:28: policy.rules.0.match.1: the rule does not match its example "npm pack"',
  );
  expect(messageOf(rule("not_match: [cd x && npm publish]"))).toBe(
    'x.yaml:6:19: policy.rules.0.not_match.0: the rule matches its example "cd x && npm publish"',
  );
  const good = rule("match: [npm publish, npm publish --dry-run]\n      not_match: [npm pack]");
  expect(parseProfile(good, { name: "x", file: "x.yaml" }).rules).toHaveLength(1);
});

test.each([
  ["~/.npm", true],
  ["~/.cargo/registry", true],
  ["~/.m2/repository", true],
  ["~/.local/share/pnpm", true],
  ["~/.cargo", false],
  ["~/.cargo/config.toml", false],
  ["~/.cargo/bin", false],
  ["~/.config/x", false],
  ["~/.gitconfig", false],
  ["~/.bash_profile.d", false],
  ["~/.cache", false],
  ["~/.cache/npm", false],
  ["~/.ssh/x", false],
  ["~", false],
  ["~/../x", false],
  ["/tmp/x", false],
])("a cache at %s is taken: %s, since settings must not be writable in there", (path, taken) => {
  const parse = () =>
    parseProfile(`extends: default\ncaches: {x: ${JSON.stringify(path)}}\n`, {
      name: "x",
      file: "x.yaml",
    });
  if (taken) expect(parse().fields.caches).toEqual({ x: path });
  else expect(parse).toThrow(/caches/);
});

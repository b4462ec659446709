/** Saved rules: one file per project, changed whole, and nothing in it lost. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecintoError } from "../../daemon/errors.ts";
import { RuleStore } from "../../daemon/supervisor/rule-store.ts";
import type { StoredRule } from "../../daemon/supervisor/supervisor-interface.ts";

let state: string;
let file: string;
let clock = Date.parse("2030-01-01T00:00:00Z");
let store: RuleStore;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "recinto-rules-"));
  file = join(state, "rules", "web.yaml");
  clock = Date.parse("2030-01-01T00:00:00Z");
  store = new RuleStore(state, () => clock);
});

afterEach(() => rmSync(state, { recursive: true }));

const rule = (id: string, more: Partial<StoredRule> = {}): StoredRule => ({
  id,
  prefix: ["git", "commit"],
  effects: ["git-write"],
  paths: [],
  savedAt: clock,
  savedBy: 0,
  expiresAt: null,
  savedFor: 'git commit -m "first: x"',
  ...more,
});

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    return error instanceof RecintoError ? error.code : `not ours: ${String(error)}`;
  }
  return undefined;
}

test("what is saved is listed as it was, also by the next daemon, and is nobody else's to write", () => {
  store.save("web", rule("r1"));
  store.save("web", rule("r2", { expiresAt: clock + 60_000, paths: ["/srv/web"] }));
  const again = new RuleStore(state, () => clock);
  expect(again.list("web")).toEqual([
    rule("r1"),
    rule("r2", { expiresAt: clock + 60_000, paths: ["/srv/web"] }),
  ]);
  expect(again.list("api")).toEqual([]);
  expect((statSync(file).mode & 0o777).toString(8)).toBe("644");
});

test("A6: the policy gets the prefix with any rest, bounded by effects and paths, never the line", () => {
  store.save("web", rule("r1", { paths: ["/srv/web"] }));
  expect(store.policyRules("web")).toEqual([
    {
      id: "saved/r1",
      source: "project",
      action: "allow",
      tool: "exec",
      pattern: ["git", "commit", "*"],
      effects: ["git-write"],
      paths: ["/srv/web"],
      justification: "approved with always by uid 0 on 2030-01-01T00:00:00.000Z",
    },
  ]);
});

test("B8: saving and revoking keep what an admin wrote by hand, comments and order", () => {
  mkdirSync(join(state, "rules"));
  writeFileSync(
    file,
    `# reviewed by ops
rules:
  # deploys are looked at by hand
  - {id: hand, prefix: [make, docs], effects: [run], paths: [], savedAt: "2029-01-01T00:00:00Z", savedBy: 0, expiresAt: null, savedFor: make docs}
`,
  );
  store.save("web", rule("r1"));
  store.save("web", rule("r2"));
  store.revoke("web", "r1");
  const text = readFileSync(file, "utf8");
  expect(text).toContain("# reviewed by ops");
  expect(text).toContain("# deploys are looked at by hand");
  expect(store.list("web").map(({ id }) => id)).toEqual(["hand", "r2"]);
});

test("an expired rule is neither listed nor used, and goes at the next save", () => {
  store.save("web", rule("short", { expiresAt: clock + 1_000 }));
  clock += 1_000;
  expect(store.list("web")).toEqual([]);
  expect(store.policyRules("web")).toEqual([]);
  store.save("web", rule("r2"));
  expect(readFileSync(file, "utf8")).not.toContain("short");
});

test("an edit by hand counts at once, and a file that cannot be read is not overwritten", () => {
  store.save("web", rule("r1"));
  writeFileSync(file, "rules: []\n# emptied by hand\n");
  expect(store.list("web")).toEqual([]);
  writeFileSync(file, "rules: [\n");
  expect(codeOf(() => store.list("web"))).toBe("bad-config");
  expect(codeOf(() => store.save("web", rule("r2")))).toBe("bad-config");
  expect(readFileSync(file, "utf8")).toBe("rules: [\n");
});

test("a file that others can write is not believed", () => {
  store.save("web", rule("r1"));
  chmodSync(file, 0o666);
  expect(codeOf(() => store.list("web"))).toBe("unsafe-admin-file");
});

test("another process that holds the lock is waited out, a dead one's lock is taken over", () => {
  store.save("web", rule("r1"));
  writeFileSync(`${file}.lock`, String(process.ppid));
  expect(codeOf(() => store.save("web", rule("r2")))).toBe("busy");
  writeFileSync(`${file}.lock`, "4194399");
  store.save("web", rule("r2"));
  expect(store.list("web")).toHaveLength(2);
});

test("a rule that is not there cannot be revoked, nor a project outside the folder named", () => {
  expect(codeOf(() => store.revoke("web", "r9"))).toBe("not-found");
  expect(codeOf(() => store.list("../web"))).toBe("unknown-project");
});

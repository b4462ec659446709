/** `recinto policy`, `stats` and `session rules` as a person types them: what is shown, and that Enter trusts nothing. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { statsText } from "../../daemon/cli/stats.ts";
import { POLICY_FILE, STATS } from "../api/fake-supervisor.ts";
import { type RunningApi, startApi } from "../api/running-api.ts";
import { cli } from "./run-cli.ts";

let api: RunningApi;
let folder: string;
beforeEach(async () => {
  api = await startApi();
  folder = mkdtempSync("/tmp/recinto-policy-cli-");
});
afterEach(async () => {
  await api.stop();
  rmSync(folder, { recursive: true });
});

const admin = (...words: string[]) => ["--run-dir", api.runDir, ...words];

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe("trust", () => {
  const SHA = "a".repeat(64);

  function policyFile(state: typeof POLICY_FILE.state = "not-trusted"): string {
    mkdirSync(join(folder, ".recinto"));
    const file = join(folder, ".recinto/policy.yaml");
    const rules = [
      { id: "1", action: "allow", rule: "git fetch *", justification: "reads \u202eonly" },
      { id: "2", action: "deny", rule: "write **/*.pem" },
    ] as const;
    const problem = state === "broken" ? { problem: "policy.yaml:1:1: rules must be a list" } : {};
    api.supervisor.policyFiles = [{ ...POLICY_FILE, file, state, rules, sha256: SHA, ...problem }];
    return file;
  }

  test.each([
    ["an empty line", "\n"],
    ["no", "n\n"],
    ["end of input", ""],
  ])("rules and hash are shown first, and %s trusts nothing (B8)", async (_, input) => {
    const file = policyFile();
    const ran = await cli(admin("policy", "trust", "alpha", file), { input });
    expect(ran).toEqual({
      code: 64,
      out: `${file}
  allow git fetch *  (reads ⟨U+202E⟩only)
  deny  write **/*.pem
sha256 ${SHA}
an agent can write this file: a change of it is trusted no more. It never lifts the admin's denies, safety or ceilings.
`,
      err: "trust exactly this content? [y/N] recinto: nothing was trusted (answer y, or give --yes)\n",
    });
    expect(api.supervisor.trusted).toEqual([]);
  });

  test("y trusts the content that was shown, named from any folder", async () => {
    const file = policyFile();
    const words = admin("policy", "trust", "alpha", ".recinto/policy.yaml");
    expect(await cli(words, { input: "y\n", cwd: folder })).toMatchObject({ code: 0 });
    expect(api.supervisor.trusted).toEqual([`${file} ${SHA}`]);
  });

  test("what is broken, or no policy file, is not asked about", async () => {
    const file = policyFile("broken");
    const broken = await cli(admin("policy", "trust", "alpha", file), { input: "y\n" });
    expect([broken.code, broken.err]).toEqual([
      78,
      `recinto: ${file}: policy.yaml:1:1: rules must be a list (mend the rule file at the line and column named)\n`,
    ]);
    const other = await cli(admin("policy", "trust", "alpha", "/etc/passwd"), { input: "y\n" });
    expect([other.code, other.err]).toEqual([
      66,
      `recinto: /etc/passwd is no policy file of project alpha (there are: ${file})\n`,
    ]);
    expect(api.supervisor.trusted).toEqual([]);
  });

  test("files lists all with their state and what is wrong", async () => {
    const file = policyFile("broken");
    expect((await cli(admin("policy", "files", "alpha"))).out).toBe(
      `SOURCE   OF     STATE   RULES  FILE
project  alpha  broken  2      ${file}
${file}: policy.yaml:1:1: rules must be a list
`,
    );
    expect((await cli(admin("policy", "distrust", "alpha", file))).out).toBe(
      "1 trusted contents forgotten\n",
    );
  });
});

describe("import, without a daemon", () => {
  const SETTINGS = `{"permissions": {
  "allow": ["Bash(npm run lint:*)", "Bash(curl:*)"],
  "deny": ["Read(.env)"]
}}`;

  test("the rules go to stdout, what was left out with its reason to stderr", async () => {
    const ran = await cli(["policy", "import", write("settings.json", SETTINGS)]);
    expect(ran).toEqual({
      code: 0,
      out: `# Imported from settings.json (claude).
# What is allowed still has to stay in scope; safety patterns and the admin's denies stand above it.
rules:
  - pattern: npm run lint *
    action: allow
  - pattern: "**/.env/**"
    action: deny
    tool: read
`,
      err: `2 rules carried over, 1 not
  line 2: Bash(curl:*)
    it allows whatever the program runs, fetches or installs: that takes a grant with an end, or a verb of the catalogue
`,
    });
  });

  test("--out writes a new file and never over one", async () => {
    const settings = write("settings.json", SETTINGS);
    const out = join(folder, "rules.yaml");
    expect((await cli(["policy", "import", settings, "--out", out])).code).toBe(0);
    expect(readFileSync(out, "utf8")).toContain("npm run lint *");
    const again = await cli(["policy", "import", settings, "--out", out]);
    expect([again.code, again.err]).toEqual([64, expect.stringContaining("not there yet")]);
  });

  test("a text of no known format is refused with the formats", async () => {
    const ran = await cli(["policy", "import", write("x.txt", "hello")]);
    expect([ran.code, ran.err]).toEqual([
      64,
      `recinto: ${folder}/x.txt: no format that is known (--format claude, codex, chatcli)\n`,
    ]);
  });
});

describe("looking back", () => {
  test("replay shows each change with the rules that decided, then the sum", async () => {
    const { code, out } = await cli(admin("policy", "replay", "--profile", "dev", "--since", "7d"));
    expect([code, out.replace(/^[\d-]+ [\d:]+ /, "")]).toEqual([
      0,
      `ask → allow  alpha  node x.js
    profile/run → scope/run
3 actions under dev: 2 as before, ask → allow: 1
`,
    ]);
  });

  test("a profile's file goes as its text, and its name is the file's", async () => {
    const file = write("strict.yaml", "extends: default\n");
    const { out } = await cli(admin("policy", "replay", "--profile", file, "--json"));
    expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toMatchObject({ profile: "strict" });
  });

  test("stats are figures a person can read, and JSON (A13)", async () => {
    expect(JSON.parse((await cli(admin("stats", "--json"))).out)).toEqual(STATS);
    const text = statsText(JSON.parse(JSON.stringify(STATS)));
    expect((await cli(admin("stats"))).out).toBe(text);
    expect(text.split("\n").slice(1).join("\n")).toBe(`
ACTIONS               2
passed by themselves  1 (50 %)
asked                 1 (50 %)
denied by the policy  0 (0 %)
questions to people   1, 50 per 100 actions
  approved            1 once, 0 always
  denied              0
  nobody answered     0
  cancelled           0
  answered after      2 s median, 2 s p95
  over after          2 s median, 2 s p95

ROOT THAT AUTHORISED  PASSES
/project              1

RULE         ASKS  DENIES
profile/run  1     0
`);
  });
});

describe("rules of a session", () => {
  test("are given with whom they are for and how long, and cleared", async () => {
    const file = write("rules.yaml", "rules: []\n");
    const at = ["--project", "alpha", "--worktree", "dev"];
    const given = await cli(admin("session", "rules", ...at, "--uid", "7", "--for", "2h", file));
    expect(given).toMatchObject({
      code: 0,
      out: "dev: for uid 7 there, until they are cleared\n  allow git fetch *\n",
    });
    expect((await cli(admin("session", "rules", ...at, "--clear"))).code).toBe(0);
    expect((await cli(admin("session", "rules", ...at))).code).toBe(64);
    expect(api.supervisor.sessionRules).toEqual([
      { project: "alpha", worktree: "dev", uid: 7, text: "rules: []\n", expiresInMs: 7_200_000 },
      { project: "alpha", worktree: "dev", text: "rules: []" },
    ]);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "recinto agent gives them for the user it becomes, before the agent starts",
    async () => {
      const worktree = join(folder, "dev");
      mkdirSync(worktree);
      chmodSync(folder, 0o755);
      chownSync(worktree, 61_001, 61_001);
      const file = write("rules.yaml", "rules: []\n");
      const at = ["--project", "alpha", "--worktree", worktree, "--rules", file];
      const ran = await cli(admin("agent", ...at, "--", "id", "-u"));
      expect(ran).toMatchObject({ code: 0, out: "61001\n" });
      expect(api.supervisor.sessionRules).toEqual([
        { project: "alpha", worktree, uid: 61_001, text: "rules: []\n" },
      ]);
      const broken = await cli(admin("agent", ...at.slice(0, -1), "/none", "--", "id", "-u"));
      expect([broken.code === 0, broken.out]).toEqual([false, ""]);
    },
  );
});

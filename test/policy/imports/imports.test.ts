/** Importing what people have: the same meaning where there is one, and a reason for every line that has none. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importChatCli } from "../../../daemon/policy/imports/chatcli.ts";
import { importClaude } from "../../../daemon/policy/imports/claude.ts";
import { importCodex } from "../../../daemon/policy/imports/codex.ts";
import type { Imported } from "../../../daemon/policy/imports/imported.ts";
import { formatOf, ruleYaml } from "../../../daemon/policy/imports/rule-yaml.ts";
import { checkRuleFile } from "../../../daemon/policy/rule-file-check.ts";
import { judged } from "../judged.ts";

const rulesOf = ({ rules }: Imported) =>
  rules.map(({ action, tool, pattern }) => `${action} ${tool} ${pattern.join(" ")}`);
const reasons = ({ leftOut }: Imported) =>
  leftOut.map(({ line, text, reason }) => [line, text, reason]);

const GRANT =
  "it allows whatever the program runs, fetches or installs: that takes a grant with an end, or a verb of the catalogue";

describe("Claude Code's settings.json", () => {
  const settings = `{
  "permissions": {
    "allow": [
      "Bash(npm run test:*)",
      "Bash(git status)",
      "Bash(npm run lint*)",
      "Bash(git log --oneline *)",
      "Read(./src/**)",
      "Read(//srv/shared/**)",
      "Edit(docs/**)",
      "Bash(python:*)",
      "Bash(curl:*)",
      "Bash(npm install:*)",
      "Bash",
      "Bash(./scripts/gen.sh)",
      "Bash(npm test && git push)",
      "WebFetch(domain:example.com)",
      "mcp__files__read"
    ],
    "ask": ["Bash(git push:*)", "Bash(git * main)"],
    "deny": ["Read(.env)", "Read(~/.ssh/**)", "Read(./secrets/)", "Write(*.pem)", "Bash(sudo:*)"],
    "additionalDirectories": ["../other"],
    "defaultMode": "bypassPermissions"
  },
  "hooks": {}
}`;

  it("carries commands and paths over, word by word", () => {
    expect(rulesOf(importClaude(settings))).toEqual([
      "allow exec npm run test *",
      "allow exec git status",
      "allow exec npm run lint* *",
      "allow exec git log --oneline *",
      "allow read src/**",
      "allow read /srv/shared/**",
      "allow write docs/**",
      "allow exec ./scripts/gen.sh",
      "ask exec git push *",
      "ask exec git * main",
      "deny read **/.env/**",
      "deny read secrets/**",
      "deny write **/*.pem",
      "deny exec sudo *",
    ]);
  });

  it("says for every other line where it stands and why it is not there", () => {
    expect(reasons(importClaude(settings))).toEqual([
      [11, "Bash(python:*)", GRANT],
      [12, "Bash(curl:*)", GRANT],
      [13, "Bash(npm install:*)", GRANT],
      [14, "Bash", "it allows every command; say which, or choose the profile dev"],
      [16, "Bash(npm test && git push)", expect.stringContaining("words of one command")],
      [17, "WebFetch(domain:example.com)", expect.stringContaining("grants")],
      [18, "mcp__files__read", "it is neither a command nor a file"],
      [21, "Read(~/.ssh/**)", expect.stringContaining("home folder")],
      [22, "additionalDirectories", "folders outside the project are `readable:` in the profile"],
      [23, "defaultMode", "what passes without asking is the profile's `policy.standing`"],
      [25, "hooks", expect.stringContaining("not run")],
    ]);
    expect(importClaude(settings).notes).toEqual([
      { line: 20, text: "Bash(git * main)", reason: "a * between words stands for one word here" },
    ]);
  });

  it("the rules do here what they did there", () => {
    const { rules } = checkRuleFile(ruleYaml(importClaude(settings), "x"), "project", "i");
    const verdict = (command: string) => judged(command, { rules }).verdict;
    expect(
      ["cat .env", "cat a/b/.env", "cat secrets/key", "touch deep/x.pem"].map(verdict),
    ).toEqual(["deny", "deny", "deny", "deny"]);
    expect(["touch docs/a.md", "touch src/a.md", "sudo ls", "git push"].map(verdict)).toEqual([
      "allow",
      "ask",
      "deny",
      "ask",
    ]);
  });

  it("text that is no JSON is one line in the report", () => {
    const { rules, leftOut } = importClaude('{"permissions": {');
    expect([rules, leftOut.length > 0]).toEqual([[], true]);
  });
});

describe("Codex's rule files", () => {
  const text = `# what may run
prefix_rule(
    pattern = ["git", ["status", "log"]],
    decision = "allow",  # no change
    justification = 'reads only',
    match = [["git", "status"], "git log -1"],
    not_match = ["git push"],
)
prefix_rule(pattern=["git", "push"], decision="prompt")
prefix_rule(pattern=["rm"], decision="forbidden", justification="""ask
a person""")
prefix_rule(pattern=["ls"])
prefix_rule(pattern=["bash", "-c"], decision="allow")
prefix_rule(pattern=["echo", "*"], decision="allow")
prefix_rule(pattern=[], decision="allow")
prefix_rule(pattern=["x"], decision="maybe")
prefix_rule(pattern=["x"], mood="good")
network_rule(host="example.org", protocol="https", decision="allow")
host_executable(name="git", paths=["/usr/bin/git"])
for tool in TOOLS:
    prefix_rule(pattern=["in", "a", "block"])
prefix_rule(pattern=["a"] + ["b"])
prefix_rule(pattern=["make", "lint"])
prefix_rule(pattern=["never", "closed"
`;

  it("reads literals, makes a pattern of each alternative and keeps the examples that are about it", () => {
    const imported = importCodex(text);
    expect(imported.rules).toEqual([
      {
        action: "allow",
        tool: "exec",
        pattern: ["git", "status", "*"],
        justification: "reads only",
        match: ["git status"],
        notMatch: ["git push"],
      },
      {
        action: "allow",
        tool: "exec",
        pattern: ["git", "log", "*"],
        justification: "reads only",
        match: ["git log -1"],
        notMatch: ["git push"],
      },
      { action: "ask", tool: "exec", pattern: ["git", "push", "*"] },
      { action: "deny", tool: "exec", pattern: ["rm", "*"], justification: "ask\na person" },
      { action: "allow", tool: "exec", pattern: ["ls", "*"] },
    ]);
  });

  it("evaluates nothing: whatever is not a literal call is reported with its line", () => {
    expect(reasons(importCodex(text)).map(([line, , reason]) => [line, reason])).toEqual([
      [13, GRANT],
      [14, "*, ? and [ stand for themselves there and for any text here"],
      [15, "pattern must be a list of words"],
      [16, "decision must be allow, prompt or forbidden"],
      [17, "mood is not known"],
      [18, expect.stringContaining("grants")],
      [19, expect.stringContaining("image")],
      [20, "only calls with literals are read"],
      [22, 'expected , or ) before "+"'],
      [23, GRANT],
      [24, 'expected , or ] before "the end"'],
    ]);
  });

  it("any text ends, as rules and remarks and never as an error", () => {
    const piece = fc.constantFrom(
      ...[
        "prefix_rule(",
        "pattern",
        "=",
        "[",
        "]",
        ")",
        ",",
        '"git"',
        "'a",
        '"""',
        "#",
        "\n",
        "\\",
        "1",
        "def f():",
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const { rules } = importCodex(pieces.join(""));
        expect(rules.every(({ pattern }) => pattern.length > 1)).toBe(true);
      }),
    );
  });
});

describe("ChatCLI's policy files", () => {
  it("rule by rule: its own tools become ours, one that means nothing costs no other", () => {
    const text = `{"rules":[
  {"pattern":"@coder exec go test","action":"allow"},
  {"pattern":"@coder exec rm *","action":"deny"},
  {"pattern":"@coder git-log","action":"allow"},
  {"pattern":"@coder search","action":"allow"},
  {"pattern":"@coder patch","action":"ask"},
  {"pattern":"@coder rollback","action":"allow"},
  {"pattern":"@coder exec *","action":"allow"},
  {"pattern":"ls","action":"sometimes"}
],"merge":false}`;
    const imported = importChatCli(text);
    expect(rulesOf(imported)).toEqual([
      "allow exec go test *",
      "deny exec rm *",
      "allow exec git log *",
      "allow read **",
      "ask write **",
    ]);
    expect(imported.merge).toBe(false);
    expect(reasons(imported)).toEqual([
      [7, "@coder rollback", "there is no tool rollback; exec, read or write"],
      [8, "@coder exec *", expect.stringContaining("every command")],
      [9, "ls", "action must be one of allow, ask, deny"],
    ]);
  });
});

describe("the file that comes of it", () => {
  it("is read back as the same rules, whatever their words", () => {
    const word = fc.constantFrom(
      "git",
      "exec",
      "@coder",
      "a b",
      "*",
      "x*",
      "#",
      "'",
      "- y",
      "read",
    );
    const rule = fc.record({
      action: fc.constantFrom("allow", "ask", "deny" as const),
      tool: fc.constantFrom("exec", "read", "write" as const),
      pattern: fc.array(word, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 4 }), fc.boolean(), (rules, merge) => {
        const yaml = ruleYaml({ rules, merge, leftOut: [], notes: [] } as Imported, "made up");
        const read = checkRuleFile(yaml, "project", "i");
        expect(read.problems).toEqual([]);
        expect([
          read.merge,
          read.rules.map(({ action, tool, pattern }) => ({ action, tool, pattern })),
        ]).toEqual([merge, rules]);
      }),
    );
  });

  it("formats are told apart by what the text holds", () => {
    expect(
      [
        '{"permissions":{"allow":[]}}',
        'prefix_rule(pattern=["a"])',
        '{"rules":[]}',
        "rules:\n  - {pattern: a, action: ask}\n",
        "hello",
      ].map(formatOf),
    ).toEqual(["claude", "codex", "chatcli", "chatcli", null]);
  });
});

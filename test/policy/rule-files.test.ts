/** Rule files in both formats (B1), and what a file may replace. */
import { describe, expect, it } from "vitest";
import { matchesExample } from "../../daemon/policy/rule-examples.ts";
import { mergeRuleFiles, parseRuleFile } from "../../daemon/policy/rule-files.ts";

describe("rule files (B1)", () => {
  it("reads ChatCLI's JSON as it is, with or without @coder, where a pattern is a prefix", () => {
    const text = `{"rules":[
      {"pattern":"@coder exec rm *","action":"deny"},
      {"pattern":"@coder exec git push","action":"ask"},
      {"pattern":"exec ls","action":"allow"},
      {"pattern":"@coder read","action":"allow"},
      {"pattern":"@coder write /etc","action":"deny"}
    ],"merge":true}`;
    const { rules, merge, problems } = parseRuleFile(text, "user", "coder_policy.json");
    expect(problems).toEqual([]);
    expect(merge).toBe(true);
    expect(rules.map(({ tool, pattern, action }) => [action, tool, ...pattern])).toEqual([
      ["deny", "exec", "rm", "*"],
      ["ask", "exec", "git", "push", "*"],
      ["allow", "exec", "ls"],
      ["allow", "read", "**"],
      ["deny", "write", "/etc"],
    ]);
  });

  it("reads our YAML with justification and examples that can be tried", () => {
    const text = [
      "rules:",
      "  - pattern: terraform plan *",
      "    action: allow",
      "    justification: plans change nothing",
      "    match: [terraform plan -out=x, terraform plan]",
      "    not_match: [terraform apply]",
    ].join("\n");
    const [rule] = parseRuleFile(text, "project", "rules.yaml").rules;
    expect(rule).toEqual({
      id: "rules.yaml/1",
      source: "project",
      action: "allow",
      tool: "exec",
      pattern: ["terraform", "plan", "*"],
      justification: "plans change nothing",
      match: ["terraform plan -out=x", "terraform plan"],
      notMatch: ["terraform apply"],
    });
    const tried = (examples: readonly string[] = []) =>
      examples.map((each) => rule !== undefined && matchesExample(rule, each));
    expect([tried(rule?.match), tried(rule?.notMatch)]).toEqual([[true, true], [false]]);
  });

  it.each([
    [
      "rules:\n  - pattern: ls\n    action: permit\n",
      3,
      13,
      "action must be one of allow, ask, deny",
    ],
    ["rules:\n  - action: allow\n", 2, 5, "a rule needs a pattern such as `git push *`"],
    ["rules: 3\n", 1, 8, "rules must be a list"],
    ['{"rules":[],"marge":true}', 1, 13, "unknown key marge; there are rules, merge"],
    [
      "rules:\n  - {pattern: a, action: ask, tool: shell}\n",
      2,
      37,
      "there is no tool shell; exec, read or write",
    ],
    ["merge: maybe\nrules: []\n", 1, 8, "merge must be true or false"],
    ["- a\n", 1, 1, "must be a map with the key rules"],
  ])(
    "a fault has a line and a column, and the file then counts for nothing: %j",
    (text, line, column, message) => {
      const { rules, problems } = parseRuleFile(text, "user", "f");
      expect(rules).toEqual([]);
      expect(problems).toContainEqual({ line, column, message });
    },
  );

  it("text that is no YAML at all is a fault too", () => {
    expect(parseRuleFile('{"rules": [', "user", "f").problems.length).toBeGreaterThan(0);
  });

  it("merge: false replaces the rules of lower sources and never the admin's (B8)", () => {
    const file = (
      source: "admin" | "session" | "project" | "user" | "builtin",
      merge: boolean,
    ) => ({
      source,
      merge,
      rules: [{ id: source, source, action: "deny", tool: "exec", pattern: ["x"] } as const],
    });
    const all = [
      file("builtin", true),
      file("user", true),
      file("admin", true),
      file("session", true),
    ];
    const ids = (files: Parameters<typeof mergeRuleFiles>[0]) =>
      mergeRuleFiles(files).rules.map(({ id }) => id);
    expect(ids([...all, file("project", true)])).toEqual([
      "admin",
      "session",
      "project",
      "user",
      "builtin",
    ]);
    expect(ids([...all, file("project", false)])).toEqual(["admin", "session", "project"]);
  });
});

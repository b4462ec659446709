/** What *always* would store (A6, issue 3 item 8): a prefix of the segment that asked, never more. */
import { describe, expect, it } from "vitest";
import { ruleOfSaved } from "../../daemon/policy/generalise.ts";
import { judged } from "./judged.ts";

function offered(command: string, profile = "default"): readonly string[] {
  return (judged(command, { profile }).always ?? []).map(({ prefix }) => prefix.join(" "));
}

describe("always (A6)", () => {
  it("stores the token prefix of the segment that asked, narrowest first, at most three widths", () => {
    expect(offered("npm run generate -- --all docs")).toEqual([
      "npm run generate -- --all",
      "npm run generate --",
      "npm run generate",
    ]);
    expect(offered("cd src && ls && npm run generate; ls")).toEqual(["npm run generate"]);
    expect(offered("git add src/a.ts")).toEqual(["git add src/a.ts", "git add"]);
  });

  it("stores effects, and the outside paths it was asked for", () => {
    expect(judged("cat /usr/share/doc/x").always).toEqual([
      { prefix: ["cat", "/usr/share/doc/x"], effects: ["read"], paths: ["/usr/share/doc/x"] },
      { prefix: ["cat"], effects: ["read"], paths: ["/usr/share/doc/x"] },
    ]);
  });

  it("is not offered where a rule asked that the stored one could not outrank", () => {
    const asked = (source: "session" | "project" | "user" | "builtin" | "admin") =>
      judged("git add a", {
        rules: [{ id: "r", source, action: "ask", tool: "exec", pattern: ["git", "add", "*"] }],
      }).always?.length ?? 0;
    expect([asked("admin"), asked("session"), asked("project")]).toEqual([0, 0, 0]);
    expect([asked("user"), asked("builtin")]).toEqual([2, 2]);
  });

  it.each([
    "python3 x.py",
    "bash x.sh",
    "node -e 1",
    "./deploy.sh",
    "xargs mytool < x",
    "find . -exec mytool {} +",
    "curl https://x.invalid",
    "npm install x",
    "pip install x",
    "docker ps",
    "git push origin x",
    "git push origin main",
    "rm -rf src",
    "sudo ls",
    "echo x > AGENTS.md",
    "git log --ext-diff",
    "cat $x",
    "ls 'open",
    "mytool a; othertool b",
  ])("is never offered for %s", (command) => {
    expect(offered(command)).toEqual([]);
  });

  it.each([
    ["npm run generate", "npm run generate -- x"],
    ["mkdir a", "mkdir b"],
    ["mytool sync a", "mytool sync b"],
    ["cat /usr/share/doc/x", "cat /usr/share/doc/x"],
  ])("a rule stored for %s lets %s pass", (asked, later) => {
    const saved = (judged(asked).always ?? []).at(-1);
    expect(saved).toBeDefined();
    const rules = saved === undefined ? [] : [ruleOfSaved(saved, "saved", "project")];
    expect(judged(later, { rules }).verdict).toBe("allow");
  });

  it.each([
    ["npm run generate", "npm run generate && curl x.invalid"],
    ["npm run generate", "npm run deploy"],
    ["mkdir a", "mkdir /srv/projects/p2/x"],
    ["mkdir a", "mkdir ../a2/x"],
    ["mkdir a", "mkdir .husky"],
    ["cat /usr/share/doc/x", "cat /usr/share/doc/y"],
    ["mytool sync a", "mytool sync /etc/x"],
    ["mytool sync a", "LD_PRELOAD=./x mytool sync a"],
  ])("a rule stored for %s does not let %s pass", (asked, later) => {
    const saved = (judged(asked).always ?? []).at(-1);
    expect(saved).toBeDefined();
    const rules = saved === undefined ? [] : [ruleOfSaved(saved, "saved", "project")];
    expect(judged(later, { rules }).verdict).toBe("ask");
  });
});

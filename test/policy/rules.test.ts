/** Rules from every source: precedence, strictness, and how far an allow reaches (B1). */
import { describe, expect, it } from "vitest";
import type { Decision, Rule, RuleSource } from "../../daemon/policy/types.ts";
import { judged } from "./judged.ts";

function rule(
  source: RuleSource,
  action: Decision,
  pattern: string,
  more: Partial<Rule> = {},
): Rule {
  const id = `${source}-${action}`;
  return { id, source, action, tool: "exec", pattern: pattern.split(" "), ...more };
}

function verdict(command: string, rules: readonly Rule[], profile = "default") {
  const { verdict, segments } = judged(command, { rules, profile });
  return [verdict, segments.find((segment) => segment.verdict === verdict)?.rule];
}

describe("rules (B1)", () => {
  it("the highest source that matches decides", () => {
    const sources: readonly RuleSource[] = ["builtin", "user", "project", "session"];
    const won = sources.map((_, top) => {
      const below = sources.slice(0, top).map((each) => rule(each, "ask", "ls *"));
      return verdict("ls", [...below, rule(sources[top] as RuleSource, "deny", "ls *")]);
    });
    expect(won).toEqual(sources.map((each) => ["deny", `${each}-deny`]));
    expect(
      verdict("npm run x", [rule("user", "deny", "npm *"), rule("session", "allow", "npm *")]),
    ).toEqual(["allow", "session-allow"]);
  });

  it("within a source the strictest decides, in whatever order they stand", () => {
    const both = [rule("user", "allow", "npm run x"), rule("user", "ask", "npm *")];
    expect([verdict("npm run x", both), verdict("npm run x", both.reverse())]).toEqual([
      ["ask", "user-ask"],
      ["ask", "user-ask"],
    ]);
  });

  it("every rule that matches is in the verdict, the one that lost too", () => {
    const rules = [rule("user", "deny", "npm *"), rule("session", "allow", "npm run *")];
    const [segment] = judged("npm run x", { rules }).segments;
    expect(segment?.matches.map(({ rung, rule: id, decision }) => [rung, id, decision])).toEqual([
      ["rule", "user-deny", "deny"],
      ["rule", "session-allow", "allow"],
    ]);
  });

  it("an admin's deny is absolute, and beats safety's question", () => {
    const rules = [rule("admin", "deny", "rm *"), rule("session", "allow", "rm *")];
    expect(verdict("rm -rf src", rules)).toEqual(["deny", "admin-deny"]);
  });

  it.each([
    ["/bin/rm x"],
    ["r\\m x"],
    ["'rm' x"],
    ["ls && rm x"],
    ["bash -c 'rm x'"],
    ["timeout 5 rm x"],
    ["echo $(rm x)"],
    ["find . -exec rm {} +"],
    ["ls | xargs rm"],
    ["./rm x"],
    ["rm $unknown"],
  ])("a deny is found in %s", (command) => {
    expect(verdict(command, [rule("admin", "deny", "rm *")])).toEqual(["deny", "admin-deny"]);
  });

  it("a deny of a wrapper is found though the inner command is what is judged", () => {
    expect(verdict("sudo ls", [rule("admin", "deny", "sudo *")])).toEqual(["deny", "admin-deny"]);
  });

  it("a deny looks through a text that cannot be parsed to the end", () => {
    expect(verdict("rm x; ls 'open", [rule("admin", "deny", "rm *")])[0]).toBe("deny");
  });

  it("a word is matched whole, and a last star is any rest or none", () => {
    const rules = [rule("user", "deny", "git push *")];
    expect(
      ["git push", "git push -f", "git pushx", "git pull"].map((c) => verdict(c, rules)[0]),
    ).toEqual(["deny", "deny", "ask", "ask"]);
  });

  it("an allow covers what the profile asks about, in scope", () => {
    const rules = [rule("project", "allow", "npm run generate *")];
    expect(verdict("npm run generate a", rules)).toEqual(["allow", "project-allow"]);
    expect(verdict("npm run generate a && curl x.invalid", rules)[0]).toBe("ask");
  });

  it("an allow with a wildcard names no path: outside it needs an absolute prefix that is spelled out", () => {
    expect(verdict("cat /etc/hosts", [rule("user", "allow", "cat *")])[0]).toBe("ask");
    const spelled = [rule("user", "allow", "cat /usr/share/doc/*")];
    expect(
      ["cat /usr/share/doc/x", "cat /usr/share/doc/../../etc/x", "cat /usr/share/docx"].map(
        (command) => verdict(command, spelled)[0],
      ),
    ).toEqual(["allow", "ask", "ask"]);
  });

  it("an allow of a verb that nothing is known about still holds its words against the scope", () => {
    const rules = [rule("user", "allow", "mytool *")];
    expect(
      [
        "mytool run",
        "mytool run src/x",
        "mytool --in=/etc/x",
        "mytool -I/etc",
        "mytool ../../x",
        "mytool $x",
      ].map((command) => verdict(command, rules)[0]),
    ).toEqual(["allow", "allow", "ask", "ask", "ask", "ask"]);
  });

  it("an allow lifts no option that runs or writes something else, unless it spells out the whole command", () => {
    for (const command of ["git log --output=x", "git log --ext-diff", "git log > out.txt"]) {
      expect([command, verdict(command, [rule("user", "allow", "git log *")])[0]]).toEqual([
        command,
        "ask",
      ]);
    }
    const spelled = rule("user", "allow", "git log --ext-diff");
    expect(verdict("git log --ext-diff", [spelled])[0]).toBe("allow");
  });

  it("an allow lifts neither ceilings nor safety", () => {
    const rules = [rule("session", "allow", "*")];
    expect(
      ["git push origin main", "rm -rf src", "echo x > AGENTS.md", "sudo ls"].map(
        (c) => verdict(c, rules)[0],
      ),
    ).toEqual(["ask", "ask", "ask", "ask"]);
  });

  it("an environment that changes what runs is not covered by an allow of the verb", () => {
    expect(verdict("LD_PRELOAD=./x mytool", [rule("user", "allow", "mytool *")])[0]).toBe("ask");
  });

  it("rules of read and write match the paths of whatever command touches them", () => {
    const deny = rule("admin", "deny", "**/.env", { tool: "read" });
    expect(
      ["cat .env", "grep x a/.env", "cat < .env", "cat .e*", "cp .env x", "cat env"].map(
        (c) => verdict(c, [deny], "dev")[0],
      ),
    ).toEqual(["deny", "deny", "deny", "deny", "deny", "allow"]);
    const allow = rule("user", "allow", "/usr/share/doc/**", { tool: "read" });
    expect(
      ["cat /usr/share/doc/a/b", "cat /usr/share/x"].map((c) => verdict(c, [allow])[0]),
    ).toEqual(["allow", "ask"]);
    const written = rule("project", "allow", "docs/**", { tool: "write" });
    expect(
      ["cp a docs/b", "cp a src/b", "cp /etc/x docs/b"].map((c) => verdict(c, [written])[0]),
    ).toEqual(["allow", "ask", "ask"]);
  });
});

describe("saved always rules (A6)", () => {
  const saved = rule("project", "allow", "npm run generate *", {
    effects: ["read", "run"],
    paths: [],
  });

  it("hold for the same kind of command, and ask on another effect", () => {
    expect(verdict("npm run generate", [saved])).toEqual(["allow", "project-allow"]);
    expect(verdict("npm run generate > out.txt", [saved])[0]).toBe("ask");
  });

  it("are bounded by their paths even inside the project", () => {
    const bounded = rule("project", "allow", "cp *", {
      effects: ["read", "write"],
      paths: ["/srv/projects/p1/.worktrees/a1/docs"],
    });
    expect(["cp docs/a docs/b", "cp src/a docs/b"].map((c) => verdict(c, [bounded])[0])).toEqual([
      "allow",
      "ask",
    ]);
  });

  it("reach outside only below the prefix that was saved", () => {
    const outside = rule("project", "allow", "cat *", {
      effects: ["read"],
      paths: ["/usr/share/doc/x"],
    });
    expect(
      ["cat /usr/share/doc/x", "cat /usr/share/doc/y"].map((c) => verdict(c, [outside])[0]),
    ).toEqual(["allow", "ask"]);
  });
});

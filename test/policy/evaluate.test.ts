/** The verdict as a whole: its shape, its roots, what an approval is bound to, and what happens when judging fails. */
import { describe, expect, it, vi } from "vitest";
import * as understanding from "../../daemon/policy/shell/understand.ts";
import { judged, ROOT, WORKTREE } from "./judged.ts";

describe("the verdict", () => {
  it("an allow says which root authorised it, and why for each segment (A7)", () => {
    expect(judged("cat README.md | head")).toEqual({
      verdict: "allow",
      effects: ["read"],
      classes: ["read"],
      roots: [WORKTREE],
      segments: [
        {
          text: "cat README.md",
          argv: ["cat", "README.md"],
          form: "cat",
          cwds: [WORKTREE],
          verdict: "allow",
          rung: "scope",
          rule: "scope/read",
          reason: `cat stays in ${WORKTREE}`,
          effects: ["read"],
          classes: ["read"],
          paths: [{ path: `${WORKTREE}/README.md`, access: "read", root: WORKTREE }],
          matches: [
            {
              rung: "scope",
              rule: "scope/read",
              decision: "allow",
              reason: `cat stays in ${WORKTREE}`,
            },
          ],
        },
        {
          text: "head",
          argv: ["head"],
          form: "head",
          cwds: [WORKTREE],
          verdict: "allow",
          rung: "scope",
          rule: "scope/read",
          reason: `head stays in ${WORKTREE}`,
          effects: ["read"],
          classes: ["read"],
          paths: [],
          matches: [
            {
              rung: "scope",
              rule: "scope/read",
              decision: "allow",
              reason: `head stays in ${WORKTREE}`,
            },
          ],
        },
      ],
      reason: `every part stays in ${WORKTREE}`,
      bindTo: [],
    });
  });

  it("names the project's root when that is what holds a path (A7)", () => {
    expect(judged("cat ../a2/x README.md").roots).toEqual([ROOT, WORKTREE]);
  });

  it("an ask names segment, rule and reason, and what would pass instead (issue 3, item 10)", () => {
    const { verdict, reason, instead, roots } = judged("ls && git push origin feature");
    expect({ verdict, reason, instead, roots }).toEqual({
      verdict: "ask",
      reason:
        "`git push origin feature` reaches the network, which always takes a grant or an approval (profile/network)",
      instead: "commit locally; a person pushes",
      roots: [],
    });
  });

  it("every rung that has something to say is in the verdict, not the first", () => {
    const [segment] = judged("sudo rm -rf /etc/x > AGENTS.md").segments;
    const rungs = new Set(segment?.matches.map(({ rung }) => rung));
    expect([...rungs].sort()).toEqual(["ceiling", "default", "safety"]);
  });

  it("problems of the text ask, and what can still be seen is reported with them (rung 0)", () => {
    const { verdict, segments } = judged("rm -rf src; ls 'open");
    const rules = segments.flatMap(({ matches }) => matches.map(({ rule }) => rule));
    expect(verdict).toBe("ask");
    expect(rules).toContain("understand/parse-error");
    expect(rules).toContain("safety/recursive-delete");
  });

  it.each(["", "   \n\t ", "# only a comment"])("a text without a command asks: %j", (command) => {
    const { verdict, segments } = judged(command);
    expect([verdict, segments.length, segments[0]?.rung]).toEqual(["ask", 1, "understand"]);
  });

  it("hidden characters are named by code point", () => {
    const { verdict, hidden } = judged("ls \u202e && cat a\u200bb");
    expect([verdict, hidden]).toEqual(["ask", ["U+202E at 3", "U+200B at 13"]]);
  });

  it("an approval is bound to every file whose content runs, where it really is", () => {
    const realpath = { [`${WORKTREE}/run.sh`]: `${WORKTREE}/scripts/run.sh` };
    expect(judged("./run.sh && bash tools/x.sh", { facts: { realpath } }).bindTo).toEqual([
      `${WORKTREE}/scripts/run.sh`,
      `${WORKTREE}/tools/x.sh`,
    ]);
  });

  it("a handle that is closed is denied before anything else, and nothing lifts it (rung 2)", () => {
    const authority = { grants: [], stale: { handle: "h1", reason: "closed" } };
    const { verdict, segments } = judged("ls", { authority });
    expect([verdict, segments[0]?.rung, segments[0]?.reason]).toEqual([
      "deny",
      "stale-authority",
      "names the handle h1, which is not valid: closed",
    ]);
  });

  it("a frozen session asks about what it allowed before", () => {
    expect(judged("ls", { more: { frozen: true } }).segments[0]?.rule).toBe("denials/frozen");
  });

  it("a branch that is not known asks where it matters, and only there", () => {
    const more = { branch: undefined } as unknown as { branch?: string };
    expect(judged("git commit -m x", { profile: "dev", more }).verdict).toBe("ask");
    expect(judged("git log", { profile: "dev", more }).verdict).toBe("allow");
  });
});

describe("grants (rung 7)", () => {
  const grant = { id: "g1", effects: [], paths: [], hosts: [], commands: [] } as const;

  it("a live grant covers its effect on its paths and nothing beside", () => {
    const authority = {
      grants: [{ ...grant, effects: ["write"], paths: [`${WORKTREE}/src/auth/**`] }],
    } as const;
    expect(
      [
        "cp a src/auth/b",
        "cp a src/b",
        "cp a src/auth/../b",
        "cp /etc/x src/auth/b",
        "rm -r src/auth/x",
      ].map((command) => judged(command, { authority }).verdict),
    ).toEqual(["allow", "ask", "ask", "ask", "ask"]);
  });

  it("the verdict names the grant", () => {
    const authority = {
      grants: [{ ...grant, effects: ["write"], paths: [`${WORKTREE}/docs/**`] }],
    } as const;
    const [segment] = judged("touch docs/x", { authority }).segments;
    expect([segment?.verdict, segment?.rung, segment?.rule]).toEqual(["allow", "grant", "g1"]);
  });

  it("a grant of a command covers that command", () => {
    const authority = {
      grants: [{ ...grant, effects: ["run"], commands: [["npm", "run", "generate"]] }],
    } as const;
    expect(
      ["npm run generate", "npm run generate -- x", "npm run deploy"].map(
        (command) => judged(command, { authority }).verdict,
      ),
    ).toEqual(["allow", "allow", "ask"]);
  });
});

describe("when judging fails (B8)", () => {
  it("any exception is an ask that says so, never an allow", () => {
    const spy = vi.spyOn(understanding, "understand");
    spy.mockImplementation(() => {
      throw new RangeError("boom");
    });
    try {
      const { verdict, segments, reason } = judged("ls");
      expect([verdict, segments[0]?.rule, reason]).toEqual([
        "ask",
        "understand/internal-error",
        "`ls` could not be judged: boom (understand/internal-error)",
      ]);
    } finally {
      spy.mockRestore();
    }
  });

  it("a segment that cannot be judged asks, and the others are still judged", () => {
    const broken = new Proxy(["main"], {
      get(target, key) {
        if (key === "some") throw new Error("boom");
        return Reflect.get(target, key);
      },
    });
    const settings = { protectedBranches: broken };
    const { verdict, segments } = judged("ls; git branch -f x y", { settings: { ...settings } });
    expect([verdict, segments.map(({ rule }) => rule)]).toEqual([
      "ask",
      ["scope/read", "understand/internal-error"],
    ]);
  });
});

/** What must hold for every command, tried on generated ones; the seed of a failure is printed by fast-check. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stricter } from "../../daemon/policy/evaluate.ts";
import { isWithin } from "../../daemon/policy/paths.ts";
import type { Decision, Rule, RuleSource } from "../../daemon/policy/types.ts";
import { judged, ROOT, WORKTREE } from "./judged.ts";

const WORDS = [
  "src",
  "README.md",
  "-r",
  "-n",
  "--output=x",
  "/etc/passwd",
  "../../../p2/x",
  "../a2/x",
  "AGENTS.md",
  "*.ts",
  "/tmp/x",
  "-rf",
  "main",
  "HEAD",
  "a b",
  "--",
  "-delete",
  "$x",
];
const VERBS = [
  "ls",
  "cat",
  "rm",
  "cp",
  "grep",
  "find",
  "sed",
  "git log",
  "git push origin",
  "git commit",
  "npm test",
  "npm run x",
  "curl",
  "mytool",
  "./x.sh",
  "tee",
  "echo",
  "bash",
];

/** Words that mean themselves, for quoting. */
const PLAIN = WORDS.filter((word) => !/[*$ ]/.test(word));

const command = fc
  .tuple(fc.constantFrom(...VERBS), fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }))
  .map(([verb, words]) => [verb, ...words.map((w) => (w === "a b" ? "'a b'" : w))].join(" "));
const profile = fc.constantFrom("review", "default", "dev");
const separator = fc.constantFrom(" && ", "; ", " | ", " || ", " & ", "\n");

const SPELLINGS: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => word.replace(/[A-Za-z]/g, (letter) => `\\${letter}`),
  (word) =>
    `$'${[...word].map((c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`).join("")}'`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `"${word.slice(0, 2)}"'${word.slice(2)}'`,
];

const decision = fc.constantFrom<Decision>("allow", "ask", "deny");
const source = fc.constantFrom<RuleSource>("session", "project", "user", "builtin");
const rule = fc.tuple(source, decision, fc.constantFrom(...VERBS, "*"), fc.boolean()).map(
  ([from, action, verb, open]): Rule => ({
    id: `${from} ${action} ${verb} ${open}`,
    source: from,
    action,
    tool: "exec",
    pattern: [...verb.split(" "), ...(open ? ["*"] : [])],
  }),
);

describe("for every command", () => {
  it("adding a segment never weakens the verdict", () => {
    fc.assert(
      fc.property(command, separator, command, profile, (first, between, second, name) => {
        const alone = judged(first, { profile: name }).verdict;
        const both = judged(first + between + second, { profile: name }).verdict;
        expect(stricter(alone, both)).toBe(both);
      }),
      { numRuns: 1_000 },
    );
  });

  it("the whole is never weaker than what its segments say", () => {
    fc.assert(
      fc.property(command, separator, command, profile, (first, between, second, name) => {
        const { verdict, segments } = judged(first + between + second, { profile: name });
        expect(segments.map((each) => each.verdict).reduce(stricter)).toBe(verdict);
      }),
      { numRuns: 500 },
    );
  });

  it("spelling a word differently never changes the verdict", () => {
    const words = fc.array(fc.tuple(fc.constantFrom(...PLAIN), fc.constantFrom(...SPELLINGS)), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...VERBS),
        fc.constantFrom(...SPELLINGS),
        words,
        profile,
        (verb, spell, rest, name) => {
          const plain = [verb, ...rest.map(([word]) => word)].join(" ");
          const spelled = [
            ...verb.split(" ").map(spell),
            ...rest.map(([word, how]) => how(word)),
          ].join(" ");
          const a = judged(plain, { profile: name });
          const b = judged(spelled, { profile: name });
          expect([b.verdict, b.segments.map(({ rule: id }) => id)]).toEqual([
            a.verdict,
            a.segments.map(({ rule: id }) => id),
          ]);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("an admin's deny survives every set of rules, grants and profile", () => {
    const admin: Rule = {
      id: "no",
      source: "admin",
      action: "deny",
      tool: "exec",
      pattern: ["rm", "*"],
    };
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 6 }),
        profile,
        separator,
        command,
        (rules, name, between, other) => {
          for (const text of [`rm x${between}${other}`, `${other}${between}rm x`]) {
            expect(judged(text, { rules: [...rules, admin], profile: name }).verdict).toBe("deny");
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it("no set of rules lifts a ceiling or a safety pattern", () => {
    const dangerous = fc.constantFrom(
      "rm -rf src",
      "git push origin main",
      "echo x > CLAUDE.md",
      "sudo ls",
      "cat ~/.ssh/id_rsa",
    );
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), profile, dangerous, (rules, name, text) => {
        expect(judged(text, { rules, profile: name }).verdict).not.toBe("allow");
      }),
      { numRuns: 500 },
    );
  });

  it("without rules and grants, allow implies that every path is inside a root, written ones in the worktree or scratch", () => {
    const scratch = ["/tmp", "/home/agent/.cache"];
    fc.assert(
      fc.property(
        fc.array(command, { minLength: 1, maxLength: 3 }),
        separator,
        profile,
        (commands, between, name) => {
          const { verdict, segments, roots } = judged(commands.join(between), { profile: name });
          fc.pre(verdict === "allow");
          const paths = segments.flatMap((segment) => segment.paths);
          const outside = paths.filter(({ path, access }) => {
            const allowed = access === "write" ? [WORKTREE, ...scratch] : [ROOT, ...scratch];
            return !allowed.some((root) => isWithin(path, root));
          });
          expect(outside).toEqual([]);
          expect(paths.filter(({ root }) => root === null)).toEqual([]);
          expect(roots.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("the same input has the same verdict", () => {
    fc.assert(
      fc.property(command, profile, (text, name) => {
        expect(judged(text, { profile: name })).toEqual(judged(text, { profile: name }));
      }),
      { numRuns: 300 },
    );
  });

  it("whatever the text is, there is a verdict, and it has a segment with a reason", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), profile, (text, name) => {
        const { segments, reason } = judged(text, { profile: name });
        expect(segments.length).toBeGreaterThan(0);
        expect(reason).not.toBe("");
        expect(segments.map(({ rule: id }) => id)).not.toContain("understand/internal-error");
      }),
      { numRuns: 2_000 },
    );
  });
});

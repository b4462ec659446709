/** Verdicts on file operations: the cases of file-cases.yaml, and that no error is ever an allow. */
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type EvaluateFileInput, evaluateFile } from "../../daemon/policy/evaluate-file.ts";
import type { Rule } from "../../daemon/policy/types.ts";
import { inputFor, WORKTREE } from "./judged.ts";

const Verb = z.enum([
  "read",
  "list",
  "stat",
  "write",
  "append",
  "mkdir",
  "remove",
  "move",
  "patch",
  "pack",
  "unpack",
]);
const Case = z.strictObject({
  note: z.string(),
  verb: Verb,
  read: z.array(z.string()).default([]),
  write: z.array(z.string()).default([]),
  recursive: z.boolean().default(false),
  profile: z.enum(["review", "default", "dev"]).default("default"),
  kernel: z.boolean().default(true),
  facts: z.record(z.string(), z.json()).default({}),
  more: z.record(z.string(), z.json()).default({}),
  rules: z.array(z.record(z.string(), z.json())).default([]),
  denied: z.record(z.string(), z.number()).default({}),
  want: z.strictObject({ verdict: z.enum(["allow", "ask", "deny"]), rule: z.string().optional() }),
});
type Case = z.infer<typeof Case>;

const TREES = new Set(["move", "remove", "pack", "unpack"]);

function fileInput(given: Case): EvaluateFileInput {
  const { verb, read, write, recursive, profile, kernel, facts, more, rules, denied } = given;
  const path = (access: "read" | "write") => (name: string) => ({
    path: posix.resolve(WORKTREE, name),
    access,
    tree: TREES.has(verb),
  });
  return {
    ...inputFor("", {
      profile,
      facts: facts as never,
      more: more as never,
      rules: rules.map((rule, i) => ({ id: `r${i}`, ...rule }) as unknown as Rule),
      settings: { kernelConfinement: kernel },
      denials: { consecutive: denied, total: 0 },
    }),
    request: { verb, paths: [...write.map(path("write")), ...read.map(path("read"))], recursive },
  };
}

const cases = z
  .array(Case)
  .parse(parse(readFileSync(new URL("file-cases.yaml", import.meta.url), "utf8")));

describe("file operations", () => {
  it.each(cases.map((each) => [`${each.verb}: ${each.note} (${each.profile})`, each] as const))(
    "%s",
    (_name, each) => {
      const { verdict, segments } = evaluateFile(fileInput(each));
      const rules = segments.flatMap(({ matches }) => matches.map(({ rule }) => rule));
      const found = rules.find((rule) => rule === each.want.rule);
      expect({ verdict, ...(each.want.rule && { rule: found }) }).toEqual(each.want);
    },
  );
});

const BASE = Case.parse({ note: "", verb: "write", write: ["a.txt"], want: { verdict: "ask" } });

test("the whole verdict is that of a command: text, effects, class, paths and what it is bound to", () => {
  const verdict = evaluateFile(fileInput({ ...BASE, profile: "dev" }));
  const file = `${WORKTREE}/a.txt`;
  expect(verdict).toEqual({
    verdict: "allow",
    effects: ["write"],
    classes: ["write"],
    roots: [WORKTREE],
    reason: `every path stays in ${WORKTREE}`,
    bindTo: [file],
    segments: [
      {
        text: "files write a.txt",
        form: "files write",
        cwds: [WORKTREE],
        verdict: "allow",
        rung: "scope",
        rule: "scope/write",
        reason: `files write stays in ${WORKTREE}`,
        effects: ["write"],
        classes: ["write"],
        paths: [{ path: file, access: "write", root: WORKTREE }],
        matches: [
          {
            rung: "scope",
            rule: "scope/write",
            decision: "allow",
            reason: `files write stays in ${WORKTREE}`,
          },
        ],
      },
    ],
  });
});

test("always is not offered: what it would store are commands", () => {
  expect(evaluateFile(fileInput(BASE)).always).toBeUndefined();
});

test("an error while judging asks and says what it was", () => {
  const input = fileInput({ ...BASE, profile: "dev" });
  const rules = { rules: [null as unknown as Rule] };
  expect(evaluateFile({ ...input, rules })).toMatchObject({
    verdict: "ask",
    roots: [],
    segments: [{ rule: "understand/internal-error" }],
  });
});

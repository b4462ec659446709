/** Runs every case of test/policy/cases/*.yaml: data only, so that another implementation could run them too. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { judged, WORKTREE } from "./judged.ts";

const caseFile = z.strictObject({
  topic: z.string(),
  cases: z.array(
    z.strictObject({
      note: z.string(),
      /** One command, or several of one kind. */
      command: z.string().optional(),
      commands: z.array(z.string()).optional(),
      profile: z.enum(["review", "default", "dev"]).default("default"),
      cwd: z.string().default(WORKTREE),
      facts: z
        .strictObject({
          branch: z.string().nullable(),
          realpath: z.record(z.string(), z.string().nullable()),
          localBins: z.array(z.string()),
          escapingLinks: z.array(z.string()),
          acceptedLinks: z.array(z.strictObject({ path: z.string(), target: z.string() })),
        })
        .partial()
        .default({}),
      /** Must not be allowed by the widest profile either. */
      severe: z.boolean().default(false),
      want: z.strictObject({
        verdict: z.enum(["allow", "ask", "deny"]),
        rule: z.string().optional(),
      }),
    }),
  ),
});

const dir = new URL("./cases/", import.meta.url);

for (const file of readdirSync(dir).filter((name) => name.endsWith(".yaml"))) {
  const { topic, cases } = caseFile.parse(parse(readFileSync(new URL(file, dir), "utf8")));
  const rows = cases.flatMap(({ command, commands, ...rest }) =>
    [...(command === undefined ? [] : [command]), ...(commands ?? [])].map((text) => ({
      ...rest,
      text,
      name: `${rest.profile}: ${text} (${rest.note})`,
    })),
  );
  describe(topic, () => {
    it.each(rows)("$name", ({ text, profile, cwd, facts, severe, want }) => {
      const given = JSON.parse(JSON.stringify(facts));
      const { verdict, segments } = judged(text, { profile, cwd, facts: given });
      const rules = segments.flatMap((segment) => segment.matches.map((match) => match.rule));
      expect({
        verdict,
        ...(want.rule && { rule: rules.find((rule) => rule === want.rule) ?? rules }),
      }).toEqual(want);
      if (severe) {
        expect(judged(text, { profile: "dev", cwd, facts: given }).verdict).not.toBe("allow");
      }
    });
  });
}

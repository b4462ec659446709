/** docs/policy.md says what the sources say today, its examples are rule files, and an ordinary day is hardly asked about. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verbTable } from "../../daemon/policy/catalogue/registry.ts";
import { checkRuleFile } from "../../daemon/policy/rule-file-check.ts";
import { dayLines, judgeDay } from "../../scripts/generate/ordinary-day.ts";
import { policyPage } from "../../scripts/generate/policy-docs.ts";
import { LADDER } from "../../scripts/generate/policy-text.ts";
import { judged } from "./judged.ts";

const page = policyPage();

describe("docs/policy.md", () => {
  it("is current: npx tsx scripts/generate-docs.ts", () => {
    const committed = readFileSync(new URL("../../docs/policy.md", import.meta.url), "utf8");
    expect(committed === page).toBe(true);
  });

  it("has the rungs of the ladder in the order in which explain prints them", () => {
    expect(LADDER.map(([rung]) => rung)).toEqual([
      "understand",
      "absolute deny",
      "stale authority",
      "ceilings",
      "safety",
      "denials",
      "rules",
      "grants",
      "scope",
      "otherwise",
    ]);
  });

  it("shows rule files that are read without a fault, in both formats", () => {
    const examples = [...page.matchAll(/```(yaml|json)\n([\s\S]*?)```/g)];
    expect(examples.map(([, format]) => format)).toEqual(["yaml", "json"]);
    const read = examples.map(([, , text = ""]) => checkRuleFile(text, "project", "docs"));
    expect(read.map(({ problems }) => problems)).toEqual([[], []]);
    const [ours, theirs] = read;
    const rules = ours?.rules ?? [];
    const verdicts = ["terraform plan", "make deploy", "touch docs/a.md", "touch src/a.md"];
    expect(verdicts.map((command) => judged(command, { rules }).verdict)).toEqual([
      // An admin may name what reaches out; only scope never excuses it.
      "allow",
      "deny",
      "allow",
      "ask",
    ]);
    expect(theirs?.rules.map(({ action, pattern }) => [action, ...pattern])).toEqual([
      ["deny", "rm", "*"],
      ["allow", "go", "test", "*"],
      ["allow", "**"],
    ]);
  });

  it("has every verb of the catalogue and no cell that breaks its table", () => {
    const verbs = verbTable().map(({ verb }) => verb);
    expect(verbs.length).toBeGreaterThan(300);
    expect(verbs.filter((verb) => !page.includes(`| \`${verb}\` |`))).toEqual([]);
    const tables = page.split("\n").filter((line) => line.startsWith("|"));
    const columns = (line: string) => line.replaceAll("\\|", "").split("|").length;
    let head = 0;
    const broken = tables.filter((line, index) => {
      if (/^\|(?:---\|)+$/.test(tables[index + 1] ?? "")) head = columns(line);
      return columns(line) !== head;
    });
    expect(broken).toEqual([]);
  });
});

describe("the ordinary half of a day", () => {
  const asking = (profile: string, labels?: RegExp) =>
    judgeDay(profile)
      .filter(({ label, verdict }) => verdict.verdict !== "allow" && (labels?.test(label) ?? true))
      .map(({ command }) => command);

  it("is 200 different commands", () => {
    const commands = dayLines().map(({ command }) => command);
    expect([commands.length, new Set(commands).size]).toEqual([200, 200]);
  });

  it("reads, builds and tests never ask under default (A3, B8)", () => {
    expect(asking("default", /^(?:read|build_test)$/)).toEqual([]);
  });

  it("under dev at most one command in ten asks; of install, network and outside every one", () => {
    expect(asking("dev").length).toBeLessThanOrEqual(20);
    const outward = dayLines().filter(({ label }) => /^(?:install|network|outside)$/.test(label));
    expect(asking("dev", /^(?:install|network|outside)$/)).toEqual(
      outward.map(({ command }) => command),
    );
  });

  it("nothing is denied: a person may want any of it", () => {
    expect(judgeDay("default").filter(({ verdict }) => verdict.verdict === "deny")).toEqual([]);
  });
});

/** A rule file with its examples tried: what counts only when every rule does what is written beside it. Pure. */
import { matchesExample } from "./rule-examples.ts";
import { type ParsedRuleFile, parseRuleFile, type RuleFileProblem } from "./rule-files.ts";
import type { RuleSource } from "./types.ts";

/** Any problem makes the whole file count for nothing, a failed example as much as a fault in the text. */
export function checkRuleFile(text: string, source: RuleSource, name: string): ParsedRuleFile {
  const parsed = parseRuleFile(text, source, name);
  const problems = parsed.rules.flatMap((rule, index): readonly RuleFileProblem[] => {
    const place = parsed.places[index] ?? { line: 1, column: 1 };
    const wrong = (examples: readonly string[], matches: boolean) =>
      examples.filter((example) => matchesExample(rule, example) !== matches);
    const says = (how: string) => (example: string) => ({
      ...place,
      message: `the rule ${how} its example ${JSON.stringify(example)}`,
    });
    return [
      ...wrong(rule.match, true).map(says("does not match")),
      ...wrong(rule.notMatch, false).map(says("matches")),
    ];
  });
  return problems.length === 0 ? parsed : { ...parsed, rules: [], places: [], problems };
}

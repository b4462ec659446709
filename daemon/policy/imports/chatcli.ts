/** ChatCLI's policy files, rule by rule, so that one that means nothing here does not cost the others. Pure. */
import { isMap, isScalar, isSeq, LineCounter } from "yaml";
import { readYaml } from "../read-yaml.ts";
import { parseRuleFile } from "../rule-files.ts";
import { Import, type Imported } from "./imported.ts";

/** Its other tools, as what they come to here. */
const TOOLS: Readonly<Record<string, string>> = {
  search: "read",
  tree: "read",
  patch: "write",
  "git-status": "exec git status",
  "git-diff": "exec git diff",
  "git-log": "exec git log",
  "git-branch": "exec git branch",
};

export function importChatCli(text: string): Imported {
  const found = new Import();
  const lines = new LineCounter();
  const { contents, errors } = readYaml(text, lines);
  for (const error of errors) found.leave(lines.linePos(error.pos[0]).line, "", error.message);
  if (!isMap(contents) || errors.length > 0) return found.result;
  found.merge = contents.toJSON().merge !== false;
  const rules = contents.get("rules", true);
  for (const item of isSeq(rules) ? rules.items : []) {
    const { line } = lines.linePos((item as { range?: [number] } | null)?.range?.[0] ?? 0);
    const pattern = isMap(item) ? item.get("pattern") : undefined;
    const action = isMap(item) ? item.get("action") : undefined;
    const written = typeof pattern === "string" ? pattern : JSON.stringify(item);
    importRule(found, written, isScalar(action) ? action.value : action, line);
  }
  return found.result;
}

function importRule(found: Import, written: string, action: unknown, line: number): void {
  const words = written.trim().split(/\s+/);
  const marked = words[0] === "@coder";
  if (marked) words.shift();
  const tool = marked ? TOOLS[words[0] ?? ""] : undefined;
  const pattern = tool === undefined ? written : ["@coder", tool, ...words.slice(1)].join(" ");
  // The tool's own options name its arguments and say nothing about which.
  const text = JSON.stringify({ rules: [{ pattern, action }] });
  const { rules, problems } = parseRuleFile(text, "project", "imported");
  const [rule] = rules;
  if (rule === undefined) {
    found.leave(line, written, problems[0]?.message ?? "it holds no rule");
    return;
  }
  found.add({ action: rule.action, tool: rule.tool, pattern: rule.pattern }, line, written);
}

/** Imported rules as a file of ours, and which format a file has. Pure. */
import { stringify } from "yaml";
import { importChatCli } from "./chatcli.ts";
import { importClaude } from "./claude.ts";
import { importCodex } from "./codex.ts";
import type { Imported, ImportedRule } from "./imported.ts";

export const IMPORTERS = { claude: importClaude, codex: importCodex, chatcli: importChatCli };
export type ForeignFormat = keyof typeof IMPORTERS;

/** By what the text holds, whatever its name; null: none of them. */
export function formatOf(text: string): ForeignFormat | null {
  if (/^\s*(?:prefix_rule|host_executable|network_rule)\s*\(/m.test(text)) return "codex";
  if (/"permissions"\s*:/.test(text)) return "claude";
  if (/["']?rules["']?\s*:/.test(text)) return "chatcli";
  return null;
}

/** The text of a rule file; `from` says in its head where the rules come from. */
export function ruleYaml({ rules, merge }: Imported, from: string): string {
  const head = `# ${from}\n# What is allowed still has to stay in scope; safety patterns and the admin's denies stand above it.\n`;
  const body = stringify(
    { ...(merge ? {} : { merge }), rules: rules.map(written) },
    { lineWidth: 0, flowCollectionPadding: false },
  );
  return head + body;
}

function written({ action, tool, pattern, justification, match, notMatch }: ImportedRule): object {
  return {
    pattern: asText(pattern, tool) ?? pattern,
    action,
    ...(tool === "exec" ? {} : { tool }),
    ...(justification === undefined ? {} : { justification }),
    ...(match === undefined ? {} : { match }),
    ...(notMatch === undefined ? {} : { not_match: notMatch }),
  };
}

/** The pattern as one text, where a reader splits it into the same words again. */
function asText(pattern: readonly string[], tool: ImportedRule["tool"]): string | null {
  const plain = pattern.every((word) => /^\S+$/.test(word));
  const [first = ""] = pattern;
  if (!plain || (tool !== "exec" && pattern.length > 1)) return null;
  return /^(?:@coder|exec|read|write)$/.test(first) ? null : pattern.join(" ");
}

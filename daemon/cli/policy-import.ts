/** `recinto policy import`: permissions that people have elsewhere, as a rule file of ours; no daemon needed. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { Command } from "commander";
import { RecintoError } from "../errors.ts";
import type { Imported, Remark } from "../policy/imports/imported.ts";
import { type ForeignFormat, formatOf, IMPORTERS, ruleYaml } from "../policy/imports/rule-yaml.ts";
import { checkRuleFile } from "../policy/rule-file-check.ts";
import { print, visible } from "./terminal-text.ts";

interface ImportOptions {
  readonly format: string;
  readonly out?: string;
}

export function importCommand(): Command {
  return new Command("import")
    .description(
      "turn permissions of Claude Code, Codex or ChatCLI into a rule file; no daemon needed",
    )
    .argument("<file>", "settings.json, a file of prefix_rule(…), or coder_policy.json")
    .option("--format <format>", "claude, codex, chatcli, or auto", "auto")
    .option("--out <file>", "write the rules here instead of printing them; never over a file")
    .addHelpText(
      "after",
      `
What could not be carried over, and why, goes to standard error.

  recinto policy import .claude/settings.json --out /etc/recinto/projects/shop.rules.yaml`,
    )
    .action((file: string, { format, out }: ImportOptions) => {
      const text = read(file);
      const known = formatNamed(format, text, file);
      const imported = IMPORTERS[known](text);
      const yaml = ruleYaml(imported, `Imported from ${basename(file)} (${known}).`);
      // What is written here must be what a daemon reads there.
      const [problem] = checkRuleFile(yaml, "project", "imported").problems;
      if (problem !== undefined) {
        throw new RecintoError("bad-rules", `the rules would not be read: ${problem.message}`);
      }
      if (out === undefined) print(yaml);
      else write(out, yaml);
      process.stderr.write(reportText(imported));
    });
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new RecintoError("not-found", `cannot read ${file}`, { cause });
  }
}

function write(out: string, text: string): void {
  try {
    writeFileSync(out, text, { flag: "wx", mode: 0o644 });
  } catch (cause) {
    throw new RecintoError("bad-usage", `cannot write ${out}: ${(cause as Error).message}`, {
      hint: "name a file that is not there yet",
      cause,
    });
  }
}

function formatNamed(format: string, text: string, file: string): ForeignFormat {
  if (format !== "auto" && Object.hasOwn(IMPORTERS, format)) return format as ForeignFormat;
  const found = format === "auto" ? formatOf(text) : null;
  if (found !== null) return found;
  throw new RecintoError(
    "bad-usage",
    `${format === "auto" ? file : format}: no format that is known`,
    {
      hint: `--format ${Object.keys(IMPORTERS).join(", ")}`,
    },
  );
}

/** How much was carried over, then every line that was not, with its reason. */
export function reportText({ rules, leftOut, notes }: Imported): string {
  const line = (remark: Remark) =>
    `  line ${remark.line}: ${visible(remark.text)}\n    ${visible(remark.reason)}\n`;
  return [
    `${rules.length} rules carried over, ${leftOut.length} not\n`,
    ...leftOut.map(line),
    ...(notes.length > 0 ? ["carried over, with a difference:\n", ...notes.map(line)] : []),
  ].join("");
}

/** What a rule would have allowed in the past, as a person reads it before storing the rule (A6). */
import type { AdminClient, Approval, RulePreview } from "../api/client.ts";
import { visible } from "./terminal-text.ts";

/** Of each width; none where the approval offers no rule, so that nothing is asked in vain. */
export async function previewsOf(
  admin: AdminClient,
  { id, verdict }: Approval,
): Promise<readonly RulePreview[]> {
  return verdict.always === undefined ? [] : await admin.previewRules(id);
}

const COMMAND_SHOWN_CHARS = 100;

/** Lines with their ends: the count, then some of the commands. */
export function previewText({ tried, allowed, examples }: RulePreview): string {
  if (tried === 0) return "nothing like it was asked before\n";
  const head = `would have allowed ${allowed} of the last ${tried} questions in this project\n`;
  return head + examples.map((command) => `  ${shortened(visible(command))}\n`).join("");
}

/** All widths, each under its number. */
export function previewsText(previews: readonly RulePreview[]): string {
  return previews
    .map(
      (preview, width) => `${width === 0 ? "past" : "    "}       ${width}: ${indented(preview)}`,
    )
    .join("");
}

function indented(preview: RulePreview): string {
  return previewText(preview).replace(/\n(?=.)/g, "\n           ");
}

function shortened(command: string): string {
  return command.length <= COMMAND_SHOWN_CHARS
    ? command
    : `${command.slice(0, COMMAND_SHOWN_CHARS)}… (${command.length} characters)`;
}

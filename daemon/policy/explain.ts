/** The walk down the ladder as text, for `recinto policy explain`. */
import type { Match, Rung, SegmentVerdict, Verdict } from "./types.ts";

const LADDER: readonly (readonly [Rung, string])[] = [
  ["understand", "0 understand"],
  ["absolute-deny", "1 absolute deny"],
  ["stale-authority", "2 stale authority"],
  ["ceiling", "3 ceilings"],
  ["safety", "4 safety"],
  ["denials", "5 denials"],
  ["rule", "6 rules"],
  ["grant", "7 grants"],
  ["scope", "8 scope"],
  ["default", "9 otherwise"],
];

const WIDTH = 18;

/** Lines without a line end. Control characters of the command are shown by their escapes. */
export function explain(verdict: Verdict): readonly string[] {
  const lines = [`${verdict.verdict}: ${verdict.reason}`];
  if (verdict.instead !== undefined) lines.push(`instead: ${verdict.instead}`);
  if (verdict.roots.length > 0) lines.push(`roots: ${verdict.roots.join(", ")}`);
  if (verdict.hidden !== undefined) lines.push(`hidden characters: ${verdict.hidden.join(", ")}`);
  verdict.segments.forEach((segment, index) => {
    lines.push("", ...explainSegment(segment, index + 1));
  });
  for (const [index, saved] of (verdict.always ?? []).entries()) {
    if (index === 0) lines.push("", "always would store one of:");
    const where = saved.paths.length > 0 ? ` below ${saved.paths.join(", ")}` : " in scope";
    lines.push(`  ${saved.prefix.join(" ")} *${where}, effects ${saved.effects.join(", ")}`);
  }
  return lines.map(visible);
}

function explainSegment(segment: SegmentVerdict, number: number): readonly string[] {
  const { form, cwds, effects, paths } = segment;
  const lines = [`${number}. ${segment.text.trim()}`];
  const says = (label: string, text: string): void => {
    lines.push(`   ${label.padEnd(WIDTH)} ${text}`);
  };
  if (form !== "") says("form", form);
  says("in", cwds.length > 0 ? cwds.join(" or ") : "a folder that is not known");
  if (effects.length > 0) says("effects", effects.join(", "));
  for (const { access, path, real, root } of paths) {
    const leads = real === undefined ? "" : ` → ${real}`;
    says(access === "read" ? "reads" : "writes", `${path}${leads} (${root ?? "outside"})`);
  }
  for (const [rung, label] of LADDER) {
    const found = segment.matches.filter((match) => match.rung === rung);
    if (found.length === 0) says(label, "–");
    for (const match of found) says(label, describeMatch(match));
  }
  says("⇒", `${segment.verdict} by ${segment.rule}`);
  return lines;
}

function describeMatch({ decision, rule, reason }: Match): string {
  return `${decision}: ${reason} (${rule})`;
}

/** Text with what does not print shown as escapes; line ends of the command become `⏎`. */
function visible(line: string): string {
  return line
    .replace(/\n/g, "⏎")
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
      (char) => {
        return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
      },
    );
}

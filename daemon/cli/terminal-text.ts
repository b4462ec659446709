/** Text for a terminal: nothing in it moves the cursor, hides or reorders what a person reads; tables and times. */

/** Control, format, separator, private and unassigned characters, and spaces that look like nothing. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00a0\u2000-\u200a\u3000\u115f\u1160\u3164\uffa0]/gu;

/** `text` with every character that does not show as itself spelled by code point: `⟨U+202E⟩`. Tabs stay; lines if `lines`. */
export function visible(text: string, options: { lines?: boolean } = {}): string {
  return text.replace(UNSEEN, (char) => {
    if (char === "\t" || (char === "\n" && options.lines)) return char;
    if (char === "\n") return "⏎";
    const code = char.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Columns as wide as their widest cell; the last one is not padded. Cells are made visible. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows.map((row) => row.map((cell) => visible(cell)))];
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

export function print(text: string): void {
  process.stdout.write(text);
}

export function printJson(value: unknown): void {
  print(`${JSON.stringify(value, null, 2)}\n`);
}

/** One JSON value a line, for streams. */
export function printJsonLine(value: unknown): void {
  print(`${JSON.stringify(value)}\n`);
}

/** 2026-11-30 18:02:03, local time. */
export function localTime(ms: number): string {
  const pad = (value: number) => String(value).padStart(2, "0");
  const date = new Date(ms);
  const day = [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(":")}`;
}

/** 45 s, 12 min, 3 h, 2 d: one unit is enough for a person. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** `1 rule`, `2 rules`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

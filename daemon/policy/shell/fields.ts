/** Words in the making: where unquoted expansions split them, and what their pieces are together. */

import { escapeGlob, GLOB_CHARACTERS, globValue, unescapeGlob } from "./globs.ts";
import type { Word, WordValue } from "./segment.ts";
import type { State } from "./state.ts";
import { concatenate, EMPTY, literal, textsOf, unknown } from "./values.ts";
import type { Expansion } from "./variables.ts";

/** Unquoted text whose wildcards count, on its way to a glob. */
interface Active {
  readonly kind: "active";
  readonly text: string;
}
type Piece = WordValue | Active;

/** Words in the making: unquoted expansions end one and begin another. */
export interface Fields {
  readonly text: string;
  readonly done: Word[];
  pieces: Piece[];
  quoted: boolean;
  process?: "<" | ">";
}

/** Unquoted source text from offset `skip` on: escapes are undone, wildcards stay active. */
export function addUnquoted(fields: Fields, raw: string, skip: number, word: string): void {
  let text = "";
  let active = false;
  for (let at = skip; at < raw.length; at++) {
    const character = raw[at] ?? "";
    if (character === "\\") {
      at += 1;
      const next = raw[at];
      if (next === "\n" || next === undefined) {
        if (next === undefined) text += active ? "\\\\" : "\\";
        continue;
      }
      fields.quoted = true;
      text += active ? escapeGlob(next) : next;
      continue;
    }
    const wild =
      character === "*" ||
      character === "?" ||
      (character === "[" && word !== "[" && word.includes("]"));
    if (wild && !active) {
      text = escapeGlob(text);
      active = true;
    }
    text += active && character === "[" && !wild ? "\\[" : character;
  }
  if (text !== "") fields.pieces.push(active ? { kind: "active", text } : literal(text));
}

export function addExpansion(
  fields: Fields,
  expansion: Expansion,
  quoted: boolean,
  state: State,
): void {
  if (!Array.isArray(expansion)) {
    addValue(fields, expansion as WordValue, quoted, state);
    return;
  }
  const words = expansion as readonly Word[];
  // `"$@"` without arguments is no word, not an empty one.
  if (quoted && words.length === 0 && fields.pieces.length === 0) fields.quoted = false;
  words.forEach(({ value }, at) => {
    if (at > 0) flush(fields);
    if (quoted) {
      fields.quoted = true;
      fields.pieces.push(value);
    } else addValue(fields, value, false, state);
  });
}

function addValue(fields: Fields, value: WordValue, quoted: boolean, state: State): void {
  if (quoted) {
    const several = value.kind === "listed" && value.many;
    fields.pieces.push(several ? unknown("several names in one word") : value);
    return;
  }
  if (!state.plainIfs) {
    fields.pieces.push(unknown("split by another IFS", true));
    return;
  }
  switch (value.kind) {
    case "literal":
      addSplit(fields, value.value);
      return;
    case "oneOf": {
      const whole = value.values.every((text) => /^[^\s*?[\\]+$/.test(text));
      fields.pieces.push(whole ? value : unknown("one of several texts, split", true));
      return;
    }
    case "glob": {
      const bases = [value.base === "" ? "." : value.base];
      fields.pieces.push({ kind: "listed", bases, many: true, dashed: value.dashed, split: true });
      return;
    }
    case "listed":
      fields.pieces.push({ ...value, split: true });
      return;
    case "unknown": {
      const { sample } = value;
      const whole = sample !== undefined && /^[^\s*?[\\]+$/.test(sample);
      fields.pieces.push(
        whole || value.many ? value : { ...value, many: true, prefix: safe(value.prefix) },
      );
      return;
    }
    default:
      fields.pieces.push(value);
  }
}

/** A prefix that is split and globbed is only known up to the first character that counts in that. */
function safe(prefix: string): string {
  return /^[^\s*?[\\]*/.exec(prefix)?.[0] ?? "";
}

/** A known text that is split at blanks; its wildcards count. */
function addSplit(fields: Fields, text: string): void {
  if (text === "") return;
  const chunks = text.split(/[ \t\n]+/);
  chunks.forEach((chunk, at) => {
    if (at > 0) flush(fields);
    if (chunk === "") return;
    if (chunk.includes("\\")) fields.pieces.push(unknown("a backslash in an unquoted value", true));
    else if (GLOB_CHARACTERS.test(chunk)) fields.pieces.push({ kind: "active", text: chunk });
    else fields.pieces.push(literal(chunk));
  });
}

/** Ends the word in the making. */
export function flush(fields: Fields): void {
  const { pieces, quoted, text } = fields;
  if (pieces.length > 0 || quoted) {
    const value = pieces.length === 0 ? EMPTY : present(combined(pieces), quoted);
    fields.done.push(
      fields.process === undefined || pieces.length > 1
        ? { text, value, quoted }
        : { text, value, quoted, process: fields.process },
    );
  }
  fields.pieces = [];
  fields.quoted = false;
  delete fields.process;
}

/** An unquoted word that would be empty is none. */
function present(value: WordValue, quoted: boolean): WordValue {
  if (quoted || value.kind !== "listed" || !value.empty) return value;
  const { empty: _, ...rest } = value;
  return rest;
}

function combined(pieces: readonly Piece[]): WordValue {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1 && first.kind !== "active") return first;
  if (!pieces.some((piece) => piece.kind === "active")) {
    return (pieces as readonly WordValue[]).reduce(concatenate, EMPTY);
  }
  let patterns: readonly string[] = [""];
  for (const piece of pieces) {
    const tails = patternsOf(piece);
    if (tails === null || patterns.length * tails.length > 64) return unsurePattern(pieces);
    patterns = patterns.flatMap((head) => tails.map((tail) => head + tail));
  }
  const globs = patterns.map((pattern) =>
    GLOB_CHARACTERS.test(pattern.replace(/\\./g, ""))
      ? globValue(pattern)
      : literal(unescapeGlob(pattern)),
  );
  const [only] = globs;
  if (globs.length === 1 && only !== undefined) return only;
  const bases = new Set<string>();
  let dashed = false;
  for (const glob of globs) {
    if (glob.kind !== "glob") return unknown("a pattern that climbs", true);
    bases.add(glob.base === "" ? "." : glob.base);
    dashed ||= glob.dashed;
  }
  return { kind: "listed", bases: [...bases], many: true, dashed, split: false };
}

/** What a piece may be inside a pattern; a number matches as any text would. */
function patternsOf(piece: Piece): readonly string[] | null {
  if (piece.kind === "active") return [piece.text];
  if (piece.kind === "number") return ["*"];
  return textsOf(piece)?.map(escapeGlob) ?? null;
}

/** `"$f"/*.c` of a listed `$f` stays below it; of anything else nothing is known but how it begins. */
function unsurePattern(pieces: readonly Piece[]): WordValue {
  const whole = pieces
    .map((piece) => (piece.kind === "active" ? literal(piece.text) : piece))
    .reduce(concatenate, EMPTY);
  if (whole.kind === "listed") {
    const climbs = pieces.some((piece) => piece.kind === "active" && /(?:^|\/)\./.test(piece.text));
    if (!climbs) return { ...whole, many: true };
  }
  const [head] = pieces;
  return unknown(
    "a pattern with an expansion in it",
    true,
    head?.kind === "literal" ? head.value : "",
  );
}

/** Brace expansion as bash does it: on the text of a word, before anything in the word is expanded. */

import type { Word, WordPart } from "unbash";
import { WORD_VALUES_MAX } from "../../limits.ts";

/** Pieces of a word's text that braces treat as one: a character, an escaped one, a quoted string, an expansion. */
type Token = string;

/** Whether bash might see a brace expansion in `text`; false is sure. */
export function mayHaveBraces(text: string): boolean {
  const open = text.indexOf("{");
  return open >= 0 && (text.includes(",", open) || text.includes("..", open));
}

/** Brace expansion of a word: the texts of the words it becomes, or null when there are too many to list. */
export function expandBraces(word: Word): readonly string[] | null {
  const tokens: Token[] = [];
  tokenize(word.text, word.pos, word.parts, tokens);
  // Every brace is looked for by itself, and so many of them are no list that anyone writes.
  if (tokens.filter((token) => token === "{").length > WORD_VALUES_MAX) return null;
  return expand(tokens);
}

function tokenize(
  text: string,
  start: number,
  parts: readonly WordPart[] | undefined,
  tokens: Token[],
): void {
  let at = 0;
  const plain = (end: number): void => {
    while (at < end) {
      const length = text[at] === "\\" ? Math.min(2, text.length - at) : 1;
      tokens.push(text.slice(at, at + length));
      at += length;
    }
  };
  for (const part of parts ?? []) {
    plain(part.pos - start);
    if (part.type === "BraceExpansion") {
      tokenize(part.text, part.pos, part.parts, tokens);
    } else if (part.type === "Literal" || part.type === "Glob") {
      plain(part.end - start);
      continue;
    } else {
      tokens.push(text.slice(part.pos - start, part.end - start));
    }
    at = part.end - start;
  }
  plain(text.length);
}

/**
 * The next place at or behind `from` where `wanted` stands outside inner braces. A closing brace counts only when a
 * comma or `..` stood before it. -1 when there is none.
 */
function seek(tokens: readonly Token[], from: number, wanted: "{" | "}" | ","): number {
  let level = 0;
  let separated = wanted !== "}";
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === wanted && level === 0 && separated) {
      // `{}` alone is a word that find and xargs know.
      if (wanted === "{" && at === 0 && tokens[1] === "}") continue;
      return at;
    }
    if (token === "{") level += 1;
    else if (token === "}" && level > 0) level -= 1;
    else if (wanted === "}" && level === 0) {
      if (token === ",") separated = true;
      else if (token === "." && tokens[at + 1] === "." && tokens[at + 2] !== "}") separated = true;
    }
  }
  return -1;
}

function expand(tokens: readonly Token[]): readonly string[] | null {
  let open = seek(tokens, 0, "{");
  while (open >= 0 && seek(tokens, open + 1, "}") < 0) {
    open = seek(tokens, open + 1, "{");
  }
  if (open < 0) return [tokens.join("")];
  const close = seek(tokens, open + 1, "}");
  const inside = tokens.slice(open + 1, close);
  const middles = inside.includes(",") ? alternatives(inside) : sequence(inside.join(""));
  if (middles === null) return null;
  const head = tokens.slice(0, open).join("");
  const tails = expand(tokens.slice(close + 1));
  if (tails === null || middles.length * tails.length > WORD_VALUES_MAX) return null;
  return middles.flatMap((middle) => tails.map((tail) => head + middle + tail));
}

function alternatives(inside: readonly Token[]): readonly string[] | null {
  const all: string[] = [];
  let from = 0;
  while (from <= inside.length) {
    const comma = seek(inside, from, ",");
    const end = comma < 0 ? inside.length : comma;
    const some = expand(inside.slice(from, end));
    if (some === null || all.length + some.length > WORD_VALUES_MAX) return null;
    all.push(...some);
    from = end + 1;
  }
  return all;
}

const SEQUENCE =
  /^(?:([+-]?\d{1,15})\.\.([+-]?\d{1,15})|([a-zA-Z])\.\.([a-zA-Z]))(?:\.\.([+-]?\d{1,9}))?$/;

function sequence(text: string): readonly string[] | null {
  const found = SEQUENCE.exec(text);
  // Anything else in braces with `..` stays as it is, or is odd enough (`{a..Z}`) not to be listed.
  if (found === null) return /^.\.\..(?:\.\.|$)/.test(text) ? null : [`{${text}}`];
  const [, low, high, first, last, by] = found;
  const letters = first !== undefined && last !== undefined;
  const start = letters ? first.charCodeAt(0) : Number(low);
  const end = letters ? last.charCodeAt(0) : Number(high);
  // From one case to the other lie quotes, brackets and the backslash.
  if (letters && /[a-z]/.test(first) !== /[a-z]/.test(last)) return null;
  const step = Math.abs(Number(by ?? 1)) || 1;
  if (Math.abs(end - start) / step >= WORD_VALUES_MAX) return null;
  const padded = [low, high].some((side) => side !== undefined && /^[+-]?0\d/.test(side));
  const width = padded ? Math.max(low?.length ?? 0, high?.length ?? 0) : 0;
  const all: string[] = [];
  const direction = end >= start ? step : -step;
  for (let at = start; direction > 0 ? at <= end : at >= end; at += direction) {
    all.push(letters ? String.fromCharCode(at) : pad(at, width));
  }
  return all;
}

function pad(value: number, width: number): string {
  const digits = String(Math.abs(value));
  return value < 0 ? `-${digits.padStart(width - 1, "0")}` : digits.padStart(width, "0");
}

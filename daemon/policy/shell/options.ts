/** Finds where the options of a wrapper end, by that wrapper's own grammar; anything doubtful is no answer. */

import type { Word } from "./segment.ts";

export interface Grammar {
  /** Short options without a value. */
  readonly flags?: string;
  /** Short options with a value, attached or in the next word. */
  readonly values?: string;
  /** Short options whose value, if any, is attached. */
  readonly attached?: string;
  readonly longFlags?: readonly string[];
  readonly longValues?: readonly string[];
  /** Operands may stand before options (`grep x -r .`). */
  readonly permuted?: true;
}

export interface Parsed {
  /** Options in order; a value as text when it was attached. */
  readonly options: ReadonlyMap<string, Word | string | true>;
  readonly operands: readonly Word[];
  /** Index of the first operand, or of the end. */
  readonly next: number;
}

/** Whether a word that is not literal can only be an operand, and only one. */
function isOperand(word: Word): boolean {
  const { value } = word;
  switch (value.kind) {
    case "oneOf":
      return value.values.every((text) => !text.startsWith("-"));
    case "number":
      return true;
    case "glob":
      return !value.dashed;
    case "listed":
      return !value.dashed && !value.split;
    case "unknown":
      return value.prefix !== "" && !value.prefix.startsWith("-") && !value.many;
    default:
      return !value.value.startsWith("-") || value.value === "-";
  }
}

/** Reads options from `words[from]` on; null when an option is not known or a word may or may not be one. */
export function parseOptions(
  words: readonly Word[],
  from: number,
  grammar: Grammar,
): Parsed | null {
  const options = new Map<string, Word | string | true>();
  const operands: Word[] = [];
  let at = from;
  for (; at < words.length; at++) {
    const word = words[at] as Word;
    if (word.value.kind !== "literal" || isOperand(word)) {
      if (!isOperand(word)) return null;
      if (!grammar.permuted) break;
      operands.push(word);
      continue;
    }
    const text = word.value.value;
    if (text === "--") {
      at += 1;
      break;
    }
    const used = text.startsWith("--")
      ? longOption(text.slice(2), words[at + 1], grammar, options)
      : shortOptions(text, words[at + 1], grammar, options);
    if (used < 0) return null;
    at += used;
  }
  const next = Math.min(at, words.length);
  return { options, operands: [...operands, ...words.slice(next)], next };
}

/** How many further words the option takes, or -1. */
function longOption(
  text: string,
  following: Word | undefined,
  grammar: Grammar,
  options: Map<string, Word | string | true>,
): number {
  const equals = text.indexOf("=");
  const written = equals < 0 ? text : text.slice(0, equals);
  const flag = complete(written, grammar.longFlags ?? []);
  const valued = complete(written, grammar.longValues ?? []);
  if (flag !== null && valued === null && equals < 0) {
    options.set(flag, true);
    return 0;
  }
  if (valued === null || (flag !== null && flag !== written)) return -1;
  if (equals >= 0) {
    options.set(valued, text.slice(equals + 1));
    return 0;
  }
  if (following === undefined) return -1;
  options.set(valued, following);
  return 1;
}

function complete(written: string, names: readonly string[]): string | null {
  if (names.includes(written)) return written;
  const matching = names.filter((name) => name.startsWith(written));
  return matching.length === 1 && written !== "" ? (matching[0] ?? null) : null;
}

function shortOptions(
  text: string,
  following: Word | undefined,
  grammar: Grammar,
  options: Map<string, Word | string | true>,
): number {
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (grammar.flags?.includes(letter)) {
      options.set(letter, true);
      continue;
    }
    const rest = text.slice(at + 1);
    if (grammar.attached?.includes(letter)) {
      options.set(letter, rest);
      return 0;
    }
    if (!grammar.values?.includes(letter)) return -1;
    if (rest !== "") {
      options.set(letter, rest);
      return 0;
    }
    if (following === undefined) return -1;
    options.set(letter, following);
    return 1;
  }
  return 0;
}

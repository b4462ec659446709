/** Reads the options of one verb out of its words, by that verb's own table. */

import type { Word, WordValue } from "../shell/segment.ts";
import type { OptionDef, OptionTable, ParsedOption } from "./spec.ts";

export interface OptionRules {
  readonly table: OptionTable;
  readonly digits: boolean;
  /** Options end at the first operand. */
  readonly strict: boolean;
  readonly oneDash: boolean;
  /** A word that might be an option without our knowing does no harm. */
  readonly anyArgs: boolean;
}

export interface ParsedWords {
  readonly options: readonly (ParsedOption & { readonly def: OptionDef })[];
  readonly operands: readonly Word[];
  /** What keeps the words from being understood, each a clause: "unknown option --x". */
  readonly problems: readonly string[];
}

/** A word's text as far as it is sure. `exact`: there is no more. `many`: it may be several words, or none. */
interface Sure {
  readonly text: string;
  readonly exact: boolean;
  readonly many: boolean;
}

function sure(value: WordValue): Sure {
  switch (value.kind) {
    case "literal":
      return { text: value.value, exact: true, many: false };
    case "glob": {
      const end = value.pattern.search(/[*?[\\(]/);
      return {
        text: end < 0 ? value.pattern : value.pattern.slice(0, end),
        exact: false,
        many: true,
      };
    }
    case "unknown":
      if (value.sample !== undefined && !value.many)
        return { text: value.sample, exact: true, many: false };
      return { text: value.prefix, exact: false, many: value.many };
    default:
      return { text: "", exact: false, many: value.kind === "listed" && value.many };
  }
}

/** Whether a word could be taken for an option although its text is not known. */
export function mayBeOption({ value, quoted }: Word): boolean {
  switch (value.kind) {
    case "literal":
    case "number":
      return false;
    case "oneOf":
      return value.values.some((text) => text.startsWith("-"));
    case "glob":
      return value.dashed;
    case "listed":
      // `./a -o x` is one name, and three words once it is split.
      return value.dashed || (value.split && (value.many || !quoted));
    case "unknown": {
      const text = value.many ? value.prefix : (value.sample ?? value.prefix);
      return text === "" || text.startsWith("-");
    }
  }
}

/** What to do about it, where only the splitting makes it one. */
function splits({ value }: Word): string {
  return value.kind === "listed" && value.split && !value.dashed
    ? " once it is split at blanks (quote it, or use -print0 with xargs -0)"
    : "";
}

/** The word that is left of `word` after its first `length` characters. */
function rest(word: Word, length: number): Word {
  const { value } = word;
  const text = word.text;
  if (value.kind === "literal")
    return { ...word, text, value: { kind: "literal", value: value.value.slice(length) } };
  if (value.kind === "glob") {
    const pattern = value.pattern.slice(length);
    const literal = pattern.slice(0, pattern.search(/[*?[\\(]/));
    const base = literal.slice(0, literal.lastIndexOf("/") + 1);
    return {
      ...word,
      text,
      value: { kind: "glob", pattern, base, dashed: /^[-*?[\\(]/.test(pattern) },
    };
  }
  if (value.kind === "unknown")
    return {
      ...word,
      text,
      value: {
        ...value,
        prefix: value.prefix.slice(length),
        ...(value.sample === undefined ? {} : { sample: value.sample.slice(length) }),
      },
    };
  return word;
}

/** Finds a long option by its name or an abbreviation of it that means one thing only. */
function findLong(table: OptionTable, name: string): OptionDef | "unknown" | "ambiguous" {
  const exact = table.get(name);
  if (exact !== undefined) return exact;
  if (name.length < 3) return "unknown";
  let found: OptionDef | "unknown" = "unknown";
  for (const def of table.values()) {
    if (!def.name.startsWith(name) || !def.name.startsWith("--")) continue;
    if (found === "unknown") found = def;
    else if (def.role !== found.role || def.arity !== found.arity || def.lift !== found.lift)
      return "ambiguous";
  }
  return found;
}

/**
 * Splits words into options and operands. Never throws: what it cannot read is in `problems`, and what follows is
 * still read as well as possible so that the paths in it are judged too.
 */
export function parseOptions(words: readonly Word[], rules: OptionRules): ParsedWords {
  const { table } = rules;
  const options: (ParsedOption & { def: OptionDef })[] = [];
  const operands: Word[] = [];
  const problems: string[] = [];
  let i = 0;

  const take = (def: OptionDef, attached: Word | null): void => {
    if (def.arity !== "one" || attached !== null) {
      options.push({ name: def.name, value: attached, def });
      return;
    }
    const next = words[i];
    if (next === undefined) {
      problems.push(`option ${def.name} without its value`);
      return;
    }
    i += 1;
    options.push({ name: def.name, value: next, def });
    const value = sure(next.value);
    // A word that becomes several gives one to the option and the others to the operands.
    if (value.many && !rules.anyArgs && (next.value.kind === "unknown" || mayBeOption(next)))
      problems.push(`${next.text} may be more than the value of ${def.name}`);
    if (value.many) operands.push(next);
  };

  const long = (word: Word, text: Sure): void => {
    const equals = text.text.indexOf("=");
    const name = equals < 0 ? text.text : text.text.slice(0, equals);
    if (equals < 0 && !text.exact) {
      if (!rules.anyArgs) problems.push(`${word.text} may be any option`);
      operands.push(word);
      return;
    }
    const def = findLong(table, name);
    if (typeof def === "string") problems.push(`${def} option ${name}`);
    else if (equals >= 0 && def.arity === "none") problems.push(`option ${name} takes no value`);
    else take(def, equals < 0 ? null : rest(word, equals + 1));
  };

  /** `-name` and `-name=value`. False when no such option is declared. */
  const oneDash = (word: Word, text: Sure): boolean => {
    const equals = text.text.indexOf("=");
    if (equals < 0 && !text.exact) return false;
    const dashed = equals < 0 ? text.text : text.text.slice(0, equals);
    const def =
      table.get(dashed) ?? table.get(dashed.startsWith("--") ? dashed.slice(1) : `-${dashed}`);
    if (def === undefined) return false;
    if (equals >= 0 && def.arity === "none" && !/=(true|false|[01])$/.test(text.text))
      problems.push(`option ${dashed} takes no value`);
    else take(def, equals < 0 || def.arity === "none" ? null : rest(word, equals + 1));
    return true;
  };

  const cluster = (word: Word, text: Sure): void => {
    for (let at = 1; at < text.text.length; at += 1) {
      const letter = text.text[at] as string;
      if (rules.digits && letter >= "0" && letter <= "9") continue;
      const def = table.get(`-${letter}`);
      if (def === undefined) {
        problems.push(`unknown option -${letter}`);
        return;
      }
      if (def.arity === "none") {
        take(def, null);
        continue;
      }
      const attached = at + 1 < text.text.length || !text.exact;
      take(def, attached ? rest(word, at + 1) : null);
      return;
    }
    if (!text.exact && !rules.anyArgs) problems.push(`${word.text} may be any option`);
  };

  while (i < words.length) {
    const word = words[i] as Word;
    i += 1;
    const text = sure(word.value);
    if (text.exact && text.text === "--") {
      operands.push(...words.slice(i));
      break;
    }
    const dashed = text.text.length > 1 && text.text.startsWith("-");
    if (!dashed) {
      if (text.text !== "-" || !text.exact)
        if (!rules.anyArgs && mayBeOption(word))
          problems.push(`${word.text} may be an option${splits(word)}`);
      operands.push(word);
      if (rules.strict) {
        operands.push(...words.slice(i));
        break;
      }
      continue;
    }
    if (text.many && word.value.kind === "unknown" && !rules.anyArgs)
      problems.push(`${word.text} may be several words`);
    if (rules.oneDash && oneDash(word, text)) continue;
    if (text.text.startsWith("--")) long(word, text);
    else if (rules.oneDash && table.get(text.text.slice(0, 2))?.arity === "none")
      problems.push(`unknown option ${text.text}`);
    else cluster(word, text);
  }
  return { options, operands, problems };
}

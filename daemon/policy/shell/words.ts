/** Decodes words: quotes, escapes, tilde, braces, expansions, splitting and globs, each done once, as bash does them. */

import { parse, type Word as WordNode, type WordPart } from "unbash";
import { evaluateArithmetic } from "./arithmetic.ts";
import { expandBraces, mayHaveBraces } from "./braces.ts";
import { addExpansion, addUnquoted, type Fields, flush } from "./fields.ts";
import { parameterExpansion } from "./parameters.ts";
import type { Frame, Run } from "./run.ts";
import type { Word, WordValue } from "./segment.ts";
import type { State } from "./state.ts";
import { concatenate, EMPTY, literal, NUMBER, unknown } from "./values.ts";
import { type Expansion, parameter } from "./variables.ts";

/** Words in which nothing at all happens: most of them. */
const INERT = /^[\w@%+:,./^-]+$/;
/** The same with an equals sign, behind which a tilde would count. */
const INERT_OPTION = /^[\w@%+:,./^=-]+$/;

/** Characters that look like a space. */
const ODD_SPACE = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

/** Two words of the parser without a space between them are one word of bash. */
export function touching(run: Run, frame: Frame, at: number): void {
  run.problem("parse-error", "a process substitution that is part of a word", frame, at);
}

/** The words of a list, such as that of a loop or an array. */
export function expandWords(
  run: Run,
  nodes: readonly WordNode[],
  state: State,
  frame: Frame,
): Word[] {
  const words: Word[] = [];
  let end = -1;
  for (const node of nodes) {
    if (node.pos === end) touching(run, frame, end);
    end = node.end;
    expandWord(run, node, state, frame, words);
  }
  return words;
}

/** Appends the words that `node` becomes: none, one or several. */
export function expandWord(
  run: Run,
  node: WordNode,
  state: State,
  frame: Frame,
  into: Word[],
): void {
  const { text } = node;
  if (INERT_OPTION.test(text)) {
    into.push({ text, value: literal(text), quoted: false });
    return;
  }
  if (mayHaveBraces(text)) {
    const texts = run.braces(1) ? expandBraces(node) : null;
    if (texts === null || !run.braces(texts.length)) {
      unsplit(run, node, state, frame);
      into.push({ text, value: unknown("too many words from braces", true), quoted: false });
      return;
    }
    if (texts.length > 1 || texts[0] !== text) {
      for (const one of texts) expandBraced(run, one, text, state, frame, into);
      return;
    }
  }
  expandPlain(run, node, text, state, frame, into);
}

/** One of the texts that braces made, read as a word again. */
function expandBraced(
  run: Run,
  text: string,
  written: string,
  state: State,
  frame: Frame,
  into: Word[],
): void {
  if (text === "") return;
  // A `#` would begin a comment here, where bash has already made it a word.
  const source = text.startsWith("#") ? `: \\${text}` : `: ${text}`;
  const command = parse(source).commands[0]?.command;
  const word = command?.type === "Command" ? command.suffix[0] : undefined;
  if (word?.type !== "Word" || word.end !== source.length) {
    run.problem("braces", `braces that cannot be read: ${written}`, frame);
    into.push({ text: written, value: unknown("braces", true), quoted: false });
    return;
  }
  expandPlain(run, word, written, state, { ...frame, source, nested: true }, into);
}

function expandPlain(
  run: Run,
  node: WordNode,
  text: string,
  state: State,
  frame: Frame,
  into: Word[],
): void {
  const fields: Fields = { text, done: into, pieces: [], quoted: false };
  const { parts } = node;
  const tilde = tildeOf(run, node.text, state);
  if (tilde !== null) fields.pieces.push(tilde.value);
  const skip = tilde?.length ?? 0;
  if (parts === undefined) {
    checkSpaces(run, node.text, frame, node.pos);
    addUnquoted(fields, node.text, skip, node.text);
  } else {
    for (const part of parts) {
      if (part.type === "Literal") checkSpaces(run, part.text, frame, part.pos);
      addPart(run, part, fields, node, skip, state, frame);
    }
  }
  flush(fields);
}

/** A space that is none to bash makes one word of what looks like two; in quotes it is only text. */
function checkSpaces(run: Run, text: string, frame: Frame, at: number): void {
  const found = ODD_SPACE.exec(text);
  if (found === null) return;
  const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  run.problem("odd-space", `a space that does not part words, U+${code}: ${text}`, frame, at);
}

/** `~` and `~/…` at the start, or behind the `=` of what looks like an assignment. */
function tildeOf(
  run: Run,
  text: string,
  state: State,
): { value: WordValue; length: number } | null {
  if (!text.includes("~")) return null;
  const assignment = /^[A-Za-z_]\w*\+?=/.exec(text)?.[0] ?? "";
  const place = text.startsWith("~") ? 0 : assignment.length;
  if (place === 0 && text[0] !== "~") return null;
  if (assignment !== "" && /[=:]~/.test(text) && !/^=~(?:\/[^:~]*)?$/.test(text.slice(place - 1))) {
    return { value: unknown("tilde", false, assignment), length: text.length };
  }
  if (text[place] !== "~") return null;
  const prefix = /^~[^/]*/.exec(text.slice(place))?.[0] ?? "~";
  const head = literal(text.slice(0, place));
  // A quoted character in the prefix turns it off, and then it is an ordinary one.
  if (/["'\\]/.test(prefix)) return null;
  if (prefix !== "~") {
    return {
      value: concatenate(head, unknown(`the folder ${prefix}`)),
      length: place + prefix.length,
    };
  }
  const home = state.variables.get("HOME")?.value ?? literal(run.context.home);
  return { value: concatenate(head, home), length: place + 1 };
}

function addPart(
  run: Run,
  part: WordPart,
  fields: Fields,
  word: WordNode,
  skip: number,
  state: State,
  frame: Frame,
): void {
  switch (part.type) {
    case "Glob":
      if (part.kind === "bracket" && part.parts.some((one) => one.type !== "Literal")) {
        for (const one of part.parts) partValue(run, one, state, frame);
        fields.pieces.push(unknown("a pattern with an expansion in it", true));
        return;
      }
      addUnquoted(fields, part.text, 0, word.text);
      return;
    case "Literal":
    case "BraceExpansion": {
      for (const one of part.type === "BraceExpansion" ? (part.parts ?? []) : []) {
        partValue(run, one, state, frame);
      }
      const behind = Math.max(0, skip - (part.pos - word.pos));
      addUnquoted(fields, part.text, behind, word.text);
      return;
    }
    case "DoubleQuoted":
      fields.quoted = true;
      for (const one of part.parts) {
        if (one.type === "Literal") fields.pieces.push(literal(one.value));
        else addExpansion(fields, quotedExpansion(run, one, state, frame), true, state);
      }
      return;
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "LocaleString":
      fields.quoted = true;
      fields.pieces.push(partValue(run, part, state, frame));
      return;
    case "ProcessSubstitution": {
      const made = run.hooks.processSubstitution(run, part, state, frame);
      fields.pieces.push(made.value);
      fields.process = part.operator;
      fields.quoted = true;
      return;
    }
    default:
      addExpansion(fields, expansionOf(run, part, state, frame), false, state);
  }
}

function expansionOf(run: Run, part: WordPart, state: State, frame: Frame): Expansion {
  switch (part.type) {
    case "SimpleExpansion":
      return parameter(run, part.text.slice(1), state);
    case "ParameterExpansion":
      return parameterExpansion(run, part, state, frame);
    default:
      return partValue(run, part, state, frame);
  }
}

/** Between double quotes `$*` is one word where `$@` is a list. */
function quotedExpansion(run: Run, part: WordPart, state: State, frame: Frame): Expansion {
  const expansion = expansionOf(run, part, state, frame);
  const star =
    part.type === "SimpleExpansion"
      ? part.text === "$*"
      : part.type === "ParameterExpansion" && (part.parameter === "*" || part.index?.text === "*");
  return star ? joined(expansion, state) : expansion;
}

/** What a part is as text, when nothing splits or globs. */
export function partValue(run: Run, part: WordPart, state: State, frame: Frame): WordValue {
  switch (part.type) {
    case "Literal":
      return literal(part.value);
    case "SingleQuoted":
      return literal(part.value);
    case "AnsiCQuoted":
      // Bash ends the text at a NUL.
      return part.value.includes("\0") ? unknown("a NUL in a word") : literal(part.value);
    case "Glob":
      if (part.kind === "bracket" && part.parts.some((one) => one.type !== "Literal")) {
        for (const one of part.parts) partValue(run, one, state, frame);
        return unknown("a pattern with an expansion in it");
      }
      return literal(part.text);
    case "DoubleQuoted":
      return part.parts.map((one) => partValue(run, one, state, frame)).reduce(concatenate, EMPTY);
    case "LocaleString":
      for (const one of part.parts) partValue(run, one, state, frame);
      run.problem(
        "translated-string",
        `a string that is translated: ${part.text}`,
        frame,
        part.pos,
      );
      return unknown("translated string");
    case "SimpleExpansion":
    case "ParameterExpansion":
      return joined(expansionOf(run, part, state, frame), state);
    case "CommandExpansion":
      return run.hooks.substitute(run, part, state, frame);
    case "ArithmeticExpansion": {
      const inside = part.text.startsWith("$((") ? part.text.slice(3, -2) : part.text.slice(2, -1);
      evaluateArithmetic(run, part.expression, inside, state, frame, part.pos);
      return NUMBER;
    }
    case "ProcessSubstitution":
      return run.hooks.processSubstitution(run, part, state, frame).value;
    case "BraceExpansion":
      for (const one of part.parts ?? []) partValue(run, one, state, frame);
      // Braces stay where nothing is split, but quotes and expansions in them do not.
      return /^[\w./,{}-]*$/.test(part.text) ? literal(part.text) : unknown("braces");
    case "ExtendedGlob":
      for (const one of part.parts ?? []) partValue(run, one, state, frame);
      // Without `shopt -s extglob` bash reads this as something else altogether.
      run.problem("extended-glob", `an extended pattern: ${part.text}`, frame, part.pos);
      return unknown("extended pattern", true);
    default:
      run.problem("unknown-syntax", "a word part of an unknown kind", frame);
      return unknown("unknown syntax", true);
  }
}

/** A list as one text: `"$*"`, or `x=$@`. */
function joined(expansion: Expansion, state: State): WordValue {
  if (!Array.isArray(expansion)) {
    const value = expansion as WordValue;
    return value.kind === "unknown" && value.many ? { ...value, many: false } : value;
  }
  const words = expansion as readonly Word[];
  if (words.length > 1 && !state.plainIfs) return unknown("list joined by another IFS");
  return words
    .map(({ value }) => value)
    .reduce(
      (all, one, at) => concatenate(at > 0 ? concatenate(all, literal(" ")) : all, one),
      EMPTY,
    );
}

/** What a word is where bash neither splits nor globs nor expands braces: assignments, `case`, `[[ ]]`, here-strings. */
export function unsplit(
  run: Run,
  node: WordNode,
  state: State,
  frame: Frame,
  assigned = false,
): WordValue {
  const { text } = node;
  if (INERT.test(text)) return literal(text);
  if (assigned && /(?:^|:)~/.test(text)) {
    if (!/^~(?:\/[^:~]*)?$/.test(text)) {
      for (const part of node.parts ?? []) partValue(run, part, state, frame);
      return unknown("tilde");
    }
    const home = state.variables.get("HOME")?.value ?? literal(run.context.home);
    return concatenate(home, withoutTilde(run, node, state, frame));
  }
  const { parts } = node;
  if (parts === undefined) return literal(node.value);
  let value: WordValue = EMPTY;
  for (const part of parts) value = concatenate(value, partValue(run, part, state, frame));
  return value;
}

function withoutTilde(run: Run, node: WordNode, state: State, frame: Frame): WordValue {
  const { parts } = node;
  if (parts === undefined) return literal(node.value.slice(1));
  return parts
    .map((part, at) => {
      const value = partValue(run, part, state, frame);
      return at === 0 && value.kind === "literal" ? literal(value.value.slice(1)) : value;
    })
    .reduce(concatenate, EMPTY);
}

/** A word that must be exactly one, such as the target of a redirect; several or none are not known. */
export function expandSingle(run: Run, node: WordNode, state: State, frame: Frame): Word {
  const words: Word[] = [];
  expandWord(run, node, state, frame, words);
  const [word] = words;
  if (word !== undefined && words.length === 1) return word;
  return { text: node.text, value: unknown("not exactly one word"), quoted: false };
}

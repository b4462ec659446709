/** What `${…}` expands to, with its operators. */

import type { ParameterExpansionPart, ParameterOperation, Word as WordNode } from "unbash";
import { isPlainName, readArithmeticText, readSubscript, unsureFrom } from "./arithmetic.ts";
import { escapeGlob, removeMatch } from "./globs.ts";
import type { Frame, Run } from "./run.ts";
import type { WordValue } from "./segment.ts";
import type { State } from "./state.ts";
import {
  baseName,
  EMPTY,
  folderOf,
  joinValues,
  NUMBER,
  oneOf,
  shortened,
  textsOf,
  unknown,
} from "./values.ts";
import { type Expansion, itemsOf, parameter } from "./variables.ts";

/** `${…}` in all its forms. */
export function parameterExpansion(
  run: Run,
  part: ParameterExpansionPart,
  state: State,
  frame: Frame,
): Expansion {
  const { parameter: name, index, operation, prefix } = part;
  if (index !== undefined) readSubscript(run, name, index, state, frame);
  if (prefix === "!") return indirect(run, part, state, frame);
  if (prefix === "#") return NUMBER;
  let value: Expansion;
  if (index === undefined) {
    value = parameter(run, name, state);
  } else if (name === "PIPESTATUS" || name === "GROUPS") {
    value = NUMBER;
  } else {
    const items = itemsOf(name, state);
    if (index.text === "@" || index.text === "*") value = items ?? unknown(`array ${name}`, true);
    else if (/^(?:0|[1-9]\d*)$/.test(index.text)) {
      value = items?.[Number(index.text)]?.value ?? unknown(`element of ${name}`);
    } else value = unknown(`element of ${name}`);
  }
  if (operation === undefined) return value;
  const whole = Array.isArray(value) ? unknown("changed list", true) : (value as WordValue);
  return operate(run, part, operation, whole, state, frame);
}

/** `${!x}` is the variable that `$x` names, and a subscript in that name would be evaluated; `${!x[@]}`, `${!x*}` are names. */
function indirect(run: Run, part: ParameterExpansionPart, state: State, frame: Frame): Expansion {
  const { parameter: name, index, operation } = part;
  const names = operation?.type === "Names" || index?.text === "@" || index?.text === "*";
  const texts = index === undefined ? textsOf(joined(parameter(run, name, state))) : null;
  if (!names && !(texts?.every(isPlainName) ?? false)) {
    run.problem("indirect", `which variable it is, is not sure: ${part.text}`, frame, part.pos);
  }
  if (operation !== undefined) operate(run, part, operation, unknown("indirect"), state, frame);
  return unknown("indirect expansion", true);
}

function joined(expansion: Expansion): WordValue {
  return Array.isArray(expansion) ? unknown("several words") : (expansion as WordValue);
}

function operate(
  run: Run,
  part: ParameterExpansionPart,
  operation: ParameterOperation,
  value: WordValue,
  state: State,
  frame: Frame,
): WordValue {
  const many = value.kind === "unknown" && value.many;
  const other = unknown(`\${…} of ${part.parameter}`, many);
  switch (operation.type) {
    case "Default":
      return defaulted(run, part, operation.operator, operation.operand, value, state, frame);
    case "Remove": {
      const pattern = run.hooks.unsplit(run, operation.operand, state, frame);
      return removed(value, operation.operator, operation.operand, pattern) ?? other;
    }
    case "Replace": {
      const pattern = run.hooks.unsplit(run, operation.pattern, state, frame);
      const by = run.hooks.unsplit(run, operation.replacement, state, frame);
      const plain = !/["'\\~]/.test(operation.replacement.text);
      return (plain ? replaced(value, operation.operator, pattern, by) : null) ?? other;
    }
    case "Slice": {
      // A negative length may be an error.
      const plain = /^ ?-?\d+$/.test(operation.offset.text);
      if (!plain || !/^\d*$/.test(operation.length?.text ?? "")) run.erring = true;
      for (const word of [operation.offset, operation.length]) {
        if (word === undefined) continue;
        const text = run.hooks.unsplit(run, word, state, frame);
        const texts = text.kind === "number" ? [] : textsOf(text);
        if (texts === null) {
          run.problem("arithmetic", `not sure to be a number: ${word.text}`, frame, word.pos);
        }
        for (const one of texts ?? []) readArithmeticText(run, one, state, frame, word.pos);
      }
      return other;
    }
    case "CaseModification": {
      if (operation.operand !== undefined) {
        run.hooks.unsplit(run, operation.operand, state, frame);
        return other;
      }
      const texts = operation.operator.length === 2 ? textsOf(value) : null;
      if (texts === null || !texts.every((text) => /^[\x20-\x7e]*$/.test(text))) return other;
      const upper = operation.operator === "^^";
      return oneOf(texts.map((text) => (upper ? text.toUpperCase() : text.toLowerCase())));
    }
    case "Transform":
      run.hooks.unsplit(run, operation.operand, state, frame);
      if (/P/.test(operation.operand.text)) {
        run.problem(
          "prompt-expansion",
          `runs the substitutions in its value: ${part.text}`,
          frame,
          part.pos,
        );
      }
      return other;
    case "Names":
      return unknown("names of variables", true);
    default:
      run.problem("unknown-syntax", `unknown expansion ${part.text}`, frame, part.pos);
      return other;
  }
}

function defaulted(
  run: Run,
  part: ParameterExpansionPart,
  operator: string,
  operand: WordNode,
  value: WordValue,
  state: State,
  frame: Frame,
): WordValue {
  const mark = run.assigned.length;
  const fallback = plainOperand(operand, run.hooks.unsplit(run, operand, state, frame));
  // The operand may not be looked at.
  unsureFrom(run, mark, state);
  const texts = textsOf(value);
  const full =
    value.kind === "number" ||
    value.kind === "listed" ||
    value.kind === "glob" ||
    (texts?.every((text) => text !== "") ?? false);
  const empty = texts?.length === 1 && texts[0] === "";
  switch (operator) {
    case ":-":
    case "-":
      if (full) return value;
      return empty && operator === ":-" ? fallback : notSure(value, fallback);
    case ":=":
    case "=": {
      if (full) return value;
      const result = empty && operator === ":=" ? fallback : notSure(value, fallback);
      if (!/^[A-Za-z_]/.test(part.parameter) || part.index !== undefined) run.erring = true;
      run.assigned.push([
        part.parameter,
        part.index === undefined ? result : unknown("element set"),
      ]);
      return result;
    }
    case ":+":
    case "+":
      if (full) return fallback;
      return empty && operator === ":+" ? EMPTY : joinValues(EMPTY, fallback);
    default:
      return value;
  }
}

/** Quotes in an operand mean one thing inside double quotes and another outside; a tilde is expanded only there. */
function plainOperand({ text }: WordNode, value: WordValue): WordValue {
  const split = textsOf(value)?.some((one) => /[\s*?[]/.test(one)) ?? true;
  const odd = /['\\~]/.test(text) || (split && text.includes('"'));
  return odd ? unknown("a quoted operand", true) : value;
}

function notSure(value: WordValue, fallback: WordValue): WordValue {
  return value.kind === "unknown" ? unknown(value.why, value.many) : joinValues(value, fallback);
}

function removed(
  value: WordValue,
  operator: string,
  operand: WordNode,
  pattern: WordValue,
): WordValue | null {
  if (value.kind === "glob" || value.kind === "listed") {
    if (operator === "##" && operand.text === "*/") return possiblyEmpty(baseName(value));
    if (operator === "%" && operand.text === "/*") return possiblyEmpty(folderOf(value));
    if (!operator.startsWith("%") || pattern.kind !== "literal") return null;
    // `*` in such a pattern matches slashes too: then the cut stays inside the name only if it has no folder.
    const oneName = value.kind === "glob" && !value.pattern.includes("/");
    if (/[/]/.test(pattern.value) || (!oneName && /[*?[$"'\\]/.test(operand.text))) return null;
    return possiblyEmpty(shortened(value));
  }
  const texts = textsOf(value);
  if (texts === null || pattern.kind !== "literal") return null;
  const quoted = /["'\\$]/.test(operand.text);
  const text = quoted ? escapeGlob(pattern.value) : pattern.value;
  if (quoted && /[*?[]/.test(operand.text)) return null;
  const results = texts.map((one) => removeMatch(one, operator, text));
  return results.includes(null) ? null : oneOf(results as string[]);
}

/** `""/etc` is another place than `name/etc`. */
function possiblyEmpty(value: WordValue): WordValue {
  return value.kind === "listed" ? { ...value, empty: true } : value;
}

function replaced(
  value: WordValue,
  operator: string,
  pattern: WordValue,
  by: WordValue,
): WordValue | null {
  const texts = textsOf(value);
  if (texts === null || pattern.kind !== "literal" || by.kind !== "literal") return null;
  // Patterns, escapes and `&` have rules of their own.
  if (pattern.value === "" || /[*?[\]\\]/.test(pattern.value) || /[&\\]/.test(by.value))
    return null;
  if (operator === "/#" || operator === "/%") return null;
  return oneOf(
    texts.map((text) =>
      operator === "//"
        ? text.replaceAll(pattern.value, () => by.value)
        : text.replace(pattern.value, () => by.value),
    ),
  );
}

/** `export`, `declare`, `local`, `readonly`: what their options and operands make of variables. */

import type { Command } from "unbash";
import type { Attributes } from "./assignments.ts";
import type { Frame, Outcome, Run, SimpleCommand } from "./run.ts";
import type { EnvAssignment, Word } from "./segment.ts";
import { ordinary } from "./segments.ts";
import { type State, type Variable, withUnknownVariables, withVariable } from "./state.ts";
import { literal, literalText, unknown } from "./values.ts";
import { isTelling, variableValue } from "./variables.ts";

const DECLARATIONS = new Set(["export", "declare", "typeset", "local", "readonly"]);

export function isDeclaration(name: string): boolean {
  return DECLARATIONS.has(name);
}

/** Attributes by the literal options of a declaration, before its assignments are read. */
export function declarationAttributes(node: Command): Attributes {
  let letters = "";
  for (const item of node.suffix) {
    if (item.type === "Word" && /^-[A-Za-z]+$/.test(item.text)) letters += item.text.slice(1);
  }
  return {
    ...((node.name?.text === "export" || letters.includes("x")) && { exported: true }),
    ...(letters.includes("A") && { map: true }),
    ...(letters.includes("i") && { integer: true }),
    ...((node.name?.text === "readonly" || letters.includes("r")) && { readonly: true }),
  };
}

const ASSIGNMENT = /^([A-Za-z_]\w*)(\+?)=(.*)$/s;

/** A declaration: the assignments among its words are in `state` already when they were written as such. */
export function declare(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const verb = literalText(command.words[0]) ?? "";
  let letters = "";
  let after = state;
  const env: EnvAssignment[] = [...command.env];
  const named = new Set(command.env.map(({ name }) => name));
  for (const word of command.words.slice(1)) {
    const text = literalText(word);
    const head = text ?? (word.value.kind === "unknown" ? word.value.prefix : "");
    if (text !== null && /^[-+][A-Za-z]+$/.test(text)) {
      letters += text.slice(1);
      continue;
    }
    if (text === "--") continue;
    const isExported = verb === "export" || letters.includes("x");
    const local =
      verb === "local" || ((verb === "declare" || verb === "typeset") && !letters.includes("g"));
    const written = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/.exec(word.text)?.[1];
    const name = written ?? /^[A-Za-z_]\w*/.exec(head)?.[0];
    if (name !== undefined && local) frame.call?.locals.add(name);
    if (name !== undefined && mayBeCompound(word, letters, after.variables.get(name))) {
      run.problem("declaration", `a list that is read again: ${word.text}`, frame);
    }
    // Written as an assignment it has been read as one.
    if (written !== undefined && named.has(written)) continue;
    const assignment = text === null ? null : ASSIGNMENT.exec(text);
    if (assignment !== null) {
      after = declared(run, after, assignment, word, isExported, env);
    } else if (text !== null && name === text) {
      const fixed = verb === "readonly" || letters.includes("r");
      if (!isExported) {
        after = withoutValue(run, after, name, letters, fixed);
        continue;
      }
      const value = variableValue(run, name, after);
      env.push({
        name,
        value: { text: `$${name}`, value, quoted: true },
        append: false,
        exported: true,
      });
      const before = after.variables.get(name);
      after = withVariable(after, name, {
        ...before,
        value: before?.value ?? value,
        exported: true,
      });
    } else {
      run.problem("declaration", `a declaration that is not sure: ${word.text}`, frame);
      after = withUnknownVariables(after, "an unknown declaration");
    }
  }
  if (letters.includes("n")) run.problem("nameref", "a variable that stands for another", frame);
  if (/[ulc]/.test(letters)) {
    run.problem("declaration", "a variable that changes what it is given", frame);
  }
  const functions = letters.includes("f") && (verb === "export" || letters.includes("x"));
  if (letters.includes("f") && (verb === "readonly" || letters.includes("r"))) {
    run.problem("declaration", "a function that cannot be defined anew", frame);
  }
  if (functions) run.problem("exported-function", "a function that programs inherit", frame);
  return ordinary(run, { ...command, env }, after, frame);
}

/**
 * `declare -a "x=($(…))"`: a text in parentheses is read as a list, and what is in it is expanded once more. So may be
 * any text that an array is given.
 */
function mayBeCompound(word: Word, letters: string, variable: Variable | undefined): boolean {
  if (/^\w+\+?=\(/.test(word.text)) return false;
  const text = literalText(word);
  if (text !== null) return /^\w+(?:\[[^\]]*\])?\+?=\s*\(/.test(text);
  const array = /[aA]/.test(letters) || variable?.items !== undefined || variable?.map === true;
  return array && /=/.test(word.text);
}

/** An assignment that only became one by expansion or quoting: `export "A=b"`. */
function declared(
  run: Run,
  state: State,
  [, name = "", plus, text = ""]: RegExpExecArray,
  word: Word,
  isExported: boolean,
  env: EnvAssignment[],
): State {
  const value = plus === "" ? literal(text) : unknown("appended");
  const exported = isExported || isTelling(run, name, state);
  env.push({ name, value: { ...word, value }, append: plus !== "", exported });
  run.remember(name, value);
  return withVariable(state, name, { value, exported });
}

/** `local x` without a value, `declare -A map`. */
function withoutValue(
  run: Run,
  state: State,
  name: string,
  letters: string,
  fixed: boolean,
): State {
  const before = state.variables.get(name);
  const value = before?.value ?? variableValue(run, name, state);
  return withVariable(state, name, {
    value: before === undefined ? unknown("declared without a value") : value,
    exported: before?.exported ?? false,
    ...(before?.items !== undefined && { items: before.items }),
    ...(letters.includes("A") && { map: true }),
    ...(letters.includes("i") && { integer: true }),
    ...(fixed && { readonly: true }),
  });
}

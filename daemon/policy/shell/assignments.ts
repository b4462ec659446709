/** Assignments: `name=value` before a command, alone, or as an argument of `export` and its like. */

import type { Assignment } from "unbash";
import { isNumeric, readArithmeticText, readSubscript } from "./arithmetic.ts";
import type { Frame, Run } from "./run.ts";
import type { EnvAssignment, Word, WordValue } from "./segment.ts";
import { type State, type Variable, withVariable } from "./state.ts";
import { concatenate, EMPTY, joinValues, literal, NUMBER, textsOf, unknown } from "./values.ts";
import { isExported, variableValue } from "./variables.ts";
import { expandWords, unsplit } from "./words.ts";

export interface Assigned {
  readonly name: string;
  readonly variable: Variable;
  readonly entry: EnvAssignment;
}

/** Attributes that a declaration gives on the way. */
export interface Attributes {
  readonly exported?: true;
  readonly map?: true;
  readonly integer?: true;
  readonly readonly?: true;
}

export function readAssignment(
  run: Run,
  node: Assignment,
  state: State,
  frame: Frame,
  attributes: Attributes = {},
): Assigned {
  const { name } = node;
  const append = node.append ?? false;
  const before = state.variables.get(name);
  const exported = attributes.exported ?? isExported(run, name, state);
  const kind = {
    ...((attributes.map ?? before?.map) && { map: true as const }),
    ...((attributes.integer ?? before?.integer) && { integer: true as const }),
    ...((attributes.readonly ?? before?.readonly) && { readonly: true as const }),
  };
  const index = node.index;
  if (index !== undefined) readSubscript(run, name, index, state, frame);
  const text = node.text.slice(node.text.indexOf("=") + 1);
  if (node.value.type === "ArrayValue") {
    const words = expandWords(run, node.value.elements, state, frame);
    const items = arrayItems(words, append ? before : undefined, append, kind.map);
    const value = unknown("an array");
    const word: Word = { text, value: unknown("an array", true), quoted: false };
    const variable: Variable = {
      value,
      exported,
      ...kind,
      ...(items !== null && index === undefined && { items }),
    };
    return { name, variable, entry: { name, value: word, append, exported } };
  }
  const quoted = /["'\\]/.test(text);
  let value = unsplit(run, node.value, state, frame, true);
  const entry = { name, value: { text, value, quoted }, append, exported };
  if (kind.integer && !isNumeric(value)) {
    const texts = textsOf(value);
    if (texts === null)
      run.problem("arithmetic", `evaluated as arithmetic: ${node.text}`, frame, node.pos);
    for (const one of texts ?? []) readArithmeticText(run, one, state, frame, node.pos);
    value = NUMBER;
  }
  if (index !== undefined || before?.items !== undefined) value = unknown(`an element of ${name}`);
  else if (append) value = concatenate(variableValue(run, name, state), value);
  return { name, variable: { value, exported, ...kind }, entry };
}

function arrayItems(
  words: readonly Word[],
  before: Variable | undefined,
  append: boolean,
  map: true | undefined,
): readonly Word[] | null {
  // `[3]=x` puts elements elsewhere.
  if (map || words.some((word) => word.text.startsWith("["))) return null;
  if (!append) return words;
  return before?.items === undefined ? null : [...before.items, ...words];
}

export function assign(run: Run, state: State, { name, variable }: Assigned): State {
  const before = state.variables.get(name);
  if (before?.readonly) {
    run.erring = true;
    const { items: _, ...rest } = variable;
    const value = before.items ? unknown("an array") : joinValues(before.value, variable.value);
    return withVariable(state, name, { ...rest, value });
  }
  run.remember(name, variable.items === undefined ? variable.value : unknown("an array"));
  return withVariable(state, name, variable);
}

/** An assignment as the word that `export` and its like are given. */
export function assignmentWord(node: Assignment, assigned: Assigned): Word {
  const head = node.text.slice(0, node.text.indexOf("=") + 1);
  const value: WordValue = assigned.entry.value?.value ?? EMPTY;
  return { text: node.text, value: concatenate(literal(head), value), quoted: true };
}

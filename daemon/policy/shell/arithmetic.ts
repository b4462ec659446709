/** Arithmetic is code: a variable or an output with `a[$(…)]` in it runs that. Only what is sure to be numbers passes. */

import type { ArithmeticExpression, ArithmeticWord, Word as WordNode } from "unbash";
import type { Frame, Run } from "./run.ts";
import type { Word, WordValue } from "./segment.ts";
import type { State } from "./state.ts";
import { joinValues, NUMBER, textsOf, unknown } from "./values.ts";
import { itemsOf, variableValue } from "./variables.ts";

/** A number in any of bash's bases, or nothing. */
const NUMERAL = /^\s*[+-]?(?:\d+|0[xX][\da-fA-F]+|\d+#[\da-zA-Z@_]+)?\s*$/;
const NAME = /^[A-Za-z_]\w*$/;
const ELEMENT = /^([A-Za-z_]\w*)\[(\w*)\]$/;
/** Operators that stand between the operands of an expression that is only text. */
const OPERATORS = /[\s+\-*/%()<>=!&|^~?:,]+/;
const ASSIGNMENT = /^(?:=|[-+*/%&|^]=|<<=|>>=|\+\+|--)$/;
const ASSIGNED_IN_TEXT =
  /([A-Za-z_]\w*)(?:\[\w*\])?\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)/g;

/** Whether evaluating it can only give a number. */
export function isNumeric(value: WordValue): boolean {
  // A plain word without a sample may be a variable's name.
  if (value.kind === "number") return NUMERAL.test(value.sample ?? "-");
  return textsOf(value)?.every((text) => NUMERAL.test(text)) ?? false;
}

/** What makes an evaluation fail half-way, or leaves parts of it out: then an assignment in it may not happen. */
const PARTIAL =
  /[/%](?!\s*[1-9]\d*(?![\w.]))|\*\*|[?&|[]|(?<![\w$])0\d*[89]|(?<![\w$])\d+[A-Za-z_#]|[^\w\s=+\-*/%<>!,(){}$]/;

/** Reads a whole expression. `text` is its source, and all there is of it when the parser could not read it. */
export function evaluateArithmetic(
  run: Run,
  expression: ArithmeticExpression | undefined,
  text: string,
  state: State,
  frame: Frame,
  at = expression?.pos ?? -1,
): void {
  const mark = run.assigned.length;
  if (expression === undefined) readArithmeticText(run, text, state, frame, at);
  else readArithmetic(run, expression, state, frame);
  if (!PARTIAL.test(text)) return;
  run.erring = true;
  unsureFrom(run, mark, state);
}

/** Assignments from the `mark`th on may not happen: the old value is possible too. */
export function unsureFrom(run: Run, mark: number, state: State): void {
  for (let at = mark; at < run.assigned.length; at++) {
    const [name, value] = run.assigned[at] as [string, WordValue];
    const before = state.variables.get(name);
    const either = before === undefined ? unknown("perhaps set") : joinValues(before.value, value);
    run.assigned[at] = [name, either];
  }
}

/** Reads an expression: substitutions become segments, assignments are remembered, doubtful content is a problem. */
function readArithmetic(
  run: Run,
  expression: ArithmeticExpression,
  state: State,
  frame: Frame,
): void {
  switch (expression.type) {
    case "ArithmeticBinary":
      if (ASSIGNMENT.test(expression.operator)) assign(run, expression.left);
      readArithmetic(run, expression.left, state, frame);
      readArithmetic(run, expression.right, state, frame);
      return;
    case "ArithmeticUnary":
      if (ASSIGNMENT.test(expression.operator)) assign(run, expression.operand);
      readArithmetic(run, expression.operand, state, frame);
      return;
    case "ArithmeticTernary":
      readArithmetic(run, expression.test, state, frame);
      readArithmetic(run, expression.consequent, state, frame);
      readArithmetic(run, expression.alternate, state, frame);
      return;
    case "ArithmeticGroup":
      readArithmetic(run, expression.expression, state, frame);
      return;
    case "ArithmeticCommandExpansion":
      if (!isNumeric(run.hooks.substitute(run, expression, state, frame))) {
        doubt(run, frame, expression.text, expression.pos);
      }
      return;
    case "ArithmeticWord":
      readOperand(run, expression, state, frame);
      return;
    default:
      run.problem("unknown-syntax", "arithmetic of an unknown kind", frame);
  }
}

function doubt(run: Run, frame: Frame, text: string, at: number): void {
  run.problem(
    "arithmetic",
    `arithmetic runs what it evaluates, and this is not sure to be a number: ${text}`,
    frame,
    at,
  );
}

function assign(run: Run, target: ArithmeticExpression): void {
  if (target.type !== "ArithmeticWord") return;
  const name = /^\w*/.exec(target.value)?.[0] ?? "";
  if (NAME.test(name)) run.assigned.push([name, NUMBER]);
}

function readOperand(run: Run, word: ArithmeticWord, state: State, frame: Frame): void {
  if (word.parts === undefined) {
    readArithmeticText(run, word.value, state, frame, word.pos);
    return;
  }
  let text = "";
  for (const part of word.parts) {
    const value =
      part.type === "Literal" ? part.value : numeral(run.hooks.part(run, part, state, frame));
    if (value === null) {
      doubt(run, frame, word.value, word.pos);
      return;
    }
    text += value;
  }
  readArithmeticText(run, text, state, frame, word.pos);
}

/** A text that stands for a numeric value, or null when it may be something else. */
function numeral(value: WordValue): string | null {
  if (!isNumeric(value)) return null;
  return value.kind === "literal" ? value.value.trim() : "1";
}

/** The same for an expression that is known only as text, as in `let`, a subscript, or a variable's content. */
export function readArithmeticText(
  run: Run,
  text: string,
  state: State,
  frame: Frame,
  at: number,
): void {
  for (const found of text.matchAll(ASSIGNED_IN_TEXT)) {
    run.assigned.push([found[1] ?? found[2] ?? "", NUMBER]);
  }
  for (const operand of text.split(OPERATORS)) {
    if (NUMERAL.test(operand) || sureOperand(run, operand, state)) continue;
    doubt(run, frame, text, at);
    return;
  }
}

function sureOperand(run: Run, operand: string, state: State): boolean {
  if (NAME.test(operand)) {
    return (
      isNumeric(variableValue(run, operand, state)) ||
      run.assigned.some(([name]) => name === operand && !state.variables.has(name))
    );
  }
  const [, name, index] = ELEMENT.exec(operand) ?? [];
  if (name === undefined || index === undefined) return false;
  if (!NUMERAL.test(index) && !isNumeric(variableValue(run, index, state))) return false;
  return itemsOf(name, state)?.every((item) => isNumeric(item.value)) ?? false;
}

/** A subscript: arithmetic, unless the array is known to be a map. */
export function readSubscript(
  run: Run,
  name: string,
  index: WordNode,
  state: State,
  frame: Frame,
): void {
  if (index.text === "@" || index.text === "*" || /^\d+$/.test(index.text)) return;
  run.erring = true;
  const value = run.hooks.unsplit(run, index, state, frame);
  if (state.variables.get(name)?.map || isNumeric(value)) return;
  const texts = textsOf(value);
  if (texts === null) doubt(run, frame, index.text, index.pos);
  else for (const text of texts) readArithmeticText(run, text, state, frame, index.pos);
}

/** What names a variable without evaluating anything: a name, or an element by number. */
const PLAIN_NAME = /^[A-Za-z_]\w*(?:\[(?:\d+|@|\*)\])?$/;

export function isPlainName(text: string): boolean {
  return PLAIN_NAME.test(text);
}

/** Operands that name variables, of which a subscript would be evaluated. */
export function checkNames(run: Run, words: readonly Word[], frame: Frame): void {
  for (const word of words) {
    const texts = textsOf(word.value);
    if (texts?.every((text) => text.startsWith("-") || PLAIN_NAME.test(text))) continue;
    run.problem("variable-name", `a variable's name that is not sure: ${word.text}`, frame);
  }
}

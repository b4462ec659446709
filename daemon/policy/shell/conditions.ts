/** `[[ … ]]` and `(( … ))`: the one is a segment with its operators and operands, the other only its arithmetic. */

import type { ArithmeticCommand, TestCommand, TestExpression, Word as WordNode } from "unbash";
import { evaluateArithmetic, isNumeric, readArithmeticText } from "./arithmetic.ts";
import type { Frame, Outcome, Run } from "./run.ts";
import type { Word } from "./segment.ts";
import type { State } from "./state.ts";
import { literal, textsOf } from "./values.ts";
import { unsplit } from "./words.ts";

const ARITHMETIC_OPERATORS = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

function plain(text: string): Word {
  return { text, value: literal(text), quoted: false };
}

export function testCommand(run: Run, node: TestCommand, state: State, frame: Frame): Outcome {
  run.step();
  const words = [plain("[[")];
  flatten(run, node.expression, state, frame, words);
  words.push(plain("]]"));
  const { stdin, input } = frame;
  const text = frame.source.slice(node.pos, node.end);
  const after = run.applyAssigned(state);
  const rest = { env: [], redirects: [], stdin, input, redirected: true, wrappers: [] };
  run.emit({ text, words, ...rest, shellLevel: true }, state.cwds, frame);
  return { ok: after, fail: after, output: null };
}

function flatten(run: Run, node: TestExpression, state: State, frame: Frame, words: Word[]): void {
  switch (node.type) {
    case "TestUnary":
      words.push(plain(node.operator), operand(run, node.operand, state, frame));
      if (node.operator === "-v" || node.operator === "-R") {
        checkName(run, node.operand, words.at(-1), state, frame);
      }
      return;
    case "TestBinary": {
      const left = operand(run, node.left, state, frame);
      const right = operand(run, node.right, state, frame);
      words.push(left, plain(node.operator), right);
      if (!ARITHMETIC_OPERATORS.has(node.operator)) return;
      for (const side of [left, right]) checkNumber(run, side, state, frame, node.pos);
      return;
    }
    case "TestLogical":
      node.operands.forEach((one, at) => {
        if (at > 0) words.push(plain(node.operator));
        flatten(run, one, state, frame, words);
      });
      return;
    case "TestNot":
      words.push(plain("!"));
      flatten(run, node.operand, state, frame, words);
      return;
    case "TestGroup":
      words.push(plain("("));
      flatten(run, node.expression, state, frame, words);
      words.push(plain(")"));
      return;
    default:
      run.problem("unknown-syntax", "a test of an unknown kind", frame);
  }
}

function operand(run: Run, node: WordNode, state: State, frame: Frame): Word {
  // Extended patterns are always on here, so that they are only text.
  const value = /^[^$`"'\\~]*$/.test(node.text)
    ? literal(node.text)
    : unsplit(run, node, state, frame, true);
  return { text: node.text, value, quoted: true };
}

/** Both sides of `-eq` and its like are evaluated as arithmetic. */
function checkNumber(run: Run, word: Word, state: State, frame: Frame, at: number): void {
  if (isNumeric(word.value)) return;
  const texts = textsOf(word.value);
  if (texts === null) {
    run.problem(
      "arithmetic",
      `evaluated as arithmetic, and not sure to be a number: ${word.text}`,
      frame,
      at,
    );
  }
  for (const text of texts ?? []) readArithmeticText(run, text, state, frame, at);
}

/** `-v name[…]` evaluates the subscript. */
function checkName(
  run: Run,
  node: WordNode,
  word: Word | undefined,
  _state: State,
  frame: Frame,
): void {
  const texts = word === undefined ? null : textsOf(word.value);
  if (texts?.every((text) => /^\w+(?:\[(?:\d+|@|\*)\])?$/.test(text))) return;
  run.problem("arithmetic", `a subscript is evaluated: ${node.text}`, frame, node.pos);
}

export function arithmeticCommand(
  run: Run,
  node: ArithmeticCommand,
  state: State,
  frame: Frame,
): Outcome {
  run.step();
  const { erring } = run;
  evaluateArithmetic(run, node.expression, node.body, state, frame, node.pos);
  // Here a failure is only the command's own.
  run.erring = erring;
  const after = run.applyAssigned(state);
  return { ok: after, fail: after, output: null };
}

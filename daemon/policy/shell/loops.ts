/** Loops: their bodies are read until nothing new can come of another turn, then once more for good. */

import type { ArithmeticFor, For, Select, Statement, While } from "unbash";
import { evaluateArithmetic } from "./arithmetic.ts";
import type { Frame, Outcome, Run } from "./run.ts";
import type { Word, WordValue } from "./segment.ts";
import { joinStates, type State, sameState, widen } from "./state.ts";
import { EMPTY, joinValues, unknown } from "./values.ts";
import { parameter } from "./variables.ts";
import { expandWords } from "./words.ts";

type ReadList = (run: Run, statements: readonly Statement[], state: State, frame: Frame) => Outcome;

/** Turns of a loop that are followed exactly; what still changes after them counts as unknown. */
const EXACT_TURNS = 3;
/** After this many, all is unknown; each turn before it has made at least one more thing so. */
const TURNS_MAX = 12;

/** What is known at the head of a loop on every turn. `turn` gives the state after one more of them. */
function settle(run: Run, start: State, turn: (head: State) => State | undefined): State {
  let head = start;
  run.dry += 1;
  const outer = run.sink;
  run.sink = [];
  for (let count = 0; count < TURNS_MAX; count++) {
    const after = turn(head);
    const next = joinStates(head, after) ?? head;
    if (sameState(head, next)) {
      head = next;
      break;
    }
    if (count + 1 === TURNS_MAX) run.problemAnyway("too-complex", "a loop that keeps changing");
    head = count < EXACT_TURNS ? next : widen(head, next);
  }
  run.sink = outer;
  run.dry -= 1;
  return head;
}

function loopFrame(frame: Frame): Frame {
  const context = frame.context.includes("loop")
    ? frame.context
    : ([...frame.context, "loop"] as const);
  return { ...frame, context, exits: null };
}

/** State after the body, by its end or by `break` and `continue`. */
function afterBody(outcome: Outcome, exits: readonly State[]): State | undefined {
  return exits.reduce<State | undefined>(
    (all, one) => joinStates(all, one),
    joinStates(outcome.ok, outcome.fail),
  );
}

/** One turn's value of a loop variable over `words`. */
function turnValue(words: readonly Word[]): WordValue {
  let value: WordValue | undefined;
  for (const word of words) {
    let one = word.value;
    // What was split may begin with anything.
    if (one.kind === "listed") one = { ...one, many: false, dashed: one.dashed || one.split };
    if (one.kind === "unknown" && one.many) one = unknown(one.why);
    value = value === undefined ? one : joinValues(value, one);
  }
  return value ?? EMPTY;
}

export function forLoop(
  run: Run,
  node: For | Select,
  state: State,
  frame: Frame,
  readList: ReadList,
): Outcome {
  const words: Word[] = [];
  if (node.wordlist === undefined) {
    const args = parameter(run, "@", state);
    if (Array.isArray(args)) words.push(...(args as readonly Word[]));
    else words.push({ text: "$@", value: args as WordValue, quoted: true });
  } else {
    words.push(...expandWords(run, node.wordlist, state, frame));
  }
  const name = node.name.text;
  const value = turnValue(words);
  const start = run.applyAssigned(state);
  const inside = loopFrame(frame);
  const turn = (head: State): { outcome: Outcome; after: State | undefined } => {
    let begin = run.setVariable(head, name, value);
    if (node.type === "Select") {
      begin = run.setVariable(begin, "REPLY", unknown("typed by a person"));
    }
    const own = { ...inside, exits: [] as State[] };
    const outcome = readList(run, node.body.commands, begin, own);
    return { outcome, after: afterBody(outcome, own.exits) };
  };
  const head = settle(run, start, (one) => turn(one).after);
  const { outcome, after } = turn(head);
  const end = joinStates(head, after);
  return {
    ok: end,
    fail: end,
    output: outcome.output === null ? null : unknown("output of a loop"),
  };
}

export function whileLoop(
  run: Run,
  node: While,
  state: State,
  frame: Frame,
  readList: ReadList,
): Outcome {
  const inside = loopFrame(frame);
  const turn = (
    head: State,
  ): { done: State | undefined; next: State | undefined; silent: boolean } => {
    const own = { ...inside, exits: [] as State[] };
    const clause = readList(run, node.clause.commands, head, own);
    const [goes, ends] =
      node.kind === "while" ? [clause.ok, clause.fail] : [clause.fail, clause.ok];
    const body = readList(run, node.body.commands, goes ?? head, own);
    const next = afterBody(
      goes === undefined ? { ok: undefined, fail: undefined, output: null } : body,
      own.exits,
    );
    const left = own.exits.reduce<State | undefined>((all, one) => joinStates(all, one), ends);
    return { done: left, next, silent: clause.output === null && body.output === null };
  };
  const head = settle(run, state, (one) => turn(one).next);
  const { done, silent } = turn(head);
  return { ok: done, fail: done, output: silent ? null : unknown("output of a loop") };
}

export function arithmeticLoop(
  run: Run,
  node: ArithmeticFor,
  state: State,
  frame: Frame,
  readList: ReadList,
): Outcome {
  const inside = loopFrame(frame);
  const evaluate = (expression: ArithmeticFor["test"], at: State): State => {
    if (expression === undefined) return at;
    const text = frame.source.slice(expression.pos, expression.end);
    evaluateArithmetic(run, expression, text, at, frame);
    return run.applyAssigned(at);
  };
  const begin = evaluate(node.initialize, state);
  const turn = (head: State): { done: State; next: State; silent: boolean } => {
    const own = { ...inside, exits: [] as State[] };
    const tested = evaluate(node.test, head);
    const body = readList(run, node.body.commands, tested, own);
    const after = evaluate(node.update, afterBody(body, own.exits) ?? tested);
    return { done: joinStates(tested, after) ?? tested, next: after, silent: body.output === null };
  };
  const head = settle(run, begin, (one) => turn(one).next);
  const { done, silent } = turn(head);
  return { ok: done, fail: done, output: silent ? null : unknown("output of a loop") };
}

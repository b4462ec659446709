/** Walks a parsed script the way bash runs it: every kind of node is known here, or it is a problem. */

import type {
  AndOr,
  CommandNode,
  CompoundCommand,
  CompoundList,
  Function as FunctionNode,
  ParsedScript,
  Pipeline,
  PipelineNode,
  Redirected,
  Statement,
} from "unbash";
import { simpleCommand } from "./commands.ts";
import { arithmeticCommand, testCommand } from "./conditions.ts";
import { arithmeticLoop, forLoop, whileLoop } from "./loops.ts";
import { readRedirects } from "./redirects.ts";
import type { ContextLabel, Frame, Outcome, Output, Run } from "./run.ts";
import { mayFail, withMessages } from "./segments.ts";
import { joinFolders, joinStates, type State, withUntrusted } from "./state.ts";
import { perhaps, unknown } from "./values.ts";
import { unsplit } from "./words.ts";

const UNREACHED = undefined;

/** A script, line by line: an expansion that fails skips the rest of its line only. */
export function readScript(run: Run, script: ParsedScript, state: State, frame: Frame): Outcome {
  const lines = linesOf(script, frame.source);
  const [only] = lines;
  if (only !== undefined && lines.length === 1) return readList(run, only, state, frame);
  const { erring, touched, touchedFolders } = run;
  let here = state;
  let outcome: Outcome = { ok: state, fail: UNREACHED, output: null };
  let output: Output = null;
  let reached = true;
  for (const line of lines) {
    run.erring = false;
    run.touched = new Set();
    run.touchedFolders = false;
    outcome = readList(run, line, here, frame);
    output = bothOutputs(output, run.erring ? perhaps(outcome.output) : outcome.output);
    const next = joinStates(outcome.ok, outcome.fail);
    reached &&= next !== undefined || run.erring;
    here = next ?? here;
    if (run.erring) {
      here = withUntrusted(here, run.touched, run.touchedFolders);
      outcome = both(here, output);
    }
    for (const name of run.touched) touched.add(name);
    run.touchedFolders ||= touchedFolders;
  }
  run.erring ||= erring;
  run.touched = touched;
  return reached
    ? { ok: outcome.ok, fail: outcome.fail, output }
    : { ok: UNREACHED, fail: UNREACHED, output };
}

function linesOf(script: ParsedScript, source: string): (readonly Statement[])[] {
  const { commands } = script;
  if (commands.length < 2) return [commands];
  const lines: Statement[][] = [];
  let end = 0;
  for (const statement of commands) {
    const line = lines.at(-1);
    if (line === undefined || source.slice(end, statement.pos).includes("\n")) {
      lines.push([statement]);
    } else line.push(statement);
    end = statement.end;
  }
  return lines;
}

export function inContext(frame: Frame, label: ContextLabel): Frame {
  return frame.context.includes(label) ? frame : { ...frame, context: [...frame.context, label] };
}

/** What two commands print one after the other. */
export function bothOutputs(a: Output, b: Output): Output {
  if (a === null) return b;
  return b === null ? a : unknown("output of several commands");
}

export function readList(
  run: Run,
  statements: readonly Statement[],
  state: State,
  frame: Frame,
): Outcome {
  const [only] = statements;
  if (only !== undefined && statements.length === 1) return readStatement(run, only, state, frame);
  let here = state;
  let outcome: Outcome = { ok: state, fail: UNREACHED, output: null };
  let output: Output = null;
  let reached = true;
  for (const statement of statements) {
    outcome = readStatement(run, statement, here, frame);
    output = bothOutputs(output, outcome.output);
    const next = joinStates(outcome.ok, outcome.fail);
    // What stands behind an `exit` does not run, but is read all the same.
    reached &&= next !== undefined;
    here = next ?? here;
  }
  return reached
    ? { ok: outcome.ok, fail: outcome.fail, output }
    : { ok: UNREACHED, fail: UNREACHED, output };
}

function readStatement(run: Run, node: Statement, state: State, frame: Frame): Outcome {
  if (!node.background) return readAndOr(run, node.command, state, frame);
  const background = { ...inContext(frame, "background"), exits: null, call: null };
  const { output } = readAndOr(
    run,
    node.command,
    state,
    background.stdin.kind === "inherit" ? { ...background, stdin: { kind: "null" } } : background,
  );
  return { ok: { ...state, jobs: true }, fail: UNREACHED, output };
}

function readAndOr(run: Run, node: AndOr | PipelineNode, state: State, frame: Frame): Outcome {
  if (node.type !== "AndOr") return readPipeline(run, node, state, frame);
  let ok: State | undefined = state;
  let fail: State | undefined;
  let output: Output = null;
  let here = state;
  node.commands.forEach((command, at) => {
    const and = at === 0 || node.operators[at - 1] === "&&";
    const from = and ? ok : fail;
    const outcome = readPipeline(run, command, from ?? here, frame);
    output = bothOutputs(output, at === 0 ? outcome.output : perhaps(outcome.output));
    here = joinStates(outcome.ok, outcome.fail) ?? here;
    // A side that nothing leads to is read, but leads to nothing.
    const reached = from !== undefined;
    if (and) {
      ok = reached ? outcome.ok : UNREACHED;
      if (reached) fail = joinStates(fail, outcome.fail);
    } else {
      ok = reached ? joinStates(ok, outcome.ok) : ok;
      fail = reached ? outcome.fail : UNREACHED;
    }
  });
  return { ok, fail, output };
}

function readPipeline(run: Run, node: PipelineNode, state: State, frame: Frame): Outcome {
  if (node.type !== "Pipeline") return readCommand(run, node, state, frame);
  const [only] = node.commands;
  let outcome: Outcome;
  if (only !== undefined && node.commands.length === 1) {
    outcome = readCommand(run, only, state, frame);
  } else {
    outcome = { ok: state, fail: state, output: readStages(run, node, state, frame) };
  }
  const negations = node.prefixes.filter((prefix) => prefix.type === "Negation").length;
  return negations % 2 === 0
    ? outcome
    : { ok: outcome.fail, fail: outcome.ok, output: outcome.output };
}

/** Every stage is a shell of its own; each reads what the one before it writes. */
function readStages(
  run: Run,
  { commands, operators }: Pipeline,
  state: State,
  frame: Frame,
): Output {
  const outer = run.sink;
  let stage: Frame = { ...frame, exits: null, call: null };
  let output: Output = null;
  commands.forEach((command, at) => {
    const last = at === commands.length - 1;
    const before = run.sink;
    const first = run.segments.length;
    run.sink = last ? outer : [];
    const kept = run.sink.length;
    output = readCommand(run, command, state, stage).output;
    if (at > 0) joinPipe(run, before, first);
    if (last) return;
    const from = run.sink.slice(kept);
    const input = operators[at] === "|&" ? unknown("output and messages") : output;
    stage = { ...stage, stdin: { kind: "pipe", from }, input };
  });
  run.sink = outer;
  return output;
}

/** The first segment of a stage that reads the pipe is where the writers' output goes. */
function joinPipe(run: Run, writers: readonly number[], first: number): void {
  for (let at = first; at < run.segments.length; at++) {
    const segment = run.segments[at];
    if (segment?.stdin.kind !== "pipe" || segment.stdin.from.length !== writers.length) continue;
    if (segment.stdin.from[0] !== writers[0]) continue;
    for (const writer of writers) {
      const from = run.segments[writer];
      if (from !== undefined) from.pipedTo = at;
    }
    return;
  }
  // `xargs` reads the pipe itself, what it runs does not.
  if (first >= run.segments.length) return;
  for (const writer of writers) {
    const from = run.segments[writer];
    if (from !== undefined) from.pipedTo = first;
  }
}

export function readCommand(run: Run, node: CommandNode, state: State, frame: Frame): Outcome {
  switch (node.type) {
    case "Command":
      return simpleCommand(run, node, state, frame);
    case "Redirected":
      return readRedirected(run, node, state, frame);
    case "Function":
      return defineFunction(run, node, state, frame);
    case "Coproc": {
      const inside = {
        ...inContext(frame, "background"),
        stdin: { kind: "pipe", from: [] } as const,
      };
      const { body } = node;
      if (body.type === "Command") {
        // Inside `$(…)` bash 5.2 reads its own rendering of this, with another first word.
        run.problem("coprocess", "a coprocess that is a simple command", frame, node.pos);
      }
      if (body.type === "CompoundList") readList(run, body.commands, state, inside);
      else readCommand(run, body, state, inside);
      const name = node.name?.text ?? "COPROC";
      const array = unknown("descriptors of a coprocess");
      const named = run.setVariable(state, name, array);
      const after = { ...run.setVariable(named, `${name}_PID`, array), jobs: true };
      return { ok: after, fail: after, output: null };
    }
    default:
      return readCompound(run, node, state, frame);
  }
}

export function readCompound(
  run: Run,
  node: CompoundCommand | CompoundList,
  state: State,
  frame: Frame,
): Outcome {
  switch (node.type) {
    case "CompoundList":
      return readList(run, node.commands, state, frame);
    case "BraceGroup":
      return readList(run, node.body.commands, state, deeper(run, frame));
    case "Subshell": {
      const inside = { ...deeper(run, inContext(frame, "subshell")), exits: null, call: null };
      const { output } = readList(run, node.body.commands, state, inside);
      return { ok: state, fail: state, output };
    }
    case "If": {
      const inside = deeper(run, inContext(frame, "condition"));
      let after: State | undefined;
      let output: Output = null;
      let here: State | undefined = state;
      for (const { clause, then } of [node, ...node.elif]) {
        const condition = readList(run, clause.commands, here ?? state, inside);
        const body = readList(run, then.commands, condition.ok ?? here ?? state, inside);
        const first = here === state ? condition.output : perhaps(condition.output);
        output = bothOutputs(bothOutputs(output, first), perhaps(body.output));
        if (condition.ok !== undefined) after = joinStates(after, joinStates(body.ok, body.fail));
        here = condition.fail;
      }
      if (node.else === undefined) return both(joinStates(after, here), output);
      const last = readList(run, node.else.commands, here ?? state, inside);
      const end = here === undefined ? undefined : joinStates(last.ok, last.fail);
      return both(joinStates(after, end), bothOutputs(output, perhaps(last.output)));
    }
    case "For":
    case "Select":
      return forLoop(run, node, state, deeper(run, frame), readList);
    case "While":
      return whileLoop(run, node, state, deeper(run, frame), readList);
    case "ArithmeticFor":
      return arithmeticLoop(run, node, state, deeper(run, frame), readList);
    case "Case": {
      const inside = deeper(run, inContext(frame, "condition"));
      unsplit(run, node.word, state, frame);
      const begin = run.applyAssigned(state);
      let after: State | undefined = begin;
      let falling: State | undefined;
      let output: Output = null;
      for (const item of node.items) {
        for (const pattern of item.pattern) unsplit(run, pattern, begin, frame);
        // Patterns are expanded one after the other, until one matches.
        const here = joinStates(joinStates(begin, run.applyAssigned(begin)), falling) ?? begin;
        const body = readList(run, item.body.commands, here, inside);
        output = bothOutputs(output, perhaps(body.output));
        const end = joinStates(body.ok, body.fail);
        falling = item.terminator === ";&" || item.terminator === ";;&" ? end : undefined;
        after = joinStates(joinStates(after, here), end);
      }
      return both(after, output);
    }
    case "TestCommand":
      return testCommand(run, node, state, frame);
    case "ArithmeticCommand":
      return arithmeticCommand(run, node, state, frame);
    default:
      run.problem("unknown-syntax", "a command of an unknown kind", frame);
      return both(state, unknown("unknown syntax"));
  }
}

export function both(state: State | undefined, output: Output): Outcome {
  return { ok: state, fail: state, output };
}

export function deeper(run: Run, frame: Frame): Frame {
  return { ...frame, depth: run.deeper(frame) };
}

/** Redirects of a compound command: a segment of their own, then everything inside reads from there. */
function readRedirected(run: Run, node: Redirected, state: State, frame: Frame): Outcome {
  const { redirects, stdin, input, redirected } = readRedirects(run, node.redirects, state, frame);
  const begin = run.applyAssigned(state);
  const outer = run.sink;
  const text = frame.source.slice(node.redirects[0]?.pos ?? node.pos, node.end);
  const command = { text, words: [], env: [], redirects, stdin, input, redirected: true };
  run.emit({ ...command, wrappers: [], shellLevel: true }, state.cwds, frame);
  if (redirected) run.sink = [];
  const outcome = readCompound(run, node.command, begin, { ...frame, stdin, input });
  run.sink = outer;
  const output = redirected ? null : (withMessages(redirects) ?? outcome.output);
  if (!mayFail(redirects)) return { ...outcome, output };
  return { ok: outcome.ok, fail: joinStates(outcome.fail, begin), output: perhaps(output) };
}

/** The body of a function. */
export function readBody(
  run: Run,
  node: FunctionNode["body"],
  state: State,
  frame: Frame,
): Outcome {
  return node.type === "Redirected"
    ? readRedirected(run, node, state, frame)
    : readCompound(run, node, state, frame);
}

/** A definition runs nothing: the body is read where it is called, or at the end when it never is. */
function defineFunction(run: Run, node: FunctionNode, state: State, frame: Frame): Outcome {
  const name = node.name.text;
  if (/[$`'"\\]/.test(name)) {
    run.problem("function-name", `an odd name of a function: ${name}`, frame, node.pos);
  }
  const body = { node: node.body, source: frame.source };
  if (!run.functions.has(node.body)) run.functions.set(node.body, { body, called: false });
  run.everFolders = joinFolders(run.everFolders, state.cwds);
  const functions = new Map(state.functions);
  functions.set(name, { bodies: [body], sure: true });
  run.step();
  run.room(run.functions.size);
  const ever = run.everFunctions.get(name)?.bodies ?? [];
  if (!ever.some((one) => one.node === node.body)) {
    run.everFunctions.set(name, { bodies: [...ever, body], sure: false });
  }
  return { ok: { ...state, functions }, fail: UNREACHED, output: null };
}

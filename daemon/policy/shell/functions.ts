/** Calls of functions: the body is read at every call, with the caller's folder, variables and arguments. */

import type { Frame, Outcome, Run, SimpleCommand } from "./run.ts";
import { type FunctionDefinition, joinStates, type State, withVariable } from "./state.ts";
import { unknown } from "./values.ts";

export function callFunction(
  run: Run,
  name: string,
  definition: FunctionDefinition,
  command: SimpleCommand,
  state: State,
  frame: Frame,
): Outcome {
  const anything = unknown("output of a function");
  if (frame.calls.includes(name)) {
    const message = `the function ${name} calls itself`;
    run.emit(command, state.cwds, frame, { problems: [{ code: "recursion", message, at: -1 }] });
    return { ok: state, fail: state, output: anything };
  }
  run.emit(command, state.cwds, frame, definition.sure ? { inner: true } : {});
  let begin = state;
  for (const { name: variable, value } of command.env) {
    begin = withVariable(begin, variable, {
      value: value?.value ?? unknown("assigned"),
      exported: true,
    });
  }
  // `$0` stays the shell's.
  const zero = state.args?.[0] ?? { text: "$0", value: unknown("$0"), quoted: true };
  begin = { ...begin, args: [zero, ...command.words.slice(1)] };
  const call = { exits: [] as State[], locals: new Set(command.env.map((one) => one.name)) };
  const outer = run.sink;
  if (command.redirected) run.sink = [];
  let after: State | undefined;
  for (const body of definition.bodies) {
    run.functions.set(body.node, { body, called: true });
    const inside: Frame = {
      ...frame,
      source: body.source,
      nested: true,
      stdin: command.stdin,
      input: command.input,
      context: [...frame.context, "function"],
      env: [...frame.env, ...command.env],
      depth: run.deeper(frame),
      exits: null,
      call,
      calls: [...frame.calls, name],
    };
    const outcome = run.hooks.body(run, body.node, begin, inside);
    after = joinStates(after, joinStates(outcome.ok, outcome.fail));
  }
  run.sink = outer;
  for (const exit of call.exits) after = joinStates(after, exit);
  if (after !== undefined) {
    after = { ...after, args: state.args };
    for (const local of call.locals) after = restored(after, local, state);
  }
  return { ok: after, fail: after, output: command.redirected ? null : anything };
}

/** A local variable is the caller's again. */
function restored(after: State, name: string, before: State): State {
  const variable = before.variables.get(name);
  if (variable !== undefined) return withVariable(after, name, variable);
  const variables = new Map(after.variables);
  variables.delete(name);
  return { ...after, variables };
}

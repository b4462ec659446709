/** Builtins that change the shell itself: folders, variables, options, traps, the flow of control. */

import { checkNames, isPlainName, readArithmeticText } from "./arithmetic.ts";
import { changeFolder, moved, popped, pushed } from "./cwd.ts";
import { declare } from "./declarations.ts";
import { readBuiltin, readLines } from "./reading.ts";
import type { Frame, Outcome, Run, SimpleCommand } from "./run.ts";
import { doubtful, ordinary } from "./segments.ts";
import { setOptions, shopt } from "./shell-options.ts";
import { joinFolders, type State, withUnknownVariables, withVariable } from "./state.ts";
import { literalText, NUMBER, textsOf, unknown } from "./values.ts";

/** Null: nothing special, an ordinary segment. */
export type Builtin = (
  run: Run,
  command: SimpleCommand,
  state: State,
  frame: Frame,
) => Outcome | null;

function succeeds(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  return { ...ordinary(run, command, state, frame), fail: undefined };
}

function goesTo(enter: (state: State, to: State["cwds"]) => State): Builtin {
  return (run, command, state, frame) => {
    run.emit(command, state.cwds, frame);
    const to = changeFolder(run, command, state);
    const [, operand] = command.words;
    const text = literalText(operand);
    // `cd -`, and whatever is found by CDPATH, prints where it leads.
    const silent =
      to !== null && (operand === undefined || (text !== null && text !== "-" && text !== "--"));
    const output = silent ? null : unknown("folder");
    if (to === "stays") return { ok: state, fail: state, output };
    run.rememberFolders(to);
    return { ok: enter(state, to), fail: state, output };
  };
}

function pushd(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const text = literalText(command.words[1]);
  if (command.words.length === 2 && text !== null && !/^[-+]/.test(text)) {
    const outcome = goesTo(pushed)(run, command, state, frame);
    return { ok: outcome?.ok, fail: outcome?.fail, output: unknown("folders") };
  }
  // Rotating the stack is not followed.
  run.emit(command, state.cwds, frame);
  run.rememberFolders(null);
  const after = { ...moved(state, null), stack: null };
  return { ok: after, fail: state, output: unknown("folders") };
}

function popd(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  run.emit(command, state.cwds, frame);
  const after = command.words.length === 1 ? popped(state) : { ...moved(state, null), stack: null };
  run.rememberFolders(after.cwds);
  return { ok: after, fail: state, output: unknown("folders") };
}

function exit(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  run.emit(command, state.cwds, frame);
  run.mayStop = true;
  // With more than one operand bash complains and goes on.
  const over = command.words.length <= 2 && command.words.slice(1).every(isStatus);
  return over
    ? { ok: undefined, fail: undefined, output: null }
    : { ok: state, fail: state, output: null };
}

function isStatus(word: SimpleCommand["words"][number]): boolean {
  return word.value.kind === "number" || /^\d+$/.test(literalText(word) ?? "");
}

function returns(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  if (frame.call === null) return ordinary(run, command, state, frame);
  frame.call.exits.push(state);
  return exit(run, command, state, frame);
}

function leavesLoop(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const outcome = ordinary(run, command, state, frame);
  if (frame.exits === null) return outcome;
  frame.exits.push(state);
  run.mayStop = true;
  const sure =
    command.words.length <= 2 &&
    command.words.slice(1).every((word) => /^[1-9]\d*$/.test(literalText(word) ?? ""));
  return sure ? { ok: undefined, fail: undefined, output: null } : outcome;
}

function evaluate(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const texts = command.words.slice(1).map(literalText);
  if (texts.includes(null)) {
    return doubtful(run, command, state, frame, {
      code: "eval",
      message: "eval of a text that is not known",
      at: -1,
    });
  }
  if (texts[0] === "--") texts.shift();
  if (command.redirects.length > 0) {
    run.emit({ ...command, words: [], env: [] }, state.cwds, frame);
  }
  let begin = state;
  for (const { name } of command.env) {
    begin = withVariable(begin, name, { value: unknown("set for one command"), exported: true });
  }
  const outer = run.sink;
  if (command.redirected) run.sink = [];
  const outcome = run.hooks.script(run, texts.join(" "), begin, {
    ...frame,
    nested: true,
    stdin: command.stdin,
    input: command.input,
    env: [...frame.env, ...command.env],
    wrappers: [...frame.wrappers, ...command.wrappers, "eval"],
    depth: run.deeper(frame),
  });
  run.sink = outer;
  return command.redirected ? { ...outcome, output: null } : outcome;
}

/** A sourced file is a segment; what it may have set is not known. Its folder is kept: it is code of its own rung. */
function source(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const outcome = ordinary(run, command, state, frame);
  const after = withUnknownVariables(state, "a sourced file may have set it");
  return {
    ok: after,
    fail: after,
    output: unknown(outcome.output === null ? "" : "a sourced file"),
  };
}

function trap(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const operands = command.words.slice(1);
  if (literalText(operands[0]) === "--") operands.shift();
  const [action] = operands;
  const code = literalText(action);
  const resets = action === undefined || operands.length === 1 || code === "" || code === "-";
  if (resets || /^-[lpP]+$/.test(code ?? "")) return ordinary(run, command, state, frame);
  if (code === null) {
    run.problem("trap", "a trap whose code is not known", frame);
    return ordinary(run, command, state, frame);
  }
  const atEnd = operands.slice(1).every((word) => /^(?:EXIT|0)$/i.test(literalText(word) ?? ""));
  if (run.dry === 0) {
    run.traps.push({ code, frame, atEnd, state });
    run.everFolders = joinFolders(run.everFolders, state.cwds);
  }
  run.emit(command, state.cwds, frame, { inner: true });
  // What it prints comes at the end of whatever captures this shell's output.
  return { ok: state, fail: state, output: unknown("what a trap prints") };
}

function evaluatesLet(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  for (const word of command.words.slice(1)) {
    const texts = textsOf(word.value);
    if (texts === null) run.problem("arithmetic", `evaluated as arithmetic: ${word.text}`, frame);
    for (const text of texts ?? []) readArithmeticText(run, text, state, frame, -1);
  }
  return ordinary(run, command, run.applyAssigned(state), frame);
}

function unset(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  checkNames(run, command.words.slice(1), frame);
  let after = state;
  for (const word of command.words.slice(1)) {
    for (const text of textsOf(word.value) ?? []) {
      if (text.startsWith("-")) continue;
      const name = text.replace(/\[.*/s, "");
      after = run.setVariable(after, name, unknown("unset"));
      if (after.functions.has(name)) {
        run.unsetFunctions = true;
        const functions = new Map(after.functions);
        const definition = functions.get(name);
        if (definition !== undefined) functions.set(name, { ...definition, sure: false });
        after = { ...after, functions };
      }
    }
  }
  return ordinary(run, command, after, frame);
}

/** `printf -v name …`; other forms only print. */
function printf(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome | null {
  const [, option, target] = command.words;
  const text = literalText(option);
  if (text === null || !text.startsWith("-v")) {
    if (option === undefined || text !== null || option.value.kind === "number") return null;
    const { value } = option;
    const head =
      value.kind === "unknown"
        ? value.prefix
        : value.kind === "oneOf"
          ? (value.values[0] ?? "")
          : "";
    // A format that may begin with `-v` could name any variable.
    if (head !== "" && !head.startsWith("-")) return null;
    run.problem("variable-name", `printf may be told to set a variable: ${option.text}`, frame);
    return null;
  }
  const attached = text.slice(2);
  if (attached === "") checkNames(run, target === undefined ? [] : [target], frame);
  else if (!isPlainName(attached)) run.problem("variable-name", `an odd name: ${attached}`, frame);
  const name = (attached === "" ? (literalText(target) ?? "") : attached).replace(/\[.*/s, "");
  const after = run.setVariable(state, name, unknown("set by printf"));
  return { ...ordinary(run, command, after, frame), output: null };
}

function getopts(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  checkNames(run, command.words.slice(2, 3), frame);
  let after = state;
  for (const name of [literalText(command.words[2]) ?? "", "OPTARG"]) {
    after = run.setVariable(after, name, unknown("set by getopts"));
  }
  after = run.setVariable(after, "OPTIND", NUMBER);
  return ordinary(run, command, after, frame);
}

/** `wait -p name` sets a variable, whose subscript would be evaluated. */
function wait(run: Run, command: SimpleCommand, _state: State, frame: Frame): null {
  if (command.words.some((word) => !/^(?:-[nf]+|%?\w*)$/.test(literalText(word) ?? "0"))) {
    run.problem("variable-name", `what it waits for or sets is not sure: ${command.text}`, frame);
  }
  return null;
}

function isMany({ value, quoted }: SimpleCommand["words"][number]): boolean {
  return (value.kind === "glob" && !quoted) || ("many" in value && value.many);
}

function shift(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const count = command.words.length === 1 ? "1" : (literalText(command.words[1]) ?? "");
  const rest =
    /^\d{1,4}$/.test(count) && state.args !== null ? state.args.slice(1 + Number(count)) : null;
  const [zero] = state.args ?? [];
  const args = rest === null || zero === undefined ? null : [zero, ...rest];
  run.emit(command, state.cwds, frame);
  const sure =
    args !== null && Number(count) < (state.args?.length ?? 0) && !state.args?.some(isMany);
  return { ok: { ...state, args }, fail: sure ? undefined : state, output: null };
}

/** `test` and `[` only evaluate the subscript of `-v`. */
function test(run: Run, command: SimpleCommand, _state: State, frame: Frame): null {
  command.words.forEach((word, at) => {
    if (at > 0 && literalText(word) === "-v")
      checkNames(run, command.words.slice(at + 1, at + 2), frame);
  });
  return null;
}

function alias(run: Run, command: SimpleCommand, _state: State, frame: Frame): null {
  const sets = command.words.slice(1).some((word) => !/^-?\w*$/.test(literalText(word) ?? "="));
  if (sets) run.problem("alias", "an alias changes what a word means", frame);
  return null;
}

function exec(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome | null {
  run.mayStop = true;
  if (command.words.length > 1) return null;
  if (command.redirects.some(({ fd, kind }) => fd === 0 && kind !== "dup")) {
    run.problem("redirected-shell", "what the shell itself reads is changed", frame);
  }
  return { ...ordinary(run, command, state, frame), output: null };
}

function changesBuiltins(run: Run, command: SimpleCommand, _state: State, frame: Frame): null {
  if (command.words.length > 1) {
    run.problem("changed-names", `changes what names mean: ${command.text}`, frame);
  }
  return null;
}

export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ["cd", goesTo(moved)],
  ["pushd", pushd],
  ["popd", popd],
  ["exit", exit],
  ["logout", exit],
  ["return", returns],
  ["break", leavesLoop],
  ["continue", leavesLoop],
  ["true", succeeds],
  [":", succeeds],
  [
    "false",
    (run, command, state, frame) => ({ ...ordinary(run, command, state, frame), ok: undefined }),
  ],
  ["eval", evaluate],
  ["source", source],
  [".", source],
  ["trap", trap],
  ["let", evaluatesLet],
  ["unset", unset],
  ["printf", printf],
  ["getopts", getopts],
  ["shift", shift],
  ["wait", wait],
  ["test", test],
  ["[", test],
  ["alias", alias],
  ["exec", exec],
  ["enable", changesBuiltins],
  ["hash", changesBuiltins],
  ["read", readBuiltin],
  ["mapfile", readLines],
  ["readarray", readLines],
  ["set", setOptions],
  ["shopt", shopt],
  ["export", declare],
  ["declare", declare],
  ["typeset", declare],
  ["local", declare],
  ["readonly", declare],
]);

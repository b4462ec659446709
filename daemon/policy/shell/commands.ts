/** Simple commands: decoded, then taken for what they are: a function call, a builtin that moves the shell, a wrapper, or a segment. */

import type { Command } from "unbash";
import { NESTING_DEPTH_MAX } from "../../limits.ts";
import { assign, assignmentWord, readAssignment } from "./assignments.ts";
import { BUILTINS } from "./builtins.ts";
import { declarationAttributes, isDeclaration } from "./declarations.ts";
import { callFunction } from "./functions.ts";
import { type Redirects, readRedirects } from "./redirects.ts";
import { type Frame, type Outcome, Overrun, type Run, type SimpleCommand } from "./run.ts";
import type { EnvAssignment, Word } from "./segment.ts";
import { doubtful, mayFail, ordinary, programName } from "./segments.ts";
import { joinStates, type State } from "./state.ts";
import { literal, literalText, unknown } from "./values.ts";
import { isTelling } from "./variables.ts";
import { expandWord, touching } from "./words.ts";
import { WRAPPERS } from "./wrappers.ts";

const NO_ENV: readonly EnvAssignment[] = [];
const NO_WRAPPERS: readonly string[] = [];
/** A verb that is one of several names is read once for each, up to this many. */
const VERBS_MAX = 8;

export function simpleCommand(run: Run, node: Command, state: State, frame: Frame): Outcome {
  run.step(node.suffix.length);
  checkApart(run, node, frame);
  const words: Word[] = [];
  if (node.name === undefined) return assignments(run, node, state, frame);
  expandWord(run, node.name, state, frame, words);
  let env: EnvAssignment[] | undefined;
  const declares = isDeclaration(node.name.text);
  const attributes = declares ? declarationAttributes(node) : undefined;
  let here = state;
  for (const item of node.suffix) {
    if (item.type === "Word") {
      expandWord(run, item, state, frame, words);
    } else if (item.type === "Assignment") {
      const assigned = readAssignment(run, item, here, frame, attributes);
      words.push(assignmentWord(item, assigned));
      env ??= [];
      env.push(assigned.entry);
      here = assign(run, here, assigned);
    }
  }
  for (const item of node.prefix) {
    if (item.type !== "Assignment") continue;
    checkPersists(run, words, state, frame);
    const assigned = readAssignment(run, item, state, frame, { exported: true });
    env ??= [];
    env.push(assigned.entry);
    run.remember(assigned.name, assigned.variable.value);
  }
  const io = readRedirects(run, node.redirects, state, frame);
  here = run.applyAssigned(here);
  const text = frame.source.slice(node.pos, node.end);
  const command: SimpleCommand = {
    text,
    words,
    env: env ?? NO_ENV,
    redirects: io.redirects,
    stdin: io.stdin,
    input: io.input,
    redirected: io.redirected,
    wrappers: NO_WRAPPERS,
    shellLevel: true,
  };
  return withAndWithout(run, command, here, frame);
}

/** An assignment in front of a command that fails, so that the command does not run. */
function isFixed(state: State): (entry: EnvAssignment) => boolean {
  return ({ name }) => state.variables.get(name)?.readonly === true;
}

/** An unquoted number that may not be printed may be no word: read both ways, so that no option takes another's place. */
function withAndWithout(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const { words } = command;
  const at = words.findIndex(
    ({ value, quoted }) => value.kind === "number" && value.empty && !quoted,
  );
  const value = words[at]?.value;
  if (value?.kind !== "number") {
    const outcome = dispatch(run, command, state, frame);
    const fails = mayFail(command.redirects) || command.env.some(isFixed(state));
    return fails ? { ...outcome, fail: joinStates(outcome.fail, state) } : outcome;
  }
  run.step();
  const { empty: _, ...number } = value;
  const present = words.map((word, place) => (place === at ? { ...word, value: number } : word));
  const one = withAndWithout(run, { ...command, words: words.toSpliced(at, 1) }, state, frame);
  const other = withAndWithout(run, { ...command, words: present }, state, frame);
  const output = other.output === null ? one.output : unknown("with a word or without");
  return { ok: joinStates(one.ok, other.ok), fail: joinStates(one.fail, other.fail), output };
}

const SPECIAL =
  /^(?:break|:|\.|continue|eval|exec|exit|export|readonly|return|set|shift|times|trap|unset)$/;

/** In a POSIX shell an assignment before a special builtin stays. */
function checkPersists(run: Run, [verb]: readonly Word[], state: State, frame: Frame): void {
  if (!frame.wrappers.some((name) => name !== "bash" && /sh$/.test(name))) return;
  const name = literalText(verb) ?? ".";
  if (SPECIAL.test(name) || state.functions.has(name)) {
    run.problem("dialect", `an assignment that may outlive its command: ${name}`, frame);
  }
}

/** The parser takes `<(a)/x` for two words, where bash has one: what touches is not read. */
function checkApart(run: Run, { prefix, name, suffix }: Command, frame: Frame): void {
  let end = -1;
  for (const node of prefix) {
    if (node.type === "Assignment" && node.pos === end) touching(run, frame, end);
    end = node.end;
  }
  if (name !== undefined && name.pos === end) touching(run, frame, end);
  end = name?.end ?? end;
  for (const node of suffix) {
    if (node.pos === end && (node.type === "Word" || node.type === "Assignment")) {
      touching(run, frame, end);
    }
    end = node.end;
  }
}

/** `name=value` without a command: the shell's own variables. */
function assignments(run: Run, node: Command, state: State, frame: Frame): Outcome {
  let here = state;
  const env: EnvAssignment[] = [];
  for (const item of node.prefix) {
    if (item.type !== "Assignment") continue;
    const assigned = readAssignment(run, item, here, frame);
    if (isTelling(run, assigned.name, here)) env.push(assigned.entry);
    here = run.applyAssigned(assign(run, here, assigned));
  }
  const io: Redirects = readRedirects(run, node.redirects, here, frame);
  here = run.applyAssigned(here);
  if (env.length > 0 || io.redirects.length > 0) {
    const text = frame.source.slice(node.pos, node.end);
    const rest = { wrappers: NO_WRAPPERS, shellLevel: true };
    run.emit({ text, words: [], env, ...io, ...rest }, state.cwds, frame);
  }
  const reads = node.prefix.length === io.redirects.length && io.redirects[0]?.kind === "read";
  // `$(<file)` prints the file.
  return { ok: here, fail: here, output: reads ? unknown("content of a file") : null };
}

/** Reads a decoded command for what its verb makes of it. */
export function dispatch(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const [verb] = command.words;
  if (command.wrappers.length > NESTING_DEPTH_MAX) {
    throw new Overrun("too-deep", `more than ${NESTING_DEPTH_MAX} programs that run one another`);
  }
  if (verb === undefined) {
    run.emit(command, state.cwds, frame);
    return { ok: state, fail: state, output: null };
  }
  if (verb.value.kind === "oneOf" && verb.value.values.length <= VERBS_MAX) {
    return verb.value.values
      .map((name) => {
        const words = [{ ...verb, value: literal(name) }, ...command.words.slice(1)];
        return dispatch(run, { ...command, words }, state, frame);
      })
      .reduce((a, b) => ({
        ok: joinStates(a.ok, b.ok),
        fail: joinStates(a.fail, b.fail),
        output: unknown("output of one of several commands"),
      }));
  }
  if (verb.value.kind !== "literal") {
    return doubtful(run, command, state, frame, {
      code: "unknown-verb",
      message: `what runs is not known: ${verb.text}`,
      at: -1,
    });
  }
  const name = verb.value.value;
  if (command.wrappers.length === 0 && state.functions.size > 0) {
    const definition = state.functions.get(name);
    if (definition !== undefined) {
      const called = callFunction(run, name, definition, command, state, frame);
      if (definition.sure) return called;
      const meant = builtinOrProgram(run, name, command, state, frame);
      return {
        ok: joinStates(called.ok, meant.ok),
        fail: joinStates(called.fail, meant.fail),
        output: unknown("output of a function or a program"),
      };
    }
  }
  return builtinOrProgram(run, name, command, state, frame);
}

function builtinOrProgram(
  run: Run,
  name: string,
  command: SimpleCommand,
  state: State,
  frame: Frame,
): Outcome {
  if (command.shellLevel) {
    const outcome = BUILTINS.get(name)?.(run, command, state, frame);
    if (outcome !== undefined && outcome !== null) return outcome;
  }
  const outcome = WRAPPERS.get(programName(name))?.(run, command, state, frame);
  return outcome ?? ordinary(run, command, state, frame);
}

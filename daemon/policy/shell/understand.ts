/** Reads a command line: every simple command in it, decoded, with where it would run, and all that is doubtful. */

import { COMMAND_CHARS_MAX, HERE_DOCUMENTS_MAX } from "../../limits.ts";
import { hiddenCharacters } from "./characters.ts";
import { type Frame, Overrun, Run } from "./run.ts";
import type { UnderstandContext, Understanding } from "./segment.ts";
import { freshState, joinStates, type State, sameState, type Variable } from "./state.ts";
import { HOOKS } from "./substitutions.ts";
import { unknown } from "./values.ts";
import { readBody, readScript } from "./walk.ts";

const TOP: Frame = {
  source: "",
  nested: false,
  stdin: { kind: "inherit" },
  input: unknown("standard input"),
  context: [],
  wrappers: [],
  env: [],
  depth: 0,
  exits: null,
  call: null,
  calls: [],
};

/**
 * Everything `command` would run, as bash runs it from `context.cwd`. Never throws: what cannot be read, or is over a
 * limit, is a problem, beside the segments that were found until then.
 */
export function understand(command: string, context: UnderstandContext): Understanding {
  if (command.length > COMMAND_CHARS_MAX) {
    const message = `longer than ${COMMAND_CHARS_MAX} characters`;
    return { segments: [], problems: [{ code: "too-long", message, at: COMMAND_CHARS_MAX }] };
  }
  if (command.length > HERE_DOCUMENTS_MAX && hasTooManyHereDocuments(command)) {
    const message = `more than ${HERE_DOCUMENTS_MAX} here-documents`;
    return { segments: [], problems: [{ code: "too-complex", message, at: -1 }] };
  }
  const run = new Run(context, HOOKS);
  const hidden = hiddenCharacters(command);
  try {
    const script = run.parsed(command, false);
    readScript(run, script, freshState([context.cwd]), { ...TOP, source: command });
    readLater(run);
    if (script.commands.length === 0 && run.problems.length === 0) {
      run.problem("empty", "nothing to run");
    }
  } catch (error) {
    run.problems.push(overrun(error));
  }
  const problems = hidden.length === 0 ? run.problems : [...hidden, ...run.problems];
  return { segments: run.segments, problems };
}

/** The parser's time grows with the square of their number. */
function hasTooManyHereDocuments(command: string): boolean {
  let count = 0;
  for (let at = command.indexOf("<<"); at >= 0; at = command.indexOf("<<", at + 2)) count += 1;
  return count > HERE_DOCUMENTS_MAX;
}

/** A limit that was passed; the parser's own recursion counts as one. Anything else is a bug, and asks too. */
function overrun(error: unknown): Understanding["problems"][number] {
  if (error instanceof Overrun) return error.problem;
  const deep = error instanceof RangeError;
  return {
    code: deep ? "too-deep" : "internal",
    message: deep ? "nested too deep to be read" : `could not be read: ${String(error)}`,
    at: -1,
  };
}

/** What runs at a later time: traps, and functions that nothing here calls. */
function readLater(run: Run): void {
  const { traps, functions } = run;
  if (traps.length === 0 && functions.size === 0) return;
  for (let at = 0; at < traps.length; at++) {
    const { code, frame, atEnd, state: then } = traps[at] as (typeof traps)[number];
    const state = whenTrapped(run, then);
    const { ok, fail } = run.hooks.script(run, code, state, {
      ...frame,
      nested: true,
      context: frame.context.includes("trap") ? frame.context : [...frame.context, "trap"],
      depth: run.deeper(frame),
    });
    // A trap that may run between two commands would move the second one.
    const after = joinStates(ok, fail);
    if (!atEnd && after !== undefined && !sameState(state, after)) {
      run.problem("trap", `a trap that changes the shell at any time: ${code}`);
    }
  }
  for (const { body, called } of functions.values()) {
    if (called) continue;
    readBody(
      run,
      body.node,
      { ...anyTime(run), args: null },
      {
        ...TOP,
        source: body.source,
        nested: true,
        context: ["function"],
        call: { exits: [], locals: new Set() },
      },
    );
  }
}

/** The state a trap may find: what was set before the trap was is set, to any value it ever had. */
function whenTrapped(run: Run, then: State): State {
  const state = anyTime(run);
  const variables = new Map(state.variables);
  for (const name of variables.keys()) {
    if (!then.variables.has(name)) {
      variables.set(name, { value: unknown("perhaps not set yet"), exported: false });
    }
  }
  return { ...state, variables, functions: surelyDefined(run, then.functions) };
}

/** Functions a trap can call: those it found defined, and that nothing else defines, are sure. */
function surelyDefined(run: Run, known: State["functions"]): State["functions"] {
  if (run.unsetFunctions) return run.everFunctions;
  const functions = new Map(run.everFunctions);
  for (const [name, definition] of known) {
    if (functions.get(name)?.bodies.length === definition.bodies.length) {
      functions.set(name, definition);
    }
  }
  return functions;
}

/** Any state the shell was in: every variable with every value it had. */
function anyTime(run: Run): State {
  const variables = new Map<string, Variable>();
  for (const [name, value] of run.everValues) variables.set(name, { value, exported: false });
  const state = freshState(run.everFolders);
  const { everFunctions: functions, everPlainIfs: plainIfs } = run;
  return { ...state, args: null, variables, functions, plainIfs };
}

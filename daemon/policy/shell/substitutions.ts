/** Scripts inside words and texts: `$(…)`, `<(…)`, `eval`, and the way back to the walker for those who find them. */

import type { ParsedScript } from "unbash";
import { dispatch } from "./commands.ts";
import type { Frame, Hooks, Outcome, Run } from "./run.ts";
import type { WordValue } from "./segment.ts";
import type { State } from "./state.ts";
import { EMPTY, oneOf, perhaps, textsOf, unknown } from "./values.ts";
import { readBody, readScript } from "./walk.ts";
import { partValue, unsplit } from "./words.ts";

/** How deep substitutions are followed in text that does not parse. */
const BROKEN_DEPTH_MAX = 4;

/** What `$(…)` is replaced by: the output without the newlines at its end. */
function substituted(output: Outcome["output"]): WordValue {
  if (output === null) return EMPTY;
  // The command may fail and print nothing; what `mktemp` would do then is not worth a question.
  if (output.kind === "listed") return { ...output, empty: true };
  const texts = textsOf(output);
  if (texts === null) return output;
  if (texts.some((text) => text.includes("\0"))) return unknown("a NUL in an output");
  return oneOf(texts.map((text) => text.replace(/\n+$/, "")));
}

/** A simple command, or a pipeline of them. */
function isOneCommand({ commands }: ParsedScript): boolean {
  const [only] = commands;
  if (only === undefined || commands.length > 1 || only.background) return false;
  const { command } = only;
  if (command.type !== "Pipeline") return command.type === "Command";
  return command.prefixes.length === 0 && command.commands.every(({ type }) => type === "Command");
}

/** Reads a script that stands in a word: it runs in a shell of its own. */
function readInside(
  run: Run,
  script: ParsedScript,
  state: State,
  frame: Frame,
): { output: Outcome["output"]; from: readonly number[] } {
  if (script.errors !== undefined) {
    run.parseErrors(script, frame.nested);
    // The rest of such a text is parsed again at every level, and asks whatever it holds.
    if (frame.depth >= BROKEN_DEPTH_MAX) return { output: unknown("unread"), from: [] };
  }
  const { sink: outer, mayStop, hereDocuments } = run;
  run.sink = [];
  run.mayStop = false;
  run.hereDocuments = false;
  const { output } = readScript(run, script, state, {
    ...frame,
    source: script.source ?? frame.source,
    nested: frame.nested || script.source !== undefined,
    context: frame.context.includes("substitution")
      ? frame.context
      : [...frame.context, "substitution"],
    depth: run.deeper(frame),
    exits: null,
    call: null,
  });
  if (run.hereDocuments && !isOneCommand(script)) {
    // Bash 5.2 reads its own rendering of `$(…)`, which then loses what parts the commands.
    run.problem("here-document", "a here-document among other commands in a substitution", frame);
  }
  run.hereDocuments ||= hereDocuments;
  const from = run.sink;
  run.sink = outer;
  // Under `-e` a POSIX shell stops in here too.
  const posix = frame.wrappers.some((name) => name !== "bash" && /sh$/.test(name));
  const stops = run.mayStop || posix;
  run.mayStop = mayStop;
  return { output: stops ? perhaps(output) : output, from };
}

function unread(run: Run, text: string, frame: Frame, at: number): void {
  run.problem("parse-error", `a substitution that cannot be read: ${text}`, frame, at);
}

export const HOOKS: Hooks = {
  substitute(run, part, state, frame) {
    if (part.script !== undefined) {
      return substituted(readInside(run, part.script, state, frame).output);
    }
    unread(run, part.text, frame, part.pos);
    return unknown("unread substitution", true);
  },
  processSubstitution(run, part, state, frame) {
    if (part.script === undefined) unread(run, part.text, frame, part.pos);
    else if (part.operator === "<") {
      run.lastSubstitution = readInside(run, part.script, state, frame);
    } else {
      const input = unknown("what is written to it");
      readInside(run, part.script, state, { ...frame, stdin: { kind: "pipe", from: [] }, input });
    }
    const value = { ...unknown("a pipe", false, "/dev/fd/"), sample: "/dev/fd/63" };
    return { text: part.text, value, quoted: true, process: part.operator };
  },
  unsplit,
  part: partValue,
  script: (run, text, state, frame) =>
    readScript(run, run.parsed(text, true), state, { ...frame, source: text }),
  dispatch(run, command, state, frame) {
    run.step();
    return dispatch(run, command, state, frame);
  },
  body: readBody,
};

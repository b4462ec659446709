/** `xargs` and `find -exec`: commands whose arguments are names that another command found. */

import { findBases } from "./listers.ts";
import { type Grammar, parseOptions } from "./options.ts";
import type { Frame, Outcome, Run, SimpleCommand } from "./run.ts";
import type { Redirect, Word, WordValue } from "./segment.ts";
import { ordinary, unwrapped } from "./segments.ts";
import type { State } from "./state.ts";
import { concatenate, literal, literalText, PLAIN, unknown } from "./values.ts";

const XARGS: Grammar = {
  flags: "0rtpxo",
  values: "adEILnPs",
  attached: "eil",
  longFlags: ["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty"],
  longValues: [
    "arg-file",
    "delimiter",
    "max-lines",
    "max-args",
    "max-procs",
    "max-chars",
    "process-slot-var",
  ],
};

export function xargs(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const parsed = parseOptions(command.words, 1, XARGS);
  if (parsed === null || parsed.options.has("process-slot-var")) {
    const message = `which command it runs is not sure: ${command.text}`;
    return ordinary(run, command, state, frame, {
      problems: [{ code: "wrapper", message, at: -1 }],
    });
  }
  const { options } = parsed;
  const words = command.words.slice(parsed.next);
  if (words.length === 0) words.push({ text: "echo", value: literal("echo"), quoted: false });
  const file = options.get("a") ?? options.get("arg-file");
  const exact = ["0", "d", "null", "delimiter"].some((option) => options.has(option));
  const item = argument(file === undefined ? command.input : unknown("a file"), exact);
  const replace = options.get("I") ?? options.get("i");
  let inner: readonly Word[];
  if (replace === undefined) {
    inner = [...words, item];
  } else {
    const marker =
      typeof replace === "string"
        ? replace || "{}"
        : replace === true
          ? "{}"
          : literalText(replace);
    if (marker === null) {
      const message = `what xargs replaces is not known: ${command.text}`;
      return ordinary(run, command, state, frame, {
        problems: [{ code: "wrapper", message, at: -1 }],
      });
    }
    inner = substituteAll(words, marker, single(item));
  }
  const redirects =
    file === undefined || file === true ? command.redirects : reading(command, file);
  const changes = { redirects, stdin: { kind: "null" } as const, input: null };
  const outcome = run.hooks.dispatch(run, unwrapped(command, "xargs", inner, changes), state, {
    ...frame,
    context: [...frame.context, "loop"],
  });
  const { output } = outcome;
  return {
    ok: state,
    fail: state,
    output: output === null || output.kind === "listed" ? output : unknown("xargs"),
  };
}

/** What xargs makes of its input: arguments at the end of the command. */
function argument(input: WordValue | null, exact: boolean): Word {
  let value: WordValue;
  if (input?.kind === "listed") value = { ...input, many: true, split: input.split || !exact };
  else if (input?.kind === "number") value = exact ? PLAIN : input;
  else value = unknown("what xargs reads", true);
  return { text: "…", value, quoted: true };
}

function single(word: Word): Word {
  const { value } = word;
  if (value.kind === "listed") return { ...word, value: { ...value, many: false } };
  return value.kind === "unknown" ? { ...word, value: unknown(value.why) } : word;
}

function reading(command: SimpleCommand, file: Word | string): readonly Redirect[] {
  const target =
    typeof file === "string" ? { text: file, value: literal(file), quoted: true } : file;
  return [...command.redirects, { kind: "read", fd: null, both: false, target }];
}

function substituteAll(words: readonly Word[], marker: string, item: Word): readonly Word[] {
  return words.map((word) => {
    const { value } = word;
    if (value.kind !== "literal") {
      // It could hold the marker anywhere.
      if (value.kind === "number") return word;
      const many = value.kind === "glob" || ("many" in value && value.many);
      return { ...word, value: unknown("an argument with names put into it", many) };
    }
    if (marker === "" || !value.value.includes(marker)) return word;
    const parts = value.value.split(marker);
    const whole = parts
      .map(
        (part, at): WordValue =>
          at === 0 ? literal(part) : concatenate(item.value, literal(part)),
      )
      .reduce(concatenate);
    return { text: word.text, value: whole, quoted: true };
  });
}

/** `find` is a segment of its own; the commands of its -exec are more, each with the names it found. */
export function findExec(
  run: Run,
  command: SimpleCommand,
  state: State,
  frame: Frame,
): Outcome | null {
  const { words } = command;
  const executes = words.some((word) => /^-(?:exec|ok)(?:dir)?$/.test(literalText(word) ?? ""));
  if (!executes) return null;
  const bases = findBases(words);
  const commands: { name: string; words: Word[]; many: boolean }[] = [];
  let sure = true;
  for (let at = 1; at < words.length; at++) {
    const name = literalText(words[at]);
    if (name === null && mayBeExpression(words[at], commands.length === 0)) sure = false;
    if (name === null || !/^-(?:exec|ok)(?:dir)?$/.test(name)) continue;
    const from = at + 1;
    let end = from;
    while (end < words.length && !ends(words, end)) end += 1;
    if (end === from || words.slice(from, end).some((word) => mayBeExpression(word))) sure = false;
    const many = literalText(words[end]) === "+";
    commands.push({ name, words: words.slice(from, end), many });
    at = end;
  }
  const problem = {
    code: "wrapper",
    message: `which commands find runs is not sure: ${command.text}`,
    at: -1,
  };
  const outcome = ordinary(
    run,
    command,
    state,
    frame,
    sure ? { delegated: true } : { problems: [problem] },
  );
  for (const { name, words: inner, many } of commands) {
    const inPlace = name.endsWith("dir");
    const value: WordValue =
      bases === null
        ? unknown("what find finds", many)
        : { kind: "listed", bases: inPlace ? ["."] : bases, many, dashed: false, split: false };
    const found: Word = { text: "{}", value, quoted: true };
    const replaced = substituteAll(inner, "{}", found);
    const changes = { redirects: [] };
    run.hooks.dispatch(
      run,
      unwrapped(command, "find", replaced, changes),
      inPlace ? { ...state, cwds: null } : state,
      { ...frame, context: [...frame.context, "loop"] },
    );
  }
  return outcome;
}

function ends(words: readonly Word[], at: number): boolean {
  const text = literalText(words[at]);
  return text === ";" || (text === "+" && literalText(words[at - 1]) === "{}");
}

/** Whether a word could become `;`, `-exec` or anything else that find reads as its own; as a path it is judged anyway. */
function mayBeExpression(word: Word | undefined, path = false): boolean {
  const value = word?.value;
  switch (value?.kind) {
    case "unknown":
      return value.many || (value.prefix === "" && !path);
    case "glob":
      return value.dashed;
    case "listed":
      return value.dashed || value.split;
    case "oneOf":
      return value.values.some((text) => /^[-;+(!]/.test(text));
    default:
      return false;
  }
}

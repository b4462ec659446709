/** `read` and `mapfile`: variables filled from standard input. */

import { checkNames } from "./arithmetic.ts";
import { parseOptions } from "./options.ts";
import type { Frame, Outcome, Run, SimpleCommand } from "./run.ts";
import type { Word, WordValue } from "./segment.ts";
import { ordinary } from "./segments.ts";
import { type State, withUnknownVariables } from "./state.ts";
import { literalText, oneOf, unknown } from "./values.ts";

const READ = { flags: "ersE", values: "adinNptu" };
const MAPFILE = { flags: "t", values: "dnOsuCc" };

export function readBuiltin(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const parsed = parseOptions(command.words, 1, READ);
  const outcome = { ...ordinary(run, command, state, frame), output: null };
  if (parsed === null) {
    run.problem("variable-name", `what is read into is not sure: ${command.text}`, frame);
    const after = withUnknownVariables(state, "read");
    return { ...outcome, ok: after, fail: after };
  }
  const { operands, options } = parsed;
  checkNames(run, operands, frame);
  const names = operands.map((word) => literalText(word)?.replace(/\[.*/s, "") ?? "");
  const array = options.get("a");
  if (array !== undefined && array !== true) {
    if (typeof array !== "string") checkNames(run, [array], frame);
    names.push(typeof array === "string" ? array : (literalText(array) ?? ""));
  }
  if (names.length === 0) names.push("REPLY");
  const single = names.length === 1 && array === undefined && !options.has("u");
  const cut = options.has("n") || options.has("N") || options.has("i") || options.has("e");
  const own = command.redirects.at(-1);
  // A here-document of its own has a first line, so that `read` cannot fail.
  const succeeds =
    own?.body !== undefined && own.fd === 0 && !options.has("d") && !options.has("t");
  const value =
    single && !cut ? lineOf(command, options.has("r"), succeeds, state) : unknown("read");
  let ok = state;
  let fail = state;
  for (const name of names) {
    ok = run.setVariable(ok, name, value);
    fail = run.setVariable(fail, name, unknown("nothing to read"));
  }
  return { ok, fail: succeeds ? undefined : fail, output: null };
}

/** One line of what arrives on standard input. */
function lineOf(command: SimpleCommand, raw: boolean, first: boolean, state: State): WordValue {
  const { input } = command;
  const ifs = command.env.find(({ name }) => name === "IFS");
  const whole = ifs === undefined ? null : literalText(ifs.value ?? undefined) === "";
  if (input === null) return unknown("nothing to read");
  // Another IFS cuts the line elsewhere.
  if (whole === false || (whole === null && !state.plainIfs))
    return unknown("read with another IFS");
  if (input.kind === "number") return { kind: "number" };
  if (input.kind === "listed") {
    // Without `-r` a backslash, without an empty IFS a blank at either end is not part of the name any more.
    return { ...input, many: false, split: input.split || !raw || whole !== true };
  }
  if (input.kind !== "literal" || (!raw && input.value.includes("\\"))) return unknown("read");
  const lines = input.value
    .replace(/\n$/, "")
    .split("\n")
    .slice(0, first ? 1 : undefined);
  return oneOf(whole === true ? lines : lines.map((line) => line.replace(/^[ \t]+|[ \t]+$/g, "")));
}

export function readLines(run: Run, command: SimpleCommand, state: State, frame: Frame): Outcome {
  const parsed = parseOptions(command.words, 1, MAPFILE);
  const outcome = { ...ordinary(run, command, state, frame), output: null };
  if (parsed === null || parsed.options.has("C") || parsed.operands.length > 1) {
    run.problem("callback", `what it runs or fills is not sure: ${command.text}`, frame);
    const after = withUnknownVariables(state, "mapfile");
    return { ...outcome, ok: after, fail: after };
  }
  const [operand] = parsed.operands;
  if (operand !== undefined) checkNames(run, [operand], frame);
  const name = operand === undefined ? "MAPFILE" : (literalText(operand) ?? "");
  const { input } = command;
  const listed = input?.kind === "listed" && parsed.options.has("t") && !parsed.options.has("u");
  const items: readonly Word[] | undefined = listed
    ? [{ text: "line", value: { ...input, many: true }, quoted: true }]
    : undefined;
  const after = run.setVariable(state, name, unknown("lines of a file"), items);
  return { ok: after, fail: command.stdin.kind === "pipe" ? undefined : state, output: null };
}

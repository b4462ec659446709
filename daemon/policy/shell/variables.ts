/** What `$name` and the special parameters are, and which names mean something to the shell or to programs. */

import type { Run } from "./run.ts";
import type { Word, WordValue } from "./segment.ts";
import { TELLING } from "./special-names.ts";
import type { State } from "./state.ts";
import { EMPTY, literal, NUMBER, oneOf, PLAIN, unknown } from "./values.ts";

/** One text, or a list of words as `"$@"` and `"${a[@]}"` give. */
export type Expansion = WordValue | readonly Word[];

/** Variables that bash itself keeps a number in, whatever is assigned to them. */
const NUMBERS = new Set(
  "RANDOM SRANDOM SECONDS LINENO UID EUID PPID BASHPID EPOCHSECONDS BASH_SUBSHELL HISTCMD".split(
    " ",
  ),
);

/** Variables that bash computes anew, or does not let be assigned, so that an assignment says nothing. */
const COMPUTED = new Set(
  "BASHOPTS SHELLOPTS BASH_VERSINFO BASH_ARGV0 BASH_COMMAND BASH_SOURCE BASH_LINENO BASH_ARGC BASH_ARGV BASH_ALIASES BASH_CMDS BASH_EXECUTION_STRING BASH_REMATCH COMP_WORDBREAKS DIRSTACK EPOCHREALTIME FUNCNAME GROUPS PIPESTATUS PWD OLDPWD".split(
    " ",
  ),
);

/** `$name` for a variable (not for a positional or special parameter). */
export function variableValue(run: Run, name: string, state: State): WordValue {
  const variable = state.variables.get(name);
  if (NUMBERS.has(name)) return NUMBER;
  if (COMPUTED.has(name) && (variable !== undefined || !/PWD$/.test(name))) {
    return unknown(`bash keeps $${name} itself`);
  }
  if (variable !== undefined) {
    const first = variable.items?.[0];
    return variable.items === undefined ? variable.value : (first?.value ?? unknown("empty array"));
  }
  if (name === "PWD") return state.cwds === null ? unknown("working folder") : oneOf(state.cwds);
  if (name === "OLDPWD") {
    return state.previous === null ? unknown("previous folder") : oneOf(state.previous);
  }
  if (name === "HOME") return literal(run.context.home);
  const { env } = run.context;
  const started = Object.hasOwn(env, name) ? env[name] : undefined;
  return started === undefined ? unknown(`$${name} is not set here`) : literal(started);
}

export function itemsOf(name: string, state: State): readonly Word[] | undefined {
  return state.variables.get(name)?.items;
}

/** `$name` of any kind: `$x`, `$1`, `$?`, `$@`. */
export function parameter(run: Run, name: string, state: State): Expansion {
  switch (name) {
    case "?":
    case "#":
    case "$":
      return NUMBER;
    case "!":
      return state.jobs ? NUMBER : unknown("$! before any background job", true);
    case "-":
      return PLAIN;
    case "@":
    case "*":
      return state.args?.slice(1) ?? unknown("arguments", true);
    case "_":
      return unknown("$_");
  }
  if (/^\d+$/.test(name)) {
    return argument(state, Number(name));
  }
  return variableValue(run, name, state);
}

/** `$1` and so on; behind a word that may be several, it may be any of them, or none. */
function argument(state: State, number: number): WordValue {
  if (state.args === null || (number === 0 && state.variables.has("BASH_ARGV0"))) {
    return unknown(`argument ${number}`);
  }
  const several = state.args.findIndex(
    ({ value, quoted }) => (value.kind === "glob" && !quoted) || ("many" in value && value.many),
  );
  if (several < 0 || several > number) return state.args[number]?.value ?? EMPTY;
  const value = several === state.args.length - 1 ? state.args[several]?.value : undefined;
  if (value?.kind === "listed") return { ...value, many: false, empty: true };
  if (value?.kind !== "glob") return unknown(`argument ${number}`);
  const bases = [value.base === "" ? "." : value.base];
  return { kind: "listed", bases, many: false, dashed: value.dashed, split: false, empty: true };
}

/** Whether a plain `name=value` has something to judge: it reaches programs, or the shell acts on it. */
export function isTelling(run: Run, name: string, state: State): boolean {
  return (
    state.exportAll ||
    (state.variables.get(name)?.exported ?? false) ||
    Object.hasOwn(run.context.env, name) ||
    TELLING.test(name)
  );
}

/** Whether the name is inherited by programs once assigned without `export`. */
export function isExported(run: Run, name: string, state: State): boolean {
  return (
    state.exportAll ||
    (state.variables.get(name)?.exported ?? false) ||
    Object.hasOwn(run.context.env, name) ||
    name === "PATH" ||
    name === "HOME"
  );
}

/** What the shell knows at one point of a script: folders, variables, functions. Values, never changed in place. */

import type { Function as FunctionNode } from "unbash";
import type { Word, WordValue } from "./segment.ts";
import { joinValues, sameValue, unknown } from "./values.ts";

/** More folders than this are as good as any folder. */
const CWDS_MAX = 16;

export interface Variable {
  /** Its text, as `"$name"` would give it. */
  readonly value: WordValue;
  readonly exported: boolean;
  /** Elements of an indexed array, when they are known. */
  readonly items?: readonly Word[];
  /** `declare -A`: subscripts are keys, not arithmetic. */
  readonly map?: true;
  /** `declare -i`: what is assigned is evaluated as arithmetic. */
  readonly integer?: true;
  /** Assigning fails, and leaves it as it was. */
  readonly readonly?: true;
}

export interface FunctionBody {
  readonly node: FunctionNode["body"];
  /** The text that its positions index. */
  readonly source: string;
}

export interface FunctionDefinition {
  /** What it may be: more than one when branches define it differently. */
  readonly bodies: readonly FunctionBody[];
  /** Defined on every way that leads here; otherwise the name may still mean the program. */
  readonly sure: boolean;
}

export type Folders = readonly string[] | null;

export interface State {
  readonly cwds: Folders;
  /** What `cd -` goes back to. */
  readonly previous: Folders;
  /** What `pushd` saved, latest last; null when not known. */
  readonly stack: readonly Folders[] | null;
  readonly variables: ReadonlyMap<string, Variable>;
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  /** `$0`, `$1`, … as words; null when not known. */
  readonly args: readonly Word[] | null;
  /** Something was started in the background, so that `$!` is a number. */
  readonly jobs: boolean;
  /** IFS is space, tab and newline. */
  readonly plainIfs: boolean;
  /** `set -a`: assigned variables are exported. */
  readonly exportAll: boolean;
}

const NO_VARIABLES: ReadonlyMap<string, Variable> = new Map();
/** `$0` of a shell without arguments: a name of bash, by whatever path it was started. */
const NO_ARGS: readonly Word[] = [{ text: "$0", value: unknown("$0"), quoted: true }];
const NO_FUNCTIONS: ReadonlyMap<string, FunctionDefinition> = new Map();

export function freshState(cwds: Folders): State {
  return {
    cwds,
    previous: null,
    stack: [],
    variables: NO_VARIABLES,
    functions: NO_FUNCTIONS,
    args: NO_ARGS,
    jobs: false,
    plainIfs: true,
    exportAll: false,
  };
}

export function withVariable(state: State, name: string, variable: Variable): State {
  const variables = new Map(state.variables);
  variables.set(name, variable);
  return { ...state, variables, plainIfs: state.plainIfs && name !== "IFS" };
}

/** Something ran that may have set any variable. Names stay known as assigned, so that no start value shows through. */
export function withUnknownVariables(state: State, why: string): State {
  const variables = new Map<string, Variable>();
  for (const [name, { exported }] of state.variables) {
    variables.set(name, { value: unknown(why), exported });
  }
  return { ...state, variables, plainIfs: false };
}

/** After a line of which a part may not have run. */
export function withUntrusted(state: State, names: ReadonlySet<string>, folders: boolean): State {
  let after = state;
  for (const name of names) {
    const exported = state.variables.get(name)?.exported ?? false;
    after = withVariable(after, name, { value: unknown("set in a line that may fail"), exported });
  }
  return folders ? { ...after, cwds: null, previous: null, stack: null } : after;
}

/** What a new shell process inherits: folder and exported variables. */
export function childState(state: State, env: ReadonlyMap<string, WordValue>): State {
  const variables = new Map<string, Variable>();
  for (const [name, variable] of state.variables) {
    variables.set(
      name,
      variable.exported && variable.items === undefined
        ? { value: variable.value, exported: true }
        : { value: unknown("not exported to this shell"), exported: variable.exported },
    );
  }
  for (const [name, value] of env) variables.set(name, { value, exported: true });
  return {
    ...freshState(state.cwds),
    variables: variables.size === 0 ? NO_VARIABLES : variables,
    plainIfs: state.plainIfs && !env.has("IFS"),
    exportAll: state.exportAll,
  };
}

export function joinFolders(a: Folders, b: Folders): Folders {
  if (a === b) return a;
  if (a === null || b === null) return null;
  const all = [...new Set([...a, ...b])];
  if (all.length === a.length) return a;
  return all.length > CWDS_MAX ? null : all;
}

function sameFolders(a: Folders, b: Folders): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.length !== b.length) return false;
  return a.every((folder) => b.includes(folder));
}

const UNSET = unknown("set on one way only");

function joinVariable(a: Variable | undefined, b: Variable | undefined): Variable {
  if (a !== undefined && b !== undefined) {
    if (a === b) return a;
    const kind = {
      ...((a.map ?? b.map) && { map: true as const }),
      ...((a.integer ?? b.integer) && { integer: true as const }),
      ...((a.readonly ?? b.readonly) && { readonly: true as const }),
    };
    const value =
      a.items === undefined && b.items === undefined
        ? joinValues(a.value, b.value)
        : unknown("array set in more than one way");
    return { value, exported: a.exported || b.exported, ...kind };
  }
  return { value: UNSET, exported: (a ?? b)?.exported ?? false };
}

function joinFunction(
  a: FunctionDefinition,
  b: FunctionDefinition | undefined,
): FunctionDefinition {
  if (a === b) return a;
  if (b === undefined) return { ...a, sure: false };
  const more = b.bodies.filter(({ node }) => !a.bodies.some((body) => body.node === node));
  return { bodies: [...a.bodies, ...more], sure: a.sure && b.sure };
}

/** Either of two ways led here; an undefined one did not. */
export function joinStates(a: State | undefined, b: State | undefined): State | undefined {
  if (a === b || b === undefined) return a;
  if (a === undefined) return b;
  let variables = a.variables;
  if (a.variables !== b.variables) {
    const joined = new Map<string, Variable>();
    for (const [name, variable] of a.variables) {
      joined.set(name, joinVariable(variable, b.variables.get(name)));
    }
    for (const [name, variable] of b.variables) {
      if (!a.variables.has(name)) joined.set(name, joinVariable(undefined, variable));
    }
    variables = joined;
  }
  let functions = a.functions;
  if (a.functions !== b.functions) {
    const joined = new Map<string, FunctionDefinition>();
    for (const [name, one] of a.functions) {
      joined.set(name, joinFunction(one, b.functions.get(name)));
    }
    for (const [name, one] of b.functions) {
      if (!joined.has(name)) joined.set(name, { ...one, sure: false });
    }
    functions = joined;
  }
  return {
    cwds: joinFolders(a.cwds, b.cwds),
    previous: joinFolders(a.previous, b.previous),
    stack: a.stack === b.stack ? a.stack : null,
    variables,
    functions,
    args: a.args === b.args ? a.args : null,
    jobs: a.jobs && b.jobs,
    plainIfs: a.plainIfs && b.plainIfs,
    exportAll: a.exportAll || b.exportAll,
  };
}

function sameVariable(a: Variable, b: Variable | undefined): boolean {
  return (
    a === b ||
    (b !== undefined &&
      a.exported === b.exported &&
      a.map === b.map &&
      a.integer === b.integer &&
      a.readonly === b.readonly &&
      a.items === b.items &&
      sameValue(a.value, b.value))
  );
}

/** Whether nothing that matters differs: a loop has found all it can do. */
export function sameState(a: State, b: State): boolean {
  if (a === b) return true;
  if (!sameFolders(a.cwds, b.cwds) || !sameFolders(a.previous, b.previous)) return false;
  if (a.stack !== b.stack || a.args !== b.args) return false;
  if (a.plainIfs !== b.plainIfs || a.exportAll !== b.exportAll || a.jobs !== b.jobs) return false;
  if (a.variables.size !== b.variables.size || a.functions.size !== b.functions.size) return false;
  for (const [name, variable] of a.variables) {
    if (!sameVariable(variable, b.variables.get(name))) return false;
  }
  for (const [name, { bodies, sure }] of a.functions) {
    const other = b.functions.get(name);
    if (other?.bodies.length !== bodies.length || other.sure !== sure) return false;
  }
  return true;
}

/** `state` with everything that differs from `before` no longer known: the last resort of a loop that keeps changing. */
export function widen(before: State, state: State): State {
  const variables = new Map<string, Variable>();
  for (const [name, variable] of state.variables) {
    variables.set(
      name,
      sameVariable(variable, before.variables.get(name))
        ? variable
        : { value: unknown("changes in a loop"), exported: variable.exported },
    );
  }
  return {
    ...state,
    cwds: sameFolders(before.cwds, state.cwds) ? state.cwds : null,
    previous: sameFolders(before.previous, state.previous) ? state.previous : null,
    stack: before.stack === state.stack ? state.stack : null,
    args: before.args === state.args ? state.args : null,
    variables,
  };
}

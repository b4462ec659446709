/** Effective working folders: what `cd`, `pushd` and `popd` make of them. */

import type { Run, SimpleCommand } from "./run.ts";
import type { Word } from "./segment.ts";
import type { Folders, State } from "./state.ts";
import { textsOf } from "./values.ts";
import { variableValue } from "./variables.ts";

/** `path` as seen from `folder`, without `.`, `..` and double slashes; purely lexical, as bash's own `cd -L` is. */
export function resolvePath(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${folder}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Where a `cd` may lead; "stays" when it can only fail. */
export type Destination = Folders | "stays";

/** The operand of `cd`, `pushd`, `env -C`: seen from every folder it may start in. */
export function folderNamed(word: Word, from: Folders): Folders {
  const texts = textsOf(word.value) ?? foldersMeant(word.value);
  if (texts === null) return null;
  const found = new Set<string>();
  for (const text of texts) {
    if (text.startsWith("/")) found.add(resolvePath("/", text));
    else if (from === null) return null;
    else for (const folder of from) found.add(resolvePath(folder, text));
  }
  return [...found];
}

/**
 * Folders that a wildcard or a lister names, with `*` standing for a name that is not known. What is climbed to from
 * there is as far out as it can be, so that what is in scope from the stand-in is in scope from the folder.
 */
function foldersMeant(value: Word["value"]): readonly string[] | null {
  if (value.kind === "listed") {
    return !value.split && !value.dashed
      ? value.bases.flatMap((base) => [base, `${base}/${SOME_NAME}`])
      : null;
  }
  // `-/` is no option, but `-P` is.
  if (value.kind !== "glob" || (value.dashed && !value.pattern.endsWith("/"))) return null;
  const parts = value.pattern.split("/");
  // `.*` may be the folder above, `**` any depth.
  if (parts.some((part) => part === ".." || /^\..*[*?[]|\*\*|\(/.test(part))) return null;
  return [parts.map((part) => (/[*?[(]/.test(part) ? SOME_NAME : part)).join("/")];
}

/** No folder that anyone makes has this name; one that has it is looked at more closely, not less. */
export const SOME_NAME = "*";

/** Variables that `cd` heeds; once they are set by hand, where it leads is not followed. */
const HEEDED = ["CDPATH", "PWD", "OLDPWD", "DIRSTACK"];

export function changeFolder(run: Run, command: SimpleCommand, state: State): Destination {
  const { words, env } = command;
  const heeds = (name: string): boolean =>
    state.variables.has(name) || Object.hasOwn(run.context.env, name);
  if (env.length > 0) return null;
  let at = 1;
  let physical = false;
  for (; at < words.length; at++) {
    const { value } = words[at] as Word;
    if (value.kind !== "literal" || !/^-[LPe@]+$/.test(value.value)) break;
    if (value.value.includes("P")) physical = true;
  }
  if (words[at]?.value.kind === "literal" && textsOf((words[at] as Word).value)?.[0] === "--")
    at += 1;
  const operand = words[at];
  if (operand?.value.kind === "unknown" && operand.value.many) return null;
  if (words.length > at + 1) return words.some(isMany) ? null : "stays";
  // The physical folder behind links is not known here.
  if (physical) return null;
  if (operand === undefined) {
    const texts = textsOf(variableValue(run, "HOME", state));
    return texts === null ? null : texts.map((text) => resolvePath("/", text));
  }
  const texts = textsOf(operand.value);
  if (HEEDED.some(heeds) && !(texts?.every((text) => text.startsWith("/")) ?? false)) return null;
  if (texts?.includes("-")) return texts.length === 1 ? state.previous : null;
  return folderNamed(operand, state.cwds);
}

function isMany(word: Word): boolean {
  const { value } = word;
  return (
    value.kind === "glob" || ((value.kind === "listed" || value.kind === "unknown") && value.many)
  );
}

/** After a successful change of folder. */
export function moved(state: State, to: Folders): State {
  return { ...state, cwds: to, previous: state.cwds };
}

export function pushed(state: State, to: Folders): State {
  return { ...moved(state, to), stack: state.stack === null ? null : [...state.stack, state.cwds] };
}

export function popped(state: State): State {
  if (state.variables.has("DIRSTACK")) return { ...moved(state, null), stack: null };
  const stack = state.stack?.slice(0, -1) ?? null;
  return { ...moved(state, state.stack?.at(-1) ?? null), stack };
}

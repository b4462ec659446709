/** What may be known of a text, and how two such texts join (either may come) or concatenate (one after the other). */

import { WORD_VALUES_MAX } from "../../limits.ts";
import type { Word, WordValue } from "./segment.ts";

/** Alternatives a variable may have before it counts as unknown: enough for branches, few enough to compare. */
const ALTERNATIVES_MAX = 64;

type Numeric = Extract<WordValue, { kind: "number" }>;

export const NUMBER: Numeric = { kind: "number", sample: "1" };
/** A word such as a date or a commit id, whose very text has no digits-only sample. */
export const PLAIN: Numeric = { kind: "number" };
export const EMPTY: WordValue = { kind: "literal", value: "" };

type Unknown = Extract<WordValue, { kind: "unknown" }>;

export function literal(value: string): WordValue {
  return { kind: "literal", value };
}

export function unknown(why: string, many = false, prefix = ""): Unknown {
  return { kind: "unknown", prefix, many, why };
}

export function oneOf(values: readonly string[]): WordValue {
  const distinct = [...new Set(values)];
  const [only] = distinct;
  if (distinct.length === 1 && only !== undefined) return literal(only);
  if (distinct.length === 0 || distinct.length > WORD_VALUES_MAX) return unknown("too many values");
  return { kind: "oneOf", values: distinct };
}

/** The texts it may be, or null when they cannot be listed. */
export function textsOf(value: WordValue): readonly string[] | null {
  if (value.kind === "literal") return [value.value];
  return value.kind === "oneOf" ? value.values : null;
}

export function literalText(word: Word | undefined): string | null {
  return word?.value.kind === "literal" ? word.value.value : null;
}

export function sameValue(a: WordValue, b: WordValue): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case "literal":
      return b.kind === "literal" && a.value === b.value;
    case "number":
      return b.kind === "number" && a.sample === b.sample && a.empty === b.empty;
    case "unknown":
      // Why it is not known does not matter to what may happen next.
      return (
        b.kind === "unknown" && a.prefix === b.prefix && a.many === b.many && a.sample === b.sample
      );
    default:
      return JSON.stringify(a) === JSON.stringify(b);
  }
}

const INTEGER = /^-?\d+$/;

function isNumeric(value: WordValue): boolean {
  if (value.kind === "number") return true;
  const texts = textsOf(value);
  return texts?.every((text) => INTEGER.test(text)) ?? false;
}

/** Either `a` or `b`. */
export function joinValues(a: WordValue, b: WordValue): WordValue {
  if (sameValue(a, b)) return a;
  const left = textsOf(a);
  const right = textsOf(b);
  if (left !== null && right !== null) {
    const all = new Set([...left, ...right]);
    if (all.size <= ALTERNATIVES_MAX) return oneOf([...all]);
  }
  if (isNumeric(a) && isNumeric(b)) {
    const numbers = [a, b].filter((one) => one.kind === "number");
    const value = numbers.every((one) => one.sample !== undefined) ? NUMBER : PLAIN;
    return numbers.some((one) => one.empty) ? { ...value, empty: true } : value;
  }
  const one = pathsIn(a);
  const other = pathsIn(b);
  if (one === null || other === null) return unknown("set in more than one way");
  const bases = [...new Set([...one.bases, ...other.bases])];
  if (bases.length > ALTERNATIVES_MAX) return unknown("too many values");
  return {
    kind: "listed",
    bases,
    many: one.many || other.many,
    dashed: one.dashed || other.dashed,
    split: one.split || other.split,
  };
}

/** A value seen as paths at or below some folders; a literal is below itself. */
function pathsIn(value: WordValue): Paths | null {
  if (value.kind === "glob" || value.kind === "listed") return asPaths(value);
  const texts = textsOf(value);
  if (texts === null || texts.length > ALTERNATIVES_MAX / 2) return null;
  const dashed = texts.some((text) => text.startsWith("-"));
  return { kind: "listed", bases: texts, many: false, dashed, split: false };
}

/** Text with digits in it: a plain word as long as it can be no option and leads nowhere. */
const HARMLESS_TEXT = /^(?!-)[\w.,:=+@% -]*$/;

function digitsIn(sample: string | undefined, prefix: string, plain: boolean): WordValue {
  if (plain && !prefix.startsWith("-")) {
    return sample === undefined ? PLAIN : { kind: "number", sample };
  }
  const base = { kind: "unknown", prefix, many: false, why: "text with a number in it" } as const;
  return sample === undefined ? base : { ...base, sample };
}

/** What a command prints that may not run, or may fail. */
export function perhaps(output: WordValue | null): WordValue | null {
  switch (output?.kind) {
    case "literal":
    case "oneOf":
      return joinValues(EMPTY, output);
    case "number":
    case "listed":
      return { ...output, empty: true };
    default:
      return output;
  }
}

function isPlain(text: string): boolean {
  return HARMLESS_TEXT.test(text) && !text.includes("..");
}

/** The folder part of a path as text: "" for the current one. */
function parentOf(path: string): string {
  const trimmed = path.replace(/\/+$/, "");
  const slash = trimmed.lastIndexOf("/");
  if (slash < 0) return trimmed === "" && path !== "" ? "/" : ".";
  return slash === 0 ? "/" : trimmed.slice(0, slash);
}

/** Folders that hold whatever lies beside or just above a path below `bases`, as text. */
function around(bases: readonly string[]): string[] {
  const wider = new Set<string>();
  for (const base of bases) {
    // The parent of `../x` as text is `..`, but that of `..` is `.`, which does not hold it.
    if (base === ".." || base.endsWith("/..")) wider.add(base);
    wider.add(parentOf(base));
  }
  return [...wider];
}

type Paths = Extract<WordValue, { kind: "listed" }>;

/** A glob or listed path seen as paths below some folders. */
function asPaths(value: Extract<WordValue, { kind: "glob" | "listed" }>): Paths {
  if (value.kind === "listed") return value;
  return {
    kind: "listed",
    bases: [value.base === "" ? "." : value.base],
    many: false,
    dashed: value.dashed,
    split: false,
  };
}

/** `text` in front of a listed path. */
function prepend(text: string, paths: Paths): WordValue {
  if (text === "") return paths;
  // Of several names only the first comes right behind the text.
  if (paths.many) return unknown("several listed names behind other text", true);
  const climbs = paths.bases.some((base) => base === ".." || base.includes("../"));
  if (text.startsWith("-")) return unknown("a listed name behind an option", false, text);
  if (text.endsWith("/")) {
    return {
      ...filled(paths),
      bases: paths.bases.map((base) => (base === "." ? text : `${text}${base}`)),
      dashed: false,
    };
  }
  // `x` + `../y` would climb from a name that the lister did not print.
  if (climbs || text.includes(":") || text.includes("=")) {
    return unknown("a listed name behind other text", false, text);
  }
  return { ...filled(paths), bases: [parentOf(`${text}x`)], dashed: false };
}

/** `text` behind a listed path: still below its base, or beside it when the base itself was printed. */
function append(paths: Paths, text: string): WordValue {
  if (text === "") return paths;
  if (paths.many) return unknown("several listed names before other text", true);
  if (/(^|\/)\.\.(\/|$)/.test(text) || text === "." || text.startsWith("./")) {
    return unknown("a listed name that is climbed from");
  }
  if (text.startsWith("/")) {
    return paths.empty ? unknown("a path behind a name that may be empty") : paths;
  }
  return { ...filled(paths), bases: around(paths.bases) };
}

/** With other text beside it, it is not empty any more. */
function filled(paths: Paths): Paths {
  const { empty: _, ...rest } = paths;
  return rest;
}

/** `a` followed by `b` in one word. */
export function concatenate(a: WordValue, b: WordValue): WordValue {
  if (a.kind === "literal" && a.value === "") return b;
  if (b.kind === "literal" && b.value === "") return a;
  if (a.kind === "literal" && b.kind === "literal") return literal(a.value + b.value);
  if (a.kind === "unknown") {
    if (b.kind === "unknown") return unknown(a.why, a.many || b.many, a.prefix);
    const tail = b.kind === "literal" ? b.value : b.kind === "number" ? b.sample : undefined;
    const many = a.many || b.kind === "glob" || (b.kind === "listed" && b.many);
    const whole = unknown(a.why, many, a.prefix);
    return a.sample !== undefined && tail !== undefined && !tail.includes("..")
      ? { ...whole, sample: a.sample + tail }
      : whole;
  }
  if (b.kind === "unknown") {
    const prefix = a.kind === "literal" ? a.value + b.prefix : "";
    const whole = unknown(b.why, b.many || ("many" in a && a.many), prefix);
    const head = a.kind === "literal" ? a.value : a.kind === "number" ? a.sample : undefined;
    return b.sample !== undefined && head !== undefined
      ? { ...whole, sample: head + b.sample }
      : whole;
  }
  if (a.kind === "glob" || a.kind === "listed") {
    if (b.kind === "literal") return append(asPaths(a), b.value);
    return unknown("more than one listed name in a word", true);
  }
  if (b.kind === "glob" || b.kind === "listed") {
    if (a.kind === "literal") return prepend(a.value, asPaths(b));
    return unknown("a listed name behind other text", true);
  }
  if (a.kind === "number" || b.kind === "number") {
    const left = a.kind === "number" ? a.sample : a.kind === "literal" ? a.value : undefined;
    const right = b.kind === "number" ? b.sample : b.kind === "literal" ? b.value : undefined;
    // A number that a command failed to print leaves `/…` behind.
    const bare = a.kind === "number" && a.empty && (right?.startsWith("/") ?? true);
    const sample = bare || left === undefined || right === undefined ? undefined : left + right;
    const prefix = a.kind === "literal" ? a.value : "";
    const plain =
      (a.kind === "number" || (textsOf(a)?.every(isPlain) ?? false)) &&
      (b.kind === "number" || (textsOf(b)?.every(isPlain) ?? false)) &&
      !(sample?.includes("..") ?? false);
    return digitsIn(sample, prefix, plain);
  }
  const left = textsOf(a) ?? [];
  const right = textsOf(b) ?? [];
  if (left.length * right.length > WORD_VALUES_MAX) return unknown("too many values");
  return oneOf(left.flatMap((head) => right.map((tail) => head + tail)));
}

/** The name of a listed path without its folders. */
export function baseName(value: WordValue): WordValue {
  const texts = textsOf(value);
  if (texts !== null) return oneOf(texts.map(lastName));
  if (value.kind === "glob" || value.kind === "listed") {
    return { ...asPaths(value), bases: ["."], many: false, dashed: true };
  }
  return value.kind === "number" ? value : unknown("basename of an unknown path");
}

/** What `basename` prints. */
export function lastName(path: string): string {
  const trimmed = path.replace(/\/+$/, "");
  if (trimmed === "") return path === "" ? "" : "/";
  return trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

/** What `dirname` prints. */
export function folderOf(value: WordValue): WordValue {
  const texts = textsOf(value);
  if (texts !== null) return oneOf(texts.map(parentOf));
  if (value.kind === "glob" || value.kind === "listed") {
    const paths = asPaths(value);
    return { ...paths, bases: around(paths.bases), many: false };
  }
  return unknown("dirname of an unknown path");
}

/** A listed path with some of its end cut off, never across a folder. */
export function shortened(value: Extract<WordValue, { kind: "glob" | "listed" }>): WordValue {
  const paths = asPaths(value);
  return { ...paths, bases: around(paths.bases), many: false };
}

/** How a verb is declared: one small data object says what its options and operands are. */

import type { Word } from "../shell/segment.ts";
import type { ActionClass } from "../types.ts";
import type { DescribeContext } from "./description.ts";
import type { Draft } from "./draft.ts";

/**
 * What a word given to a verb is.
 * `data`: text, a number, a pattern: never opened. `read`: a file or folder itself. `tree`: everything below it too.
 * `write`: created or changed. `code`: a file whose content is run. `chdir`: a folder the verb moves to first, so
 * that its other paths are relative to it. `none`: not accepted by the allowed forms; its presence lifts.
 */
export type Role = "data" | "read" | "tree" | "write" | "code" | "chdir" | "none";

export interface OperandRoles {
  /** Roles of the first operands, one each. */
  readonly lead?: readonly Role[];
  /** Options that make `lead` go away: the pattern of grep after `-e`. */
  readonly unless?: string;
  /** Role of all that follow. Default `none`. */
  readonly rest?: Role;
  /** Role of the last operand when there are at least two (the destination of cp). */
  readonly last?: Role;
}

/**
 * Options are listed in strings, separated by spaces: `-a` and `--all` take no value, `-n=` and `--lines=` take one
 * (attached or as the next word), `-i=?` and `--color=?` take one only when it is attached.
 * An option that is in none of the lists lifts.
 */
export interface Form {
  /** Options that change nothing; their values are data. */
  readonly flags?: string;
  /** Options whose value is a path with that role. */
  readonly reads?: string;
  readonly trees?: string;
  readonly writes?: string;
  readonly codes?: string;
  readonly chdirs?: string;
  /** Options that lift the automatic allow: a few words that follow "`-x` of verb" → the options. */
  readonly lifts?: Readonly<Record<string, string>>;
  /** `-50` and digits in a cluster are a number. */
  readonly digits?: boolean;
  /** Options end at the first operand. */
  readonly strict?: boolean;
  /** Long options may begin with one dash: `-name`, `-o=x` (Go, xmllint, javac). */
  readonly oneDash?: boolean;
  /** `-a` alone is an operand like any other word: the verb has no options at all (echo, expr). */
  readonly noOptions?: boolean;

  readonly operands?: Role | OperandRoles;
  /** What it touches when it has no operand: the working directory, or all below it (`recursive`: only with such an option). */
  readonly bare?: "cwd" | "tree" | "recursive";
  /** Options that turn `read` operands (and `bare`) into trees. */
  readonly recursive?: string;
  /** Options that make it rewrite what its operands name, or the folder it runs in: `--fix`, `--write`. */
  readonly edits?: string;
  /** Options that make it follow links: what it reads may then lie outside the folder it was given. */
  readonly follows?: string;
  /** Options that undo `follows`. */
  readonly followsUnless?: string;
  /** Classes besides read and write are stated here; those two come from the roles. Default `read`. */
  readonly class?: ActionClass;
  /** Which use of that class it has is said by `refine` (curl: its host may be the sandbox itself). */
  readonly refined?: boolean;
  /** The class needs the working directory (`npm test`, `git status`). */
  readonly inCwd?: "read" | "write";
  /** No arguments whatever make it write, run or connect: unknown words may follow it. */
  readonly anyArgs?: boolean;
  /** Prints names of files at or below its operands and nothing else; a string names the options it takes for that. */
  readonly lister?: boolean | string;
  /** Words that as the only argument make it print and leave. Default `--help --version`. */
  readonly help?: string;

  /** Sub-commands; a key may name several: `"list ls"`. The options above then stand before the sub-command. */
  readonly sub?: Readonly<Record<string, Form>>;
  /** The options above may stand after the sub-command too. */
  readonly shared?: boolean;
  /** The form of a sub-command that is not in the table; absent: it lifts. */
  readonly otherSub?: Form;
  /** The form when there is no sub-command; absent: a plain read. */
  readonly noSub?: Form;

  /** Code for what lists cannot say; called after the lists were applied. */
  readonly refine?: Refine;
  /** Judges the words after the verb alone; the lists are not applied. */
  readonly custom?: (words: readonly Word[], draft: Draft, context: HookContext) => void;
}

export type Refine = (parsed: ParsedForm, draft: Draft, context: HookContext) => void;

/** What hooks see besides the words: the segment, its neighbours, and every verb for commands inside arguments. */
export interface HookContext extends DescribeContext {
  readonly catalogue: ReadonlyMap<string, VerbSpec>;
}

export interface VerbSpec extends Form {
  readonly names: readonly string[];
  /** A clause for the table in the documentation. */
  readonly note?: string;
  /** Forms that only read: each passes by itself and is run for real by a test. Write-class verbs give their forms. */
  readonly examples: readonly string[];
}

/** The form of a verb that any arguments leave a read; null for every other name. */
export function readOnlyVerb(context: HookContext, name: string): VerbSpec | null {
  const spec = context.catalogue.get(name);
  return spec?.anyArgs === true && (spec.class ?? "read") === "read" ? spec : null;
}

export interface ParsedOption {
  /** As declared: `-n`, `--lines`. */
  readonly name: string;
  readonly value: Word | null;
}

export interface ParsedForm {
  /** Canonical name: `sort`, `git stash list`. */
  readonly form: string;
  readonly options: readonly ParsedOption[];
  readonly operands: readonly Word[];
}

/** Whether any of the named options (a space separated list) was given. */
export function given(parsed: ParsedForm, names: string): boolean {
  const wanted = names.split(" ");
  return parsed.options.some((option) => wanted.includes(option.name));
}

/** The last value given to any of the named options. */
export function lastValue(parsed: ParsedForm, names: string): Word | null {
  const wanted = names.split(" ");
  return parsed.options.findLast((option) => wanted.includes(option.name))?.value ?? null;
}

/** The text of a word that is sure, else null. */
export function textOf(word: Word | undefined | null): string | null {
  return word?.value.kind === "literal" ? word.value.value : null;
}

/** Every text a word may be, when they are known. */
export function textsOf({ value }: Word): readonly string[] | null {
  if (value.kind === "literal") return [value.value];
  return value.kind === "oneOf" ? value.values : null;
}

export interface OptionDef {
  readonly name: string;
  readonly arity: "none" | "one" | "optional";
  readonly role: Role;
  /** Why it lifts; null when it does not. */
  readonly lift: string | null;
}

export type OptionTable = ReadonlyMap<string, OptionDef>;

const tables = new WeakMap<Form, OptionTable>();

/** The options of a form as a table; made once for each form. Throws when an option is listed twice. */
export function optionTable(form: Form): OptionTable {
  const known = tables.get(form);
  if (known !== undefined) return known;
  const table = new Map<string, OptionDef>();
  const add = (list: string | undefined, role: Role, lift: string | null): void => {
    for (const item of list?.split(/\s+/) ?? []) {
      if (item === "") continue;
      const [, name = "", suffix] = /^([^=]+)(=\??)?$/.exec(item) ?? [];
      if (name === "" || table.has(name)) throw new Error(`option ${item} is listed twice`);
      const arity = suffix === "=" ? "one" : suffix === "=?" ? "optional" : "none";
      table.set(name, { name, arity, role, lift });
    }
  };
  add(form.flags, "data", null);
  add(form.reads, "read", null);
  add(form.trees, "tree", null);
  add(form.writes, "write", null);
  add(form.codes, "code", null);
  add(form.chdirs, "chdir", null);
  for (const [reason, list] of Object.entries(form.lifts ?? {})) add(list, "data", reason);
  tables.set(form, table);
  return table;
}

/** What simple commands print, where that is sure: file names below known folders, numbers, known text. */

import { resolvePath } from "./cwd.ts";
import { LISTERS } from "./listers.ts";
import { type Grammar, parseOptions } from "./options.ts";
import type { Output, Run, SimpleCommand } from "./run.ts";
import type { Word, WordValue } from "./segment.ts";
import type { State } from "./state.ts";
import {
  baseName,
  concatenate,
  EMPTY,
  folderOf,
  lastName,
  literal,
  literalText,
  NUMBER,
  oneOf,
  PLAIN,
  perhaps,
  textsOf,
  unknown,
} from "./values.ts";

type Printer = (command: SimpleCommand, run: Run, state: State) => Output;

const UNKNOWN: Output = unknown("output of a command");

const silent: Printer = () => null;

/** Filters that only drop or reorder lines, by their own grammars. */
function filter(grammar: Grammar, operands: number): Printer {
  return ({ words, input }) => {
    if (input?.kind !== "listed" && input?.kind !== "number") return UNKNOWN;
    const parsed = parseOptions(words, 1, grammar);
    return parsed !== null && parsed.operands.length === operands ? input : UNKNOWN;
  };
}

/** `head` and `tail`; of one line of names only one is left. */
const ends: Printer = ({ words, input }) => {
  if (input?.kind !== "listed" && input?.kind !== "number") return UNKNOWN;
  const texts = words.slice(1).map(literalText);
  const count = /^-(?:n ?|-lines=)?\+?(\d+)$/.exec(texts.join(" "))?.[1];
  if (texts.length > 0 && count === undefined) return UNKNOWN;
  return count === "1" && input.kind === "listed" ? { ...input, many: false } : input;
};

/** A program of `sed -n` that only chooses lines. */
const sed: Printer = ({ words, input }) => {
  if (input?.kind !== "listed" && input?.kind !== "number") return UNKNOWN;
  const texts = words.slice(1).map((word) => literalText(word) ?? "?");
  return /^(?:-n \d+(?:,\d+)?p|\d+(?:,\d+)?[qd])$/.test(texts.join(" ")) ? input : UNKNOWN;
};

const dropping = filter({ flags: "vEFPGiwxy", values: "e" }, 1);

/** `grep -c` of one file, or of its input, prints a number; otherwise grep drops lines. */
const grep: Printer = (command, run, state) => {
  const counting = parseOptions(command.words, 1, {
    flags: "cvEFPGiwxyh",
    values: "em",
    permuted: true,
  });
  if (!counting?.options.has("c")) return dropping(command, run, state);
  const files = counting.operands.length - (counting.options.has("e") ? 0 : 1);
  if (files > 1 || !counting.operands.every(single)) return UNKNOWN;
  return files === 1 ? perhaps(NUMBER) : NUMBER;
};

const echo: Printer = ({ words }) => {
  const [, ...rest] = words;
  let newline = true;
  while (literalText(rest[0]) === "-n") {
    newline = false;
    rest.shift();
  }
  if (/^-[neE]+$/.test(literalText(rest[0]) ?? "")) return UNKNOWN;
  if (rest.some(({ value }) => value.kind === "glob" || ("many" in value && value.many)))
    return UNKNOWN;
  const texts = rest.map(literalText);
  if (!texts.includes(null)) return literal(`${texts.join(" ")}${newline ? "\n" : ""}`);
  const text = rest
    .map(({ value }) => value)
    .reduce(
      (all, one, at) => concatenate(at > 0 ? concatenate(all, literal(" ")) : all, one),
      EMPTY,
    );
  // A listed name and a number stay what they are with a newline behind them.
  return text.kind === "literal" && newline ? literal(`${text.value}\n`) : text;
};

const printf: Printer = ({ words }) => {
  const [, format, ...rest] = words;
  const text = literalText(format);
  const [only] = rest;
  if (text === null) return UNKNOWN;
  if (rest.length === 0 && !/[%\\]/.test(text)) return literal(text);
  if (text === "%s" && only !== undefined && rest.length === 1) return only.value;
  if (text !== "%s\\n") return UNKNOWN;
  const texts = rest.map(literalText);
  if (!texts.includes(null)) return literal(texts.map((one) => `${one}\n`).join(""));
  const listed = only?.value.kind === "listed" || only?.value.kind === "glob";
  return listed && rest.length === 1 ? pathsOf(only) : UNKNOWN;
};

function pathsOf(word: Word): Output {
  const { value } = word;
  if (value.kind !== "glob") return value;
  const bases = [value.base === "" ? "." : value.base];
  return { kind: "listed", bases, many: true, dashed: value.dashed, split: false };
}

const date: Printer = ({ words }) => {
  const sure = words.slice(1).every((word) => {
    const text = literalText(word);
    return text !== null && (/^\+[\w%:.,T -]*$/.test(text) || text === "-u" || text === "--utc");
  });
  const digits = words.length === 2 && /^\+(?:%[sYmdHMSNju])+$/.test(literalText(words[1]) ?? "");
  return digits ? NUMBER : sure ? PLAIN : UNKNOWN;
};

/** Numbers only as long as no file name is printed behind them. */
const wc: Printer = ({ words }) =>
  words.slice(1).every((word) => /^-[lwcmL]+$/.test(literalText(word) ?? "?")) ? NUMBER : UNKNOWN;

const onlyFlags =
  (flags: RegExp, value: WordValue): Printer =>
  ({ words }) =>
    words.slice(1).every((word) => flags.test(literalText(word) ?? "\0")) ? value : UNKNOWN;

const seq: Printer = ({ words }) =>
  words
    .slice(1)
    .every(({ value }) => value.kind === "number" || /^(?:-?\d+|-w)$/.test(literalOf(value)))
    ? NUMBER
    : UNKNOWN;

function literalOf(value: WordValue): string {
  return value.kind === "literal" ? value.value : "";
}

const pwd: Printer = ({ words }, _run, state) =>
  words.length === 1 && state.cwds !== null ? oneOf(state.cwds) : UNKNOWN;

const basename: Printer = ({ words }) => {
  const [, path, suffix] = words;
  if (path === undefined || literalText(path)?.startsWith("-") || words.length > 3) return UNKNOWN;
  if (suffix === undefined) return single(path) ? baseName(path.value) : UNKNOWN;
  const end = literalText(suffix);
  const texts = textsOf(path.value);
  if (end === null || texts === null) return UNKNOWN;
  return oneOf(
    texts.map((text) => {
      const name = lastName(text);
      return name !== end && name.endsWith(end) ? name.slice(0, name.length - end.length) : name;
    }),
  );
};

const dirname: Printer = ({ words }) => {
  const [, path] = words;
  if (path === undefined || literalText(path)?.startsWith("-") || words.length > 2) return UNKNOWN;
  return single(path) ? folderOf(path.value) : UNKNOWN;
};

function single({ value, quoted }: Word): boolean {
  return !("many" in value && value.many) && (value.kind !== "glob" || quoted);
}

/** The folder that `mktemp` makes a name in, unless TMPDIR says another. */
const mktemp: Printer = ({ words, env }, run, state) => {
  const plain = words.slice(1).every((word) => literalText(word) === "-d");
  const moved =
    env.length > 0 || state.variables.has("TMPDIR") || Object.hasOwn(run.context.env, "TMPDIR");
  if (!plain || moved) return UNKNOWN;
  return { ...unknown("a new name in /tmp", false, "/tmp/tmp."), sample: "/tmp/tmp.x1" };
};

const git: Printer = (command, run, state) => {
  const texts = command.words.slice(1, 4).map(literalText);
  if (texts[0] === "merge-base") {
    const names = texts.slice(1).every((text) => text !== null && /^[^-]/.test(text));
    return names && command.words.length === 4 ? perhaps(PLAIN) : UNKNOWN;
  }
  if (texts[0] !== "rev-parse" || command.words.length > 4) return UNKNOWN;
  if (texts[1] === "--show-toplevel" && command.words.length === 3) {
    const { toplevel } = run.context;
    const inside = state.cwds?.every((cwd) => `${cwd}/`.startsWith(`${toplevel}/`)) ?? false;
    const plain =
      command.env.length === 0 &&
      ![...state.variables.keys()].some((name) => name.startsWith("GIT_"));
    return toplevel !== undefined && inside && plain
      ? literal(resolvePath("/", toplevel))
      : UNKNOWN;
  }
  return /^(?:--verify |--short(?:=\d+)? )?(?:HEAD|@)$/.test(texts.slice(1).join(" "))
    ? perhaps(PLAIN)
    : UNKNOWN;
};

const cat: Printer = ({ words, input }) => (words.length === 1 ? input : UNKNOWN);

const PRINTERS: ReadonlyMap<string, Printer> = new Map<string, Printer>([
  ...": true false cd test [ export declare local readonly unset set shopt trap wait sleep kill mkdir rmdir touch exit"
    .split(" ")
    .map((name): [string, Printer] => [name, silent]),
  ["cat", cat],
  ["tee", ({ input }) => input],
  ["head", ends],
  ["tail", ends],
  ["sort", filter({ flags: "bdfghiMnRrVuzs", values: "kt" }, 0)],
  ["uniq", filter({ flags: "diuz" }, 0)],
  ["grep", grep],
  ["egrep", grep],
  ["fgrep", grep],
  ["tac", filter({}, 0)],
  ["sed", sed],
  ["echo", echo],
  ["printf", printf],
  ["date", date],
  ["wc", wc],
  ["nproc", onlyFlags(/^--all$/, NUMBER)],
  ["id", onlyFlags(/^-[ug]$/, NUMBER)],
  ["uname", onlyFlags(/^-[smrnp]$/, PLAIN)],
  ["whoami", onlyFlags(/^$/, PLAIN)],
  ["arch", onlyFlags(/^$/, PLAIN)],
  ["seq", seq],
  ["pwd", pwd],
  ["basename", basename],
  ["dirname", dirname],
  ["mktemp", mktemp],
]);

/** What `command` prints. */
export function outputOf(run: Run, command: SimpleCommand, state: State): Output {
  const [verb] = command.words;
  const name = verb?.value.kind === "literal" ? verb.value.value : "";
  const listed = LISTERS.get(name)?.(command.words);
  if (listed !== undefined && listed !== null) return listed;
  if (name === "git") return git(command, run, state);
  return PRINTERS.get(name)?.(command, run, state) ?? (PRINTERS.has(name) ? null : UNKNOWN);
}

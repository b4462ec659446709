/** Commands that print names of existing files, one a line, and the folders that all of those names lie below. */

import { type Grammar, parseOptions } from "./options.ts";
import type { Word, WordValue } from "./segment.ts";
import { literalText, textsOf } from "./values.ts";

type Listed = Extract<WordValue, { kind: "listed" }>;

/** Null: this form prints something else. */
type Lister = (words: readonly Word[]) => Listed | null;

function listed(bases: readonly string[], dashed: boolean, empty = false): Listed {
  const distinct = [...new Set(bases)];
  const value: Listed = { kind: "listed", bases: distinct, many: true, dashed, split: false };
  return empty ? { ...value, empty: true } : value;
}

/** What the names printed for a path operand begin with; null when that is not known. */
function basesOf(word: Word): readonly string[] | null {
  const { value } = word;
  if (value.kind === "glob") return [value.base === "" ? "." : value.base];
  if (value.kind === "listed") return value.split ? null : value.bases;
  if (value.kind === "unknown" && value.sample !== undefined && !value.many) return null;
  return textsOf(value);
}

function allBases(words: readonly Word[]): readonly string[] | null {
  const bases: string[] = [];
  for (const word of words) {
    const some = basesOf(word);
    if (some === null || some.includes("")) return null;
    bases.push(...some);
  }
  return bases;
}

function dashes(words: readonly Word[]): boolean {
  return words.some(({ value }) => "dashed" in value && value.dashed);
}

/** Expressions of find that print something other than names, or nothing that is a name. */
const OTHER_OUTPUT = /^-(?:printf|fprintf|ls|fls|exec|execdir|ok|okdir|files0-from)$/;

const find: Lister = (words) => {
  // `-D` takes a word, behind which paths may still come.
  if (words.some((word) => literalText(word) === "-D")) return null;
  const paths: Word[] = [];
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] as Word;
    const text = literalText(word);
    if (text === null) {
      paths.push(word);
      continue;
    }
    if (/^-(?:[HLP]|O\d)$/.test(text)) continue;
    if (/^[-(!]/.test(text)) break;
    paths.push(word);
  }
  for (const word of words.slice(at)) {
    const text = literalText(word);
    if (text === null ? word.value.kind === "unknown" && word.value.many : OTHER_OUTPUT.test(text))
      return null;
  }
  const bases = paths.length === 0 ? ["."] : allBases(paths);
  return bases === null ? null : listed(bases, dashes(paths));
};

const LS: Grammar = { flags: "1AtrScuUXdvHLG", longValues: ["color", "sort"], permuted: true };

const ls: Lister = (words) => {
  const parsed = parseOptions(words, 1, LS);
  if (parsed === null) return null;
  const bases = allBases(parsed.operands);
  if (bases === null) return null;
  if (parsed.options.has("d")) {
    return listed(bases.length === 0 ? ["."] : bases, dashes(parsed.operands));
  }
  const [only] = parsed.operands;
  if (only === undefined) return listed(["."], true);
  // Of a folder the names inside are printed, of several also headings and empty lines.
  const several = parsed.operands.length > 1 || only.value.kind !== "literal";
  if (several && bases.some((base) => base.startsWith("/") || base.includes(".."))) return null;
  return listed([".", ...bases], true, several);
};

/** Pathspecs that may print names above or far from here. */
function staysBelow(words: readonly Word[]): boolean {
  return words.every((word) => {
    const { value } = word;
    if (value.kind === "glob" || value.kind === "listed") {
      const bases = basesOf(word) ?? ["/"];
      return bases.every((base) => !base.startsWith("/") && !/(?:^|\/)\.\.(?:\/|$)/.test(base));
    }
    return textsOf(value)?.every((text) => !/^[:/]|(?:^|\/)\.\.(?:\/|$)/.test(text)) ?? false;
  });
}

const GIT: Readonly<Record<string, { grammar: Grammar; needs?: string }>> = {
  "ls-files": {
    grammar: {
      flags: "cdmoiuz",
      values: "x",
      longFlags: [
        "cached",
        "deleted",
        "modified",
        "others",
        "ignored",
        "exclude-standard",
        "directory",
        "no-empty-directory",
      ],
      longValues: ["exclude"],
      permuted: true,
    },
  },
  diff: {
    grammar: {
      flags: "zMRwb",
      longFlags: [
        "name-only",
        "cached",
        "staged",
        "no-renames",
        "no-ext-diff",
        "no-textconv",
        "merge-base",
      ],
      longValues: ["diff-filter"],
      permuted: true,
    },
    needs: "name-only",
  },
  grep: {
    grammar: {
      flags: "lLiwEFGPvIazrn",
      values: "e",
      longFlags: [
        "files-with-matches",
        "name-only",
        "files-without-match",
        "cached",
        "untracked",
        "ignore-case",
        "word-regexp",
        "extended-regexp",
        "fixed-strings",
      ],
      permuted: true,
    },
    needs: "l",
  },
};

const git: Lister = (words) => {
  let at = 1;
  while (literalText(words[at]) === "--no-pager") at += 1;
  const name = literalText(words[at]) ?? "";
  const form = Object.hasOwn(GIT, name) ? GIT[name] : undefined;
  if (form === undefined) return null;
  const parsed = parseOptions(words, at + 1, form.grammar);
  if (parsed === null || !staysBelow(parsed.operands)) return null;
  const { options } = parsed;
  const named =
    form.needs === undefined ||
    options.has(form.needs) ||
    (name === "grep" && (options.has("files-with-matches") || options.has("name-only")));
  // A tree in front (`git grep -l x HEAD`) is printed before a colon: still no way out of the folder.
  return named ? listed(["."], true) : null;
};

const GREP: Grammar = {
  flags: "rRlLiwxvEFGPIashZyU",
  values: "emABCdD",
  longFlags: [
    "recursive",
    "files-with-matches",
    "files-without-match",
    "ignore-case",
    "word-regexp",
    "line-regexp",
    "extended-regexp",
    "fixed-strings",
    "no-messages",
    "null",
  ],
  longValues: ["include", "exclude", "exclude-dir", "regexp", "max-count", "color"],
  permuted: true,
};

const grep: Lister = (words) => {
  const parsed = parseOptions(words, 1, GREP);
  if (parsed === null) return null;
  const { options, operands } = parsed;
  if (!["l", "L", "files-with-matches", "files-without-match"].some((one) => options.has(one)))
    return null;
  const paths = operands.slice(options.has("e") || options.has("regexp") ? 0 : 1);
  if (paths.length === 0) {
    return ["r", "R", "recursive"].some((one) => options.has(one)) ? listed(["."], true) : null;
  }
  const bases = allBases(paths);
  return bases === null ? null : listed(bases, dashes(paths));
};

const RG: Grammar = {
  flags: "liwFxvSsuUPa0",
  values: "egtTmABCdjM",
  longFlags: [
    "files",
    "files-with-matches",
    "files-without-match",
    "hidden",
    "no-ignore",
    "ignore-case",
    "smart-case",
    "fixed-strings",
    "word-regexp",
    "no-messages",
  ],
  longValues: [
    "glob",
    "iglob",
    "type",
    "type-not",
    "regexp",
    "max-depth",
    "max-count",
    "sort",
    "color",
  ],
  permuted: true,
};

const rg: Lister = (words) => {
  const parsed = parseOptions(words, 1, RG);
  if (parsed === null) return null;
  const { options, operands } = parsed;
  const files = options.has("files");
  if (!files && !["l", "files-with-matches", "files-without-match"].some((one) => options.has(one)))
    return null;
  const paths = operands.slice(files || options.has("e") || options.has("regexp") ? 0 : 1);
  const bases = paths.length === 0 ? ["."] : allBases(paths);
  return bases === null ? null : listed(bases, paths.length === 0 || dashes(paths));
};

const FD: Grammar = {
  flags: "HIsigFpLu0",
  values: "tedEc",
  longFlags: [
    "hidden",
    "no-ignore",
    "case-sensitive",
    "ignore-case",
    "glob",
    "fixed-strings",
    "full-path",
    "print0",
  ],
  longValues: ["type", "extension", "max-depth", "exclude", "color"],
  permuted: true,
};

const fd: Lister = (words) => {
  const parsed = parseOptions(words, 1, FD);
  if (parsed === null) return null;
  const paths = parsed.operands.slice(1);
  const bases = paths.length === 0 ? ["."] : allBases(paths);
  return bases === null ? null : listed(bases, paths.length === 0 || dashes(paths));
};

export const LISTERS: ReadonlyMap<string, Lister> = new Map<string, Lister>([
  ["find", find],
  ["ls", ls],
  ["git", git],
  ["grep", grep],
  ["egrep", grep],
  ["fgrep", grep],
  ["rg", rg],
  ["fd", fd],
  ["fdfind", fd],
]);

/** The folders that `find`'s own names lie below, whatever it prints or runs. */
export function findBases(words: readonly Word[]): readonly string[] | null {
  const end = words.findIndex(
    (word, at) => at > 0 && /^(?:[(!]|-(?![HLP]$|O\d$))/.test(literalText(word) ?? ""),
  );
  return find(end < 0 ? words : words.slice(0, end))?.bases ?? null;
}

/** find: its expression decides whether it only looks. */

import type { Word } from "../shell/segment.ts";
import { type Draft, reads, use, writes } from "./draft.ts";
import { applyForm } from "./form.ts";
import { mayBeOption } from "./options.ts";
import { type HookContext, readOnlyVerb, textOf } from "./spec.ts";

const set = (list: string): ReadonlySet<string> => new Set(list.split(" "));

const ALONE = set(
  "-a -and -o -or -not ! ( ) , -daystart -depth -d -empty -executable -false -follow -ignore_readdir_race -ls -mount -nogroup -noignore_readdir_race -noleaf -nouser -nowarn -print -print0 -prune -quit -readable -true -warn -writable -xdev -help --help -version --version",
);
const WITH_DATA = set(
  "-amin -atime -cmin -context -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -path -perm -printf -regex -regextype -since -size -type -uid -used -user -wholename -xtype",
);
const WITH_PATH = set("-anewer -cnewer -newer -samefile");
const WRITES = set("-fls -fprint -fprint0 -fprintf");
const RUNS = set("-exec -execdir -ok -okdir");

/** Words of an expression that do more than look. */
const ACTS = ["-delete", "-files0-from", ...WRITES, ...RUNS];

/**
 * Whether a word that the shell may expand to several could put one of `ACTS` into the expression. Other names that it
 * brings only make find refuse the whole line.
 */
function mayAct(word: Word | undefined): boolean {
  if (word?.value.kind !== "glob") return word?.value.kind === "unknown" && word.value.many;
  const { pattern } = word.value;
  const [head = "", ...more] = pattern.split(/[*?[(].*/s);
  const tail = more.length === 0 ? "" : (/[^*?\])]*$/.exec(pattern)?.[0] ?? "");
  return ACTS.some((act) => act.startsWith(head) && act.endsWith(tail));
}

/** Whether find takes the word for the begin of its expression. */
function startsExpression(text: string): boolean {
  return (text.startsWith("-") && text.length > 1) || ["(", ")", "!", ","].includes(text);
}

/** Describes the words after `find`. An unknown word in the expression lifts. */
export function describeFind(words: readonly Word[], draft: Draft, context: HookContext): void {
  let i = 0;
  let follows = false;
  for (; i < words.length; i += 1) {
    const text = textOf(words[i]);
    if (text === "-L") follows = true;
    else if (text === "-D") i += 1;
    else if (text !== "-H" && text !== "-P" && !/^-O\d?$/.test(text ?? "")) break;
  }
  if (textOf(words[i]) === "--") i += 1;

  const starts: Word[] = [];
  for (; i < words.length; i += 1) {
    const word = words[i] as Word;
    const text = textOf(word);
    if (text !== null && startsExpression(text)) break;
    if (mayBeOption(word)) draft.lifts.push(`${word.text} may be part of find's expression`);
    starts.push(word);
  }
  follows ||= words.some((word) => textOf(word) === "-follow");
  const more = { tree: true, ...(follows ? { follows } : {}) };
  for (const start of starts) reads(draft, start, "operand", more);
  if (starts.length === 0) use(draft, "read", "working directory", { cwd: true, ...more });
  draft.lister = true;

  for (; i < words.length; i += 1) {
    const word = words[i] as Word;
    const text = textOf(word);
    const next = words[i + 1];
    if (text === null) draft.lifts.push(`${word.text} may be part of find's expression`);
    else if (ALONE.has(text)) {
      if (text === "-ls") draft.lister = false;
    } else if (WITH_DATA.has(text)) {
      if (text === "-printf") draft.lister = false;
      i += 1;
      if (next !== undefined && mayAct(next))
        draft.lifts.push(`${next.text} may be several words of find's expression`);
    } else if (WITH_PATH.has(text) || /^-newer[aBcmt]{2}$/.test(text)) {
      i += 1;
      if (next !== undefined && !text.endsWith("t")) reads(draft, next, text);
    } else if (text === "-delete") draft.lifts.push("-delete of find removes whole folders");
    else if (WRITES.has(text)) {
      i += text === "-fprintf" ? 2 : 1;
      if (next !== undefined) writes(draft, next, text);
    } else if (RUNS.has(text)) {
      const end = words.findIndex((each, at) => at > i && /^[;+]$/.test(textOf(each) ?? ""));
      const inner = words.slice(i + 1, end < 0 ? words.length : end);
      // The shell reader made segments of the commands of such a find: they are judged there.
      if (text === "-exec" && end >= 0 && context.segment.delegated) use(draft, "read", text);
      else if (text === "-exec" && end >= 0)
        execute(inner, starts, textOf(words[end]) === "+", draft, context);
      else draft.lifts.push(`${text} of find runs a command`);
      draft.lister = false;
      i = end < 0 ? words.length : end;
    } else
      draft.lifts.push(`${text === "-files0-from" ? text : `unknown word ${word.text}`} of find`);
  }
}

/**
 * `-exec VERB … {} ;` passes only where no arguments could make VERB do more than read; its own words are judged
 * like any command's, and `{}` is a path below the starting points.
 */
function execute(
  inner: readonly Word[],
  starts: readonly Word[],
  many: boolean,
  draft: Draft,
  context: HookContext,
): void {
  const [verb, ...rest] = inner;
  const spec = readOnlyVerb(context, textOf(verb) ?? "");
  const bases = starts.length === 0 ? ["."] : starts.map((start) => textOf(start));
  if (verb === undefined || spec === null || !bases.every((base) => base !== null)) {
    draft.lifts.push(`-exec of find runs ${verb?.text ?? "nothing"}`);
    return;
  }
  const found: Word = {
    text: "{}",
    value: { kind: "listed", bases, many, dashed: false, split: false },
    quoted: true,
  };
  const words = rest.map((word): Word => {
    const text = textOf(word);
    if (text === "{}") return found;
    if (text === null || !text.includes("{}")) return word;
    const prefix = text.slice(0, text.indexOf("{}"));
    return {
      ...word,
      value: { kind: "unknown", prefix, many: false, why: "a name that find prints" },
    };
  });
  applyForm(spec, words, draft, context);
}

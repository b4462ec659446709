/** `test`, `[` and `[[`: which of their words name files, and which forms bash evaluates as code. */

import type { Word } from "../shell/segment.ts";
import { type Draft, reads } from "./draft.ts";
import { textOf } from "./spec.ts";

const FILE_TESTS = new Set(
  "-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S".split(" "),
);
const DATA_TESTS = new Set("-z -n -t -o -R".split(" "));
const FILE_PAIRS = new Set(["-nt", "-ot", "-ef"]);
const DATA_PAIRS = new Set([
  "=",
  "==",
  "!=",
  "<",
  ">",
  "=~",
  "-eq",
  "-ne",
  "-lt",
  "-le",
  "-gt",
  "-ge",
]);
const NUMBER_PAIRS = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);
const JOINS = new Set(["!", "(", ")", "-a", "-o", "&&", "||"]);

/** A variable name without a subscript, which would be evaluated. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What `[[ … -eq … ]]` evaluates must be a number: a name leads to text that is evaluated in turn. */
const PLAIN_NUMBER = /^[-+]?\d+$/;

/** `test EXPRESSION` and `[ EXPRESSION ]`. */
export function describeTest(words: readonly Word[], draft: Draft): void {
  const bracket = draft.form === "[" || draft.form === "[[";
  const last = textOf(words.at(-1));
  const inner = bracket && (last === "]" || last === "]]") ? words.slice(0, -1) : words;
  const evaluates = draft.form === "[[";
  for (let i = 0; i < inner.length; i += 1) {
    const [word, next, third] = inner.slice(i, i + 3) as [Word, Word | undefined, Word | undefined];
    const text = textOf(word);
    const operator = textOf(next) ?? "";
    if (
      next !== undefined &&
      (FILE_PAIRS.has(operator) || DATA_PAIRS.has(operator)) &&
      third !== undefined
    ) {
      for (const side of [word, third]) {
        if (FILE_PAIRS.has(operator)) reads(draft, side, operator);
        else if (evaluates && NUMBER_PAIRS.has(operator)) mustBeNumber(side, draft);
        severalWords(side, evaluates, draft);
      }
      i += 2;
    } else if (
      text !== null &&
      FILE_TESTS.has(text) &&
      next !== undefined &&
      !joins(text, inner, i, evaluates)
    ) {
      reads(draft, next, text);
      severalWords(next, evaluates, draft);
      i += 1;
    } else if (
      text !== null &&
      DATA_TESTS.has(text) &&
      next !== undefined &&
      !joins(text, inner, i, evaluates)
    ) {
      severalWords(next, evaluates, draft);
      i += 1;
    } else if (text === "-v" && next !== undefined) {
      if (!PLAIN_NAME.test(textOf(next) ?? ""))
        draft.lifts.push(`-v ${next.text} of ${draft.form} is evaluated`);
      i += 1;
    } else if (text === null || !JOINS.has(text)) {
      severalWords(word, evaluates, draft);
      // Alone in its expression it is text; beside another word it could be the operator `-v`.
      if (
        !evaluates &&
        text === null &&
        inner.length > 1 &&
        next !== undefined &&
        !JOINS.has(operator)
      )
        draft.lifts.push(`${word.text} may be an operator of ${draft.form}`);
    }
  }
}

/** `-a` and `-o` join two expressions, except at the begin of one; `[[` has other words for that. */
function joins(text: string, words: readonly Word[], at: number, evaluates: boolean): boolean {
  if (evaluates || (text !== "-a" && text !== "-o")) return false;
  return at > 0 && !["!", "("].includes(textOf(words[at - 1]) ?? "");
}

/** A word that may become several can bring operators of its own; `[[` does not split. */
function severalWords(word: Word, evaluates: boolean, draft: Draft): void {
  const { value } = word;
  const several = (value.kind === "unknown" || value.kind === "listed") && value.many;
  if (several && !evaluates) draft.lifts.push(`${word.text} may be several words of ${draft.form}`);
}

function mustBeNumber(word: Word, draft: Draft): void {
  const { value } = word;
  const texts =
    value.kind === "literal" ? [value.value] : value.kind === "oneOf" ? value.values : null;
  if (value.kind === "number" || texts?.every((text) => PLAIN_NUMBER.test(text))) return;
  draft.lifts.push(`${word.text} is evaluated by ${draft.form}`);
}

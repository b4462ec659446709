/** Arguments of a program that nobody has described: what in them names a path elsewhere is judged as a path. */

import type { Word } from "../shell/segment.ts";
import { type Draft, literal, reads, under } from "./draft.ts";
import { textOf } from "./spec.ts";

/** Absolute, below the home, or with a step up. */
const ELSEWHERE = /^[~/]|(?:^|\/)\.\.(?:\/|$)/;

/** Adds a read for every argument that could name something outside the folder the program starts in. */
export function judgeArguments(
  words: readonly Word[],
  draft: Draft,
  folder: Word | null = null,
): void {
  for (const word of words) {
    const text = textOf(word);
    if (text === null) {
      reads(draft, under(folder, word), "argument");
      continue;
    }
    // `--option=/path`, `-I/path` and plain `/path`, also as one of several or behind a name of its own.
    const value = text.startsWith("-") ? text.replace(/^--?[\w-]*?(?==|[~/]|\.\.)=?/, "") : text;
    for (const path of value.includes("://") ? [] : value.split(/[:,=;"']/))
      if (ELSEWHERE.test(path)) reads(draft, under(folder, literal(path)), "argument");
  }
}

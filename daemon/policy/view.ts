/** A segment as safety patterns, ceilings and rules look at it: verb and decoded words, whatever spelling they had. */
import type { Description } from "./catalogue/description.ts";
import { basename } from "./paths.ts";
import type { Located } from "./scope.ts";
import type { Segment, Word } from "./shell/segment.ts";

/** One way the words of a segment may read. null stands for a word whose text is not known. */
export type Argv = readonly (string | null)[];

export interface SegmentView {
  readonly segment: Segment;
  readonly segments: readonly Segment[];
  readonly description: Description;
  /** Plain name of the program: `/bin/rm` and `rm` are the same, `./rm` keeps its path. "" when there is none or it is not known. */
  readonly verb: string;
  /** All ways the words may read, the verb first. Never empty. */
  readonly argvs: readonly Argv[];
  /** What each use of the description touches, in the same order. */
  readonly located: readonly Located[];
  /** Every path of `located`, as written and where it leads. */
  readonly places: readonly Place[];
}

export interface Place {
  readonly path: string;
  readonly write: boolean;
  /** It lies in one of the scope roots: a project below /var/lib is a project and no part of the system. */
  readonly own: boolean;
}

/** A path and, when a link changed it, where it leads: both count. */
export function placesOf(located: readonly Located[]): readonly Place[] {
  const places: Place[] = [];
  for (const { touched } of located) {
    for (const { path, real, access, root } of touched) {
      const write = access === "write";
      const own = root !== null;
      places.push({ path, write, own });
      if (real !== undefined) places.push({ path: real, write, own });
    }
  }
  return places;
}

/** Alternatives that are looked at one by one; beyond it, a word with several values counts as not known. */
const ARGVS_MAX = 64;

const SYSTEM_BIN = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/;

/** The name a program is judged under. */
export function plainVerb(verb: string): string {
  return SYSTEM_BIN.test(verb) ? basename(verb) : verb;
}

/** All ways the words of a segment may read. A glob reads as its pattern. */
export function argvsOf(words: readonly Word[]): readonly Argv[] {
  let ways: (string | null)[][] = [[]];
  for (const { value } of words) {
    const several = value.kind === "oneOf" ? value.values : null;
    if (several !== null && several.length * ways.length <= ARGVS_MAX) {
      ways = several.flatMap((text) => ways.map((way) => [...way, text]));
      continue;
    }
    const text =
      value.kind === "literal" ? value.value : value.kind === "glob" ? value.pattern : null;
    for (const way of ways) way.push(text);
  }
  return ways;
}

/** Words before `--`. */
function beforeDashes(argv: Argv): Argv {
  const end = argv.indexOf("--");
  return end < 0 ? argv : argv.slice(0, end);
}

/** Whether a short option is among the words: alone or in a cluster. */
export function short(argv: Argv, letters: string): boolean {
  return beforeDashes(argv).some(
    (word) =>
      word !== null && /^-[A-Za-z0-9]/.test(word) && [...letters].some((l) => word.includes(l, 1)),
  );
}

/** Whether a long option is among the words: whole, abbreviated as GNU allows, or with `=value`. */
export function long(argv: Argv, ...names: string[]): boolean {
  return beforeDashes(argv).some((word) => {
    if (word === null || !word.startsWith("--") || word.length < 3) return false;
    const name = word.split("=", 1)[0] as string;
    return names.some((full) => full === name || (name.length >= 4 && full.startsWith(name)));
  });
}

/** Words that are no options, after the verb: everything after `--` and what does not begin with `-`. */
export function operands(argv: Argv): Argv {
  const end = argv.indexOf("--");
  const head = (end < 0 ? argv.slice(1) : argv.slice(1, end)).filter(
    (word) => word === null || !word.startsWith("-") || word === "-",
  );
  return end < 0 ? head : [...head, ...argv.slice(end + 1)];
}

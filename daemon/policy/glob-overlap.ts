/** Whether a wildcard in a command may stand for a path that a rule's glob names: the two walked together. Pure. */
import { normalise } from "./paths.ts";

/** What one place of a glob takes: a character, or characters without end. */
interface Place {
  readonly takes: (char: string) => boolean;
  /** It may be left out, and it may take more than one. */
  readonly any: boolean;
  /** So many places on it may go on as well. */
  readonly jump?: number;
  /** A wildcard, which in a shell takes no dot in front of a name. */
  readonly wild: boolean;
}

/** Both globs absolute. `pattern` is the shell's, `glob` the rule's, where `**` crosses folders. */
export function mayOverlap(pattern: string, glob: string): boolean {
  const folder = glob.endsWith("/**") ? [glob.slice(0, -3)] : [];
  const shell = placesOf(pattern, false);
  // Of the characters that neither spells, one stands for all.
  const characters = new Set([...pattern, ...glob, "/", "\0"]);
  return [glob, ...folder].some((each) => overlap(shell, placesOf(each, true), characters));
}

/** The pattern below a folder, `.` and `..` resolved; null where a wildcard stands before a `..`. */
export function absolutePattern(pattern: string, cwd: string): string | null {
  const whole = pattern.startsWith("/") ? pattern : `${cwd}/${pattern}`;
  return /[*?[].*\/\.\.(?:\/|$)/.test(whole) ? null : normalise(whole);
}

function placesOf(glob: string, deep: boolean): readonly Place[] {
  const places: Place[] = [];
  const put = (takes: Place["takes"], any: boolean, wild: boolean) =>
    places.push({ takes, any, wild });
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at] as string;
    if (char === "*") {
      const double = deep && glob[at + 1] === "*";
      while (glob[at + 1] === "*") at++;
      if (double && glob[at + 1] === "/") {
        // No folder at all, or any number of them with their slashes.
        places.push({ takes: () => false, any: true, wild: true, jump: 3 });
        put(() => true, true, true);
      } else put((each) => double || each !== "/", true, true);
    } else if (char === "?") put((each) => each !== "/", false, true);
    else if (char === "[" && glob.indexOf("]", at + 2) > 0) {
      // Any character: this is for asking and denying.
      put((each) => each !== "/", false, true);
      at = glob.indexOf("]", at + 2);
    } else put((each) => each === char, false, false);
  }
  return places;
}

/** In a name, at its beginning, or there behind a wildcard that took nothing: `*.x` is no `.x` either. */
const [WITHIN, BEGINS, LEFT_OUT] = [0, 1, 2];

/** Whether some text is taken by both: all pairs of places that one text leads to, each looked at once. */
function overlap(
  shell: readonly Place[],
  rule: readonly Place[],
  characters: ReadonlySet<string>,
): boolean {
  const width = rule.length + 1;
  const seen = new Uint8Array((shell.length + 1) * width * 3);
  const open: [at: number, other: number, where: number][] = [];
  const enter = (at: number, other: number, where: number): void => {
    const index = (at * width + other) * 3 + where;
    if (seen[index] === 1) return;
    seen[index] = 1;
    open.push([at, other, where]);
  };
  enter(0, 0, BEGINS);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, other, where] = next;
    const [one, two] = [shell[at], rule[other]];
    if (one === undefined && two === undefined) return true;
    if (one?.any) enter(at + 1, other, where === BEGINS ? LEFT_OUT : where);
    if (two?.any) enter(at, other + 1, where);
    if (two?.jump !== undefined) enter(at, other + two.jump, where);
    if (one === undefined || two === undefined) continue;
    for (const char of characters) {
      if (!one.takes(char) || !two.takes(char)) continue;
      if (char === "." && (where === LEFT_OUT || (where === BEGINS && one.wild))) continue;
      enter(one.any ? at : at + 1, two.any ? other : other + 1, char === "/" ? BEGINS : WITHIN);
    }
  }
  return false;
}

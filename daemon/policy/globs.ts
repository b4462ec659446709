/** Matching names against shell globs and path globs, in time that no pattern can blow up. */

/**
 * `exact` says yes only to what surely matches (for allowing); without it brackets count as any character and extended
 * globs as anything (for asking). `wide`: `*` also crosses `/`.
 */
interface GlobOptions {
  readonly exact?: boolean;
  readonly wide?: boolean;
  readonly ignoreCase?: boolean;
}

type Token =
  /** One character out of those that the test accepts. */
  | { readonly kind: "one"; readonly accepts: (char: string) => boolean }
  /** Any number of characters: `*`, or `**` when `slash`. */
  | { readonly kind: "many"; readonly slash: boolean }
  /** `**` before a slash: no folder, or any number of them with their slashes. */
  | { readonly kind: "folders" };

const cache = new Map<string, readonly Token[]>();
/** Globs come from commands, so the cache is emptied when it is full rather than left to grow. */
const CACHE_MAX = 1_000;

/** Whether a name matches a glob. Patterns come from agents, so this walks states and never backtracks. */
export function matches(glob: string, text: string, options: GlobOptions = {}): boolean {
  const { exact = false, wide = false, ignoreCase = false } = options;
  if (ignoreCase) return matches(glob.toLowerCase(), text.toLowerCase(), { exact, wide });
  if (!/[*?[(]/.test(glob)) return glob === text;
  if (!exact && /[?*+@!]\(/.test(glob)) return true;
  return run(tokensOf(glob, exact, wide), text);
}

function tokensOf(glob: string, exact: boolean, wide: boolean): readonly Token[] {
  const key = `${exact ? 1 : 0}${wide ? 1 : 0}${glob}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  if (cache.size >= CACHE_MAX) cache.clear();
  const tokens = parse(glob, exact, wide);
  cache.set(key, tokens);
  return tokens;
}

function parse(glob: string, exact: boolean, wide: boolean): readonly Token[] {
  const any = (char: string): boolean => wide || char !== "/";
  const tokens: Token[] = [];
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i] as string;
    if (char === "*") {
      const double = glob[i + 1] === "*";
      while (glob[i + 1] === "*") i++;
      if (double && glob[i + 1] === "/") {
        tokens.push({ kind: "folders" });
        i++;
      } else tokens.push({ kind: "many", slash: double || wide });
    } else if (char === "?") tokens.push({ kind: "one", accepts: any });
    else if (char === "[" && glob.indexOf("]", i + 2) > 0) {
      const end = glob.indexOf("]", i + 2);
      tokens.push({ kind: "one", accepts: exact ? bracket(glob.slice(i + 1, end)) : any });
      i = end;
    } else tokens.push({ kind: "one", accepts: (each) => each === char });
  }
  return tokens;
}

/** The inside of a bracket; one that holds more than plain characters and ranges matches nothing. */
function bracket(inside: string): (char: string) => boolean {
  const negated = inside.startsWith("!") || inside.startsWith("^");
  const members = negated ? inside.slice(1) : inside;
  if (!/^[\w .,@%+=~-]+$/.test(members)) return () => false;
  const holds = (char: string): boolean => {
    for (let i = 0; i < members.length; i++) {
      const from = members[i] as string;
      if (members[i + 1] === "-" && i + 2 < members.length) {
        if (from <= char && char <= (members[i + 2] as string)) return true;
        i += 2;
      } else if (from === char) return true;
    }
    return false;
  };
  return (char) => char !== "/" && holds(char) !== negated;
}

/** Walks all states at once: at most one step for each pair of token and character. */
function run(tokens: readonly Token[], text: string): boolean {
  const end = tokens.length;
  let states = new Set<number>();
  /** Inside a `folders` token, waiting for its slash. */
  let inside = new Set<number>();
  const enter = (state: number, into: Set<number>, waiting: Set<number>): void => {
    for (let at = state; !into.has(at); at++) {
      into.add(at);
      const token = tokens[at];
      if (token === undefined || token.kind === "one") return;
      if (token.kind === "folders") waiting.add(at);
    }
  };
  enter(0, states, inside);
  for (const char of text) {
    const next = new Set<number>();
    const waiting = new Set<number>();
    for (const at of states) {
      const token = tokens[at];
      if (token?.kind === "one" && token.accepts(char)) enter(at + 1, next, waiting);
      else if (token?.kind === "many" && (token.slash || char !== "/")) enter(at, next, waiting);
    }
    for (const at of inside) {
      waiting.add(at);
      if (char === "/") enter(at + 1, next, waiting);
    }
    if (next.size === 0 && waiting.size === 0) return false;
    states = next;
    inside = waiting;
  }
  return states.has(end);
}

/** Whether any glob of the list matches a branch name; `*` crosses `/`, as people mean it in `release/*`. */
export function matchesBranch(name: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matches(glob, name, { wide: true }));
}

/** Whether a path surely matches an admin's path glob; `dir/**` covers the folder and everything below it. */
export function coversPath(glob: string, path: string): boolean {
  return (
    matches(glob, path, { exact: true }) ||
    (glob.endsWith("/**") && matches(glob.slice(0, -3), path, { exact: true }))
  );
}

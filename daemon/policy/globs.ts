/** Matching names against shell globs and path globs, without running anything. */

/**
 * `exact` says yes only to what surely matches (for allowing); without it brackets count as any character and extended
 * globs as anything (for asking). `wide`: `*` also crosses `/`.
 */
interface GlobOptions {
  readonly exact?: boolean;
  readonly wide?: boolean;
  readonly ignoreCase?: boolean;
}

const cache = new Map<string, RegExp>();
/** Globs come from commands, so the cache is emptied when it is full rather than left to grow. */
const CACHE_MAX = 1_000;

/** Whether a name matches a glob. */
export function matches(glob: string, text: string, options: GlobOptions = {}): boolean {
  if (!/[*?[(]/.test(glob)) {
    return options.ignoreCase ? glob.toLowerCase() === text.toLowerCase() : glob === text;
  }
  const key = `${options.exact ? 1 : 0}${options.wide ? 1 : 0}${options.ignoreCase ? 1 : 0}${glob}`;
  let regex = cache.get(key);
  if (regex === undefined) {
    if (cache.size >= CACHE_MAX) cache.clear();
    regex = compile(glob, options);
    cache.set(key, regex);
  }
  return regex.test(text);
}

function compile(glob: string, options: GlobOptions): RegExp {
  try {
    return new RegExp(`^${translate(glob, options)}$`, options.ignoreCase ? "i" : "");
  } catch {
    // A range such as [z-a]: bash matches nothing with it.
    return options.exact ? /[^\s\S]/ : /^/;
  }
}

function translate(glob: string, { exact = false, wide = false }: GlobOptions): string {
  if (!exact && /[?*+@!]\(/.test(glob)) return "[\\s\\S]*";
  const one = wide ? "[\\s\\S]" : "[^/]";
  let out = "";
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i] as string;
    if (char === "*" && glob[i + 1] === "*") {
      while (glob[i + 1] === "*") i++;
      if (glob[i + 1] === "/") {
        out += "(?:[\\s\\S]*/)?";
        i++;
      } else out += "[\\s\\S]*";
    } else if (char === "*") out += `${one}*`;
    else if (char === "?") out += one;
    else if (char === "[" && glob.indexOf("]", i + 2) > 0) {
      const end = glob.indexOf("]", i + 2);
      out += exact ? bracket(glob.slice(i + 1, end)) : one;
      i = end;
    } else out += /[.+^${}()|[\]\\/]/.test(char) ? `\\${char}` : char;
  }
  return out;
}

/** The inside of a bracket as a class; one that holds more than plain characters and ranges matches nothing. */
function bracket(inside: string): string {
  const negated = inside.startsWith("!") || inside.startsWith("^");
  const members = negated ? inside.slice(1) : inside;
  if (!/^[\w .,@%+=~-]+$/.test(members)) return "[^\\s\\S]";
  return `(?!/)[${negated ? "^" : ""}${members.replace(/^-|-$/g, "\\-")}]`;
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

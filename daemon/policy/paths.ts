/** Paths as text: normalising, joining and containment by component, and where known links lead. */

/** `/a/./b//../c` → `/a/c`. The result is absolute and has no trailing slash. */
export function normalise(path: string): string {
  if (!/\/\.{0,2}(?:\/|$)/.test(path) && path.startsWith("/")) return path;
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") kept.pop();
    else kept.push(part);
  }
  return `/${kept.join("/")}`;
}

/** An absolute, normalised path from a path as written and the folder it is relative to. */
export function absolute(path: string, cwd: string): string {
  return normalise(path.startsWith("/") ? path : `${cwd}/${path}`);
}

/** Whether a normalised path is the root or lies below it: by component, so `/a-old` is not in `/a`. */
export function isWithin(path: string, root: string): boolean {
  return path === root || root === "/" || (path.startsWith(root) && path[root.length] === "/");
}

/** Last component. */
export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export type RealPaths = Readonly<Record<string, string | null>> | undefined;

/** Where a path leads. `missing`: facts say that some part of it does not exist. */
export interface Resolved {
  readonly lexical: string;
  readonly real: string;
  readonly missing: boolean;
}

/**
 * Follows a path as the kernel does: component by component, through every link that the facts name, with `..` taken
 * from where a link leads and not from where it stands. A path the facts do not name is taken as no link.
 */
export function resolve(path: string, cwd: string, facts: RealPaths): Resolved {
  const joined = path.startsWith("/") ? path : `${cwd}/${path}`;
  const lexical = normalise(joined);
  if (facts === undefined) return { lexical, real: lexical, missing: false };
  let real = "";
  let written = "";
  let missing = false;
  for (const part of joined.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      real = real.slice(0, Math.max(0, real.lastIndexOf("/")));
      written = written.slice(0, Math.max(0, written.lastIndexOf("/")));
      continue;
    }
    real = `${real}/${part}`;
    written = `${written}/${part}`;
    const leads = Object.hasOwn(facts, written)
      ? facts[written]
      : Object.hasOwn(facts, real)
        ? facts[real]
        : undefined;
    if (leads === null) missing = true;
    else if (leads !== undefined) real = leads === "/" ? "" : normalise(leads);
  }
  return { lexical, real: real === "" ? "/" : real, missing };
}

/** Where a path leads when its links are followed as the sandbox would follow them. Pure: the disk is an argument. */

/** What stands at a path. `unknown`: it could not be looked at. */
export type Looked =
  | { readonly kind: "folder" }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" }
  | { readonly kind: "missing" }
  | { readonly kind: "unknown" };

/** Called with absolute paths strictly below a root only. */
export type Look = (path: string) => Looked;

export interface Resolution {
  /** Where it leads; for a loop, the link at which it was given up. */
  readonly path: string;
  /** `unknown`: it lies outside the roots, where the host's files are not the sandbox's. */
  readonly found: "yes" | "no" | "unknown" | "loop";
  /** Links followed on the way. */
  readonly links: number;
  /** On the way it stood outside every root and every folder above one. */
  readonly left: boolean;
}

/** As the kernel counts (MAXSYMLINKS). */
const LINKS_MAX = 40;

/**
 * Follows `path` (absolute, `..` allowed) one component at a time. `roots` are what is mounted at the same place inside
 * and outside (absolute, real). Folders above a root are plain folders in the sandbox; everything else outside the roots
 * is the image's, so the host is not looked at there: the path is then given as it is spelled from that point on.
 */
export function resolvePath(path: string, roots: readonly string[], look: Look): Resolution {
  const pending = path.split("/").reverse();
  let current = "";
  let links = 0;
  let found: "yes" | "no" | "unknown" = "yes";
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      current = current.slice(0, Math.max(current.lastIndexOf("/"), 0));
      continue;
    }
    const next = `${current}/${name}`;
    if (isRootOrAbove(next, roots)) {
      current = next;
      continue;
    }
    if (!isWithin(next, roots)) {
      return { path: spelled(next, pending.reverse(), roots), found: "unknown", links, left: true };
    }
    const looked = look(next);
    if (looked.kind === "link") {
      links += 1;
      if (links > LINKS_MAX) return { path: next, found: "loop", links, left: false };
      if (looked.target.startsWith("/")) current = "";
      pending.push(...looked.target.split("/").reverse());
      continue;
    }
    current = next;
    // What is missing may be there a moment later: the rest is still followed, as if it were a folder.
    if (looked.kind === "missing") found = "no";
    else if (looked.kind === "unknown" && found === "yes") found = "unknown";
    else if (looked.kind === "other" && pending.some((part) => part !== "")) found = "no";
  }
  return { path: current || "/", found, links, left: false };
}

/** Whether a path is one of the roots or lies in one. Component-wise: `/a-old` is not in `/a` (A2). */
export function isWithin(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(root === "/" ? "/" : `${root}/`));
}

function isRootOrAbove(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => root === path || root.startsWith(`${path}/`));
}

/** The lexical end of a path that left the roots; never one that spells its way back in, since that is not sure. */
function spelled(outside: string, rest: readonly string[], roots: readonly string[]): string {
  const parts = outside.split("/");
  for (const part of rest) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 1) parts.pop();
  }
  const path = parts.join("/") || "/";
  return isWithin(path, roots) ? outside : path;
}

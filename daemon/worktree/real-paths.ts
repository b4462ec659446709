/** Real-path facts for the policy: where the paths of a command lead, links followed as the sandbox would see them. */
import { lstatSync, readlinkSync } from "node:fs";
import { RecintoError } from "../errors.ts";
import { REAL_PATHS_MAX } from "../limits.ts";
import { type BytePath, fromBytePath, sysPath, toBytePath } from "./byte-path.ts";
import { type Look, type Looked, resolvePath } from "./resolve-path.ts";

/**
 * For each absolute path: where it leads, or null when nothing is there (or only a loop) and no link is on the way. A
 * missing file behind a link has the place where it would be made. `roots` are the folders that the sandbox has at the
 * same place as the host (absolute, real); a path that leaves them is the image's and given as spelled from there.
 * Looks with lstat and readlink only, opens nothing. The answer holds for the moment it is given: what changes before
 * the command starts is the container's to stop. Throws `bad-request` over REAL_PATHS_MAX.
 */
export function realPathFacts(
  paths: Iterable<string>,
  { roots }: { readonly roots: readonly string[] },
): Record<string, string | null> {
  const look = cachedLook();
  const byteRoots = roots.map(toBytePath);
  const facts = new Map<string, string | null>();
  for (const path of paths) {
    if (facts.size >= REAL_PATHS_MAX) {
      throw new RecintoError("bad-request", `more than ${REAL_PATHS_MAX} paths in one command`, {
        hint: "split the command",
      });
    }
    if (!facts.has(path)) facts.set(path, realPath(path, byteRoots, look));
  }
  return Object.fromEntries(facts);
}

function realPath(path: string, roots: readonly BytePath[], look: Look): string | null {
  // No file can have such a name, and node would throw at the system call.
  if (path.includes("\0") || !path.startsWith("/")) return null;
  const bytes = toBytePath(path);
  const resolved = resolvePath(bytes, roots, look);
  if (resolved.found === "loop") return null;
  if (resolved.found === "no" && resolved.links === 0 && resolved.path === bytes) return null;
  return fromBytePath(resolved.path as BytePath);
}

/** One look at each path, so that the paths of one command are judged against one state of the disk. */
export function cachedLook(): Look {
  const seen = new Map<string, Looked>();
  return (path) => {
    const known = seen.get(path);
    if (known !== undefined) return known;
    const looked = lookOnDisk(path as BytePath);
    seen.set(path, looked);
    return looked;
  };
}

function lookOnDisk(path: BytePath): Looked {
  try {
    const stat = lstatSync(sysPath(path), { throwIfNoEntry: false });
    if (stat === undefined) return { kind: "missing" };
    if (stat.isSymbolicLink()) {
      return { kind: "link", target: readlinkSync(sysPath(path), "latin1") };
    }
    return { kind: stat.isDirectory() ? "folder" : "other" };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return { kind: code === "ENOENT" || code === "ENOTDIR" ? "missing" : "unknown" };
  }
}

/** Paths of a request: as text made absolute and plain, with the folders that hold them. */
import { posix } from "node:path";
import { RecintoError } from "../../errors.ts";
import type { FilePath } from "../../policy/evaluate-file.ts";

/** Linux's PATH_MAX, its closing NUL included. */
const PATH_BYTES_MAX = 4_095;

/** Absolute and lexically normalised. Throws `bad-request`, `bad-utf8`. */
export function requestedPath(path: string, worktree: string): string {
  if (path.includes("\0") || /\p{Surrogate}/u.test(path)) {
    throw new RecintoError("bad-utf8", "the path has a NUL or half a surrogate pair");
  }
  if (path === "") throw new RecintoError("bad-request", "the path is empty");
  const absolute = posix.resolve(worktree, path);
  if (Buffer.byteLength(absolute) > PATH_BYTES_MAX) {
    throw new RecintoError("bad-request", `the path is longer than ${PATH_BYTES_MAX} bytes`);
  }
  return absolute;
}

/** The thing itself, whose content is used: a link leads to it. */
export function content(path: string, access: FilePath["access"], tree = false): FilePath {
  return { path, access, tree };
}

/** An entry by its name in the folder that holds it: what is judged first is where that folder really is. */
export function entry(path: string, access: FilePath["access"], tree = false): readonly FilePath[] {
  return [
    { path: posix.dirname(path), access: "read", way: true },
    { path, access, tree },
  ];
}

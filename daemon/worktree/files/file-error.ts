/** What the kernel said about a file, as an error that a client can act on. */
import { type ErrorCode, RecintoError } from "../../errors.ts";
import { type BytePath, fromBytePath } from "../byte-path.ts";

const KINDS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ["file-not-found", "is not there"],
  EEXIST: ["file-exists", "is there already"],
  ENOTEMPTY: ["file-exists", "is a folder that is not empty"],
  ENOTDIR: ["file-kind", "is not a folder, or lies below something that is none"],
  EISDIR: ["file-kind", "is a folder"],
  ENXIO: ["file-kind", "is a FIFO, a socket or a device"],
  EINVAL: ["file-kind", "cannot be moved there"],
  EBUSY: ["file-kind", "is in use by the system"],
  ELOOP: ["file-changed", "goes through a link that was not there when it was judged"],
  EXDEV: ["file-changed", "leads out of the worktree"],
  EAGAIN: ["file-changed", "was moved about while it was opened"],
  EACCES: ["file-denied", "may not be reached or changed by the worktree's owner"],
  EPERM: ["file-denied", "may not be changed by the worktree's owner"],
  EROFS: ["file-denied", "is on a read-only file system"],
  ENAMETOOLONG: ["bad-request", "has too long a name"],
  EILSEQ: ["bad-request", "has a name that this file system does not take"],
  ENOSPC: ["file-failed", "does not fit: no space left"],
  EDQUOT: ["file-failed", "does not fit: the owner's quota is used up"],
  EFBIG: ["file-too-large", "would be larger than the file system allows"],
};

/** `path` as clients call it. */
export function fileError(errno: string, path: string): RecintoError {
  const [code, what] = KINDS[errno] ?? ["file-failed", `could not be used (${errno})`];
  return new RecintoError(code, `${shown(path)} ${what}`, { details: { errno } });
}

/** The same for an error of node's own file functions; anything else is passed on. */
export function fromNode(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return typeof code === "string" && syscall !== undefined ? fileError(code, path) : error;
}

/** Throws when there is an errno. */
export function check(errno: string | null, path: string): void {
  if (errno !== null) throw fileError(errno, path);
}

export function shown(path: string): string {
  return JSON.stringify(fromBytePath(path as BytePath));
}

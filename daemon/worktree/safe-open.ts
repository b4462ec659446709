/** Opening files of a worktree so that no link, swapped in at whatever moment, can lead the daemon out of it. */
import { constants } from "node:fs";
import koffi from "koffi";
import { RecintoError } from "../errors.ts";
import { toBytePath } from "./byte-path.ts";

/** The number of openat2 is the same on every architecture (it came after the numbers were unified). */
const SYS_OPENAT2 = 437;
const AT_FDCWD = -100;
const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_NO_SYMLINKS = 0x04;
const RESOLVE_BENEATH = 0x08;
const BENEATH = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
/** The kernel says EAGAIN when something was renamed meanwhile; whoever renames all the time gets a refusal. */
const TRIES_MAX = 64;

// The process has libc loaded already, glibc or musl: no name of a file to guess.
const libc = koffi.load(null);
const syscall = libc.func(
  "long syscall(long number, int folder, void *path, void *how, size_t size)",
);

/** What opening yields: a descriptor, or the errno name of why not (ENOENT, ELOOP, EXDEV for a way out, …). */
export type Opened =
  | { readonly fd: number; readonly errno?: undefined }
  | { readonly fd?: undefined; readonly errno: string };

/** The root itself, as a handle for `openBeneath`: no component of its path may be a link. */
export function openRoot(root: string): Opened {
  const flags = O_PATH | constants.O_DIRECTORY;
  return openat2(AT_FDCWD, bytesOf(toBytePath(root)), flags, RESOLVE_NO_SYMLINKS);
}

/** Opens `path` (bytes, relative) below the folder of `rootFd`, no link followed. The caller closes the descriptor. */
export function openBeneath(rootFd: number, path: string, flags: number): Opened {
  return openat2(rootFd, bytesOf(path), flags, BENEATH);
}

/** Makes a file of one name in an open folder, for writing; whatever stands there already is EEXIST, a link too. */
export function createIn(folderFd: number, name: string, mode: number): Opened {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return openat2(folderFd, bytesOf(name), flags, BENEATH, mode);
}

/** Opens a folder below the root as a place to look from (O_PATH), no link followed. "" is the root. */
export function openFolder(rootFd: number, path: string): Opened {
  const flags = O_PATH | constants.O_DIRECTORY;
  return openBeneath(rootFd, path === "" ? "." : path, flags);
}

/** Opens a file below the root for reading, no link followed, never blocking on a FIFO. */
export function openFile(rootFd: number, path: string): Opened {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  return openBeneath(rootFd, path, flags);
}

function openat2(
  folder: number,
  path: Buffer,
  flags: number,
  resolve: number,
  mode?: number,
): Opened {
  const how = Buffer.alloc(24);
  how.writeBigUInt64LE(BigInt(flags | O_CLOEXEC), 0);
  how.writeBigUInt64LE(BigInt(mode ?? 0), 8);
  how.writeBigUInt64LE(BigInt(resolve), 16);
  for (let tries = 1; ; tries++) {
    const fd = syscall(SYS_OPENAT2, folder, path, how, how.length) as number;
    if (fd >= 0) return { fd };
    const errno = errnoName(koffi.errno());
    // Where something is made EPERM may also be the file system's word (an immutable folder).
    if (errno === "ENOSYS" || (errno === "EPERM" && mode === undefined)) {
      throw new RecintoError("kernel-unfit", `openat2 is not available (${errno})`);
    }
    if ((errno !== "EAGAIN" && errno !== "EINTR") || tries >= TRIES_MAX) return { errno };
  }
}

function bytesOf(path: string): Buffer {
  return Buffer.from(`${path}\0`, "latin1");
}

function errnoName(errno: number): string {
  const known = Object.entries(koffi.os.errno).find(([, value]) => value === errno);
  return known?.[0] ?? `errno ${errno}`;
}

/** Opening files of a worktree so that no link, swapped in at whatever moment, can lead the daemon out of it. */
import { createHash } from "node:crypto";
import { close, closeSync, constants, fstatSync, read } from "node:fs";
import { promisify } from "node:util";
import koffi from "koffi";
import { RecintoError } from "../errors.ts";
import { HASH_FILE_BYTES_MAX } from "../limits.ts";
import { toBytePath } from "./byte-path.ts";
import { cachedLook } from "./real-paths.ts";
import { isWithin, resolvePath } from "./resolve-path.ts";

/** The number of openat2 is the same on every architecture (it came after the numbers were unified). */
const SYS_OPENAT2 = 437;
const AT_FDCWD = -100;
const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_NO_SYMLINKS = 0x04;
const RESOLVE_BENEATH = 0x08;
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
/** The kernel says EAGAIN when something was renamed meanwhile; whoever renames all the time gets a refusal. */
const TRIES_MAX = 64;
const CHUNK_BYTES = 256 * 1024;

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

/**
 * Opens `path` (bytes, relative) below the folder of `rootFd`, following links only while they stay below it, or no link
 * at all with `links: "refuse"`. The caller closes the descriptor.
 */
export function openBeneath(
  rootFd: number,
  path: string,
  flags: number,
  { links }: { readonly links: "inside" | "refuse" },
): Opened {
  const resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return openat2(
    rootFd,
    bytesOf(path),
    flags,
    links === "refuse" ? resolve | RESOLVE_NO_SYMLINKS : resolve,
  );
}

/** Makes a file of one name in an open folder, for writing; whatever stands there already is EEXIST, a link too. */
export function createIn(folderFd: number, name: string, mode: number): Opened {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  return openat2(folderFd, bytesOf(name), flags, resolve, mode);
}

/** Opens a folder below the root as a place to look from (O_PATH), no link followed. "" is the root. */
export function openFolder(rootFd: number, path: string): Opened {
  const flags = O_PATH | constants.O_DIRECTORY;
  return openBeneath(rootFd, path === "" ? "." : path, flags, { links: "refuse" });
}

/** Opens a file below the root for reading, never blocking on a FIFO. */
export function openFile(rootFd: number, path: string, links: "inside" | "refuse"): Opened {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  return openBeneath(rootFd, path, flags, { links });
}

/**
 * SHA-256 (hex) of a file below `root`, which an approval is bound to. null: there is no regular file that can be reached
 * without leaving the root. A file over HASH_FILE_BYTES_MAX yields `stat:` and what its owner cannot forge (inode and
 * change time). Absolute links back into the root are followed too, as the sandbox would.
 */
export async function hashFile(root: string, relPath: string): Promise<string | null> {
  if (relPath.includes("\0")) return null;
  const rootBytes = toBytePath(root);
  const { path } = resolvePath(`${rootBytes}/${toBytePath(relPath)}`, [rootBytes], cachedLook());
  if (path === rootBytes || !isWithin(path, [rootBytes])) return null;
  const folder = openRoot(root);
  if (folder.fd === undefined) return null;
  const file = openFile(folder.fd, path.slice(rootBytes.length + 1), "inside");
  closeSync(folder.fd);
  if (file.fd === undefined) return null;
  try {
    const stat = fstatSync(file.fd, { bigint: true });
    if (!stat.isFile()) return null;
    if (stat.size > BigInt(HASH_FILE_BYTES_MAX)) {
      return `stat:${stat.dev}:${stat.ino}:${stat.size}:${stat.ctimeNs}`;
    }
    return await hashDescriptor(file.fd);
  } finally {
    await promisify(close)(file.fd);
  }
}

async function hashDescriptor(fd: number): Promise<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const readChunk = promisify(read);
  // A file that grows while it is read must not keep the daemon here.
  for (let position = 0; position <= HASH_FILE_BYTES_MAX; ) {
    const { bytesRead } = await readChunk(fd, chunk, 0, chunk.length, position);
    if (bytesRead === 0) break;
    hash.update(chunk.subarray(0, bytesRead));
    position += bytesRead;
  }
  return hash.digest("hex");
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

/** Looking at files below a root: one entry, the entries of a folder page by page, the bytes of a file. */
import { createHash } from "node:crypto";
import {
  type BigIntStats,
  close,
  closeSync,
  fstatSync,
  lstatSync,
  read,
  readdirSync,
  readlinkSync,
} from "node:fs";
import { promisify } from "node:util";
import { RecintoError } from "../../errors.ts";
import { FILE_CHUNK_BYTES, FILE_FOLDER_NAMES_MAX } from "../../limits.ts";
import { type BytePath, fromBytePath } from "../byte-path.ts";
import { fileError, fromNode, shown } from "./file-error.ts";
import { beside, type FileRoot } from "./file-root.ts";

export type EntryKind = "file" | "folder" | "link" | "fifo" | "socket" | "device";

export interface FileEntry {
  /** Last name; bytes that are no UTF-8 as `\xNN`, and then the entry cannot be named in a request. */
  readonly name: string;
  readonly kind: EntryKind;
  /** Bytes; of a link: of its text. */
  readonly size: number;
  /** Permissions in octal, `644`. */
  readonly mode: string;
  readonly mtimeMs: number;
  readonly uid: number;
  readonly gid: number;
  /** Text of a link; it is not followed. */
  readonly target?: string;
  /** SHA-256 of the content, hex, where it was asked for. */
  readonly sha256?: string;
}

export interface FolderPage {
  readonly entries: readonly FileEntry[];
  /** Names in the folder, on all pages. */
  readonly total: number;
  /** Pass it as `after` for the next page; null: this was the last one. */
  readonly next: string | null;
}

const closeFile = promisify(close);
const readFile = promisify(read);

export function statEntry(root: FileRoot, path: string): FileEntry {
  if (path === "") {
    const fd = root.folder("");
    try {
      return entryOf(root.path.slice(root.path.lastIndexOf("/") + 1), statOf(fd), undefined);
    } finally {
      closeSync(fd);
    }
  }
  return root.within(path, (folder, name) => lookAt(folder, name, path));
}

function statOf(fd: number): BigIntStats {
  return fstatSync(fd, { bigint: true });
}

/** Sorted by the bytes of the names; those after `after`, at most `limit`. */
export function listFolder(
  root: FileRoot,
  path: string,
  after: string | undefined,
  limit: number,
): FolderPage {
  const folder = root.folder(path);
  try {
    return root.act(() => {
      const names = namesIn(folder, path);
      const from = after === undefined ? 0 : names.findIndex((name) => name > after);
      const page = from < 0 ? [] : names.slice(from, from + limit);
      const entries = page.flatMap((name) => {
        const entry = tryLook(folder, name);
        return entry === null ? [] : [entry];
      });
      const more = from >= 0 && from + limit < names.length;
      return { entries, total: names.length, next: more ? (page.at(-1) ?? null) : null };
    });
  } finally {
    closeSync(folder);
  }
}

/** Names of an open folder as bytes, sorted. With the owner's rights. Throws `file-too-large` for too many. */
export function namesIn(folder: number, path: string): string[] {
  try {
    const names = readdirSync(beside(folder, "."), { encoding: "latin1" });
    if (names.length > FILE_FOLDER_NAMES_MAX) {
      throw new RecintoError("file-too-large", `${shown(path)} has ${names.length} entries`, {
        hint: "list it with a command in the sandbox",
      });
    }
    return names.sort();
  } catch (error) {
    throw fromNode(error, path);
  }
}

/** One entry of an open folder, a link as itself. */
export function lookAt(folder: number, name: string, path: string): FileEntry {
  try {
    const at = beside(folder, name);
    const stat = lstatSync(at, { bigint: true });
    const target = stat.isSymbolicLink() ? readlinkSync(at, "latin1") : undefined;
    return entryOf(name, stat, target);
  } catch (error) {
    throw fromNode(error, path);
  }
}

/** null: it went away meanwhile. */
function tryLook(folder: number, name: string): FileEntry | null {
  try {
    return lookAt(folder, name, name);
  } catch (error) {
    if (error instanceof RecintoError && error.code === "file-not-found") return null;
    throw error;
  }
}

function entryOf(name: string, stat: BigIntStats, target: string | undefined): FileEntry {
  return {
    name: fromBytePath(name as BytePath),
    kind: kindOf(stat),
    size: Number(stat.size),
    mode: (Number(stat.mode) & 0o7777).toString(8),
    mtimeMs: Math.floor(Number(stat.mtimeMs)),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    ...(target === undefined ? {} : { target: fromBytePath(target as BytePath) }),
  };
}

export function kindOf(stat: BigIntStats): EntryKind {
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "folder";
  if (stat.isSymbolicLink()) return "link";
  if (stat.isFIFO()) return "fifo";
  return stat.isSocket() ? "socket" : "device";
}

export interface FileContent {
  /** Of the whole file, bytes. */
  readonly size: number;
  readonly mode: string;
  readonly mtimeMs: number;
  /** First byte of the range, and how many there are. */
  readonly offset: number;
  readonly length: number;
  /** Exactly `length` bytes, or an error: `file-changed` when the file got shorter meanwhile. */
  readonly bytes: AsyncGenerator<Buffer, void>;
  /** To be called in any case, also when nothing was read. */
  close(): Promise<void>;
}

/** The file is open when this returns: what happens to its name afterwards does not change what is read. */
export function readContent(
  root: FileRoot,
  path: string,
  range: { readonly offset?: number; readonly length?: number } = {},
): FileContent {
  const { fd, stat } = root.content(path);
  const offset = Math.min(range.offset ?? 0, stat.size);
  const length = Math.min(range.length ?? Number.POSITIVE_INFINITY, stat.size - offset);
  return {
    size: stat.size,
    mode: (stat.mode & 0o7777).toString(8),
    mtimeMs: Math.floor(stat.mtimeMs),
    offset,
    length,
    bytes: bytesOf(fd, path, offset, length),
    close: () => closeFile(fd),
  };
}

/** Leaves the descriptor open. */
export async function* bytesOf(
  fd: number,
  path: string,
  offset: number,
  length: number,
): AsyncGenerator<Buffer, void> {
  for (let left = length, at = offset; left > 0; ) {
    const chunk = Buffer.allocUnsafe(Math.min(left, FILE_CHUNK_BYTES));
    const { bytesRead } = await readFile(fd, chunk, 0, chunk.length, at);
    if (bytesRead === 0) throw new RecintoError("file-changed", `${shown(path)} got shorter`);
    left -= bytesRead;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

/** Which file it was and how it stood, so that a later look can tell whether it is still the same. */
export interface Seen {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly mode: number;
}

export function seenOf(stat: BigIntStats): Seen {
  const { dev, ino, size, mtimeNs } = stat;
  return { dev, ino, size, mtimeNs, mode: Number(stat.mode) & 0o777 };
}

export function isSame(a: Seen, b: Seen): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

export interface Held {
  readonly seen: Seen;
  readonly sha256: string;
  /** Present when it was asked for. */
  readonly bytes?: Buffer;
}

/**
 * Reads a file whole: its hash, and its bytes when they are at most `keepMax`. null: there is none. Throws
 * `file-too-large`, `file-changed` when it was written meanwhile.
 */
export async function holdFile(
  root: FileRoot,
  path: string,
  keepMax?: number,
): Promise<Held | null> {
  let open: { readonly fd: number };
  try {
    open = root.content(path);
  } catch (error) {
    if (error instanceof RecintoError && error.code === "file-not-found") return null;
    throw error;
  }
  const before = statOf(open.fd);
  if (keepMax !== undefined && before.size > BigInt(keepMax)) {
    closeSync(open.fd);
    throw new RecintoError("file-too-large", `${shown(path)} has ${before.size} bytes`);
  }
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  let after = before;
  try {
    const size = Number(before.size);
    for (let at = 0; at < size; ) {
      const chunk = Buffer.allocUnsafe(Math.min(FILE_CHUNK_BYTES, size - at));
      const { bytesRead } = await readFile(open.fd, chunk, 0, chunk.length, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      hash.update(chunk.subarray(0, bytesRead));
      if (keepMax !== undefined) kept.push(chunk.subarray(0, bytesRead));
    }
    after = statOf(open.fd);
  } finally {
    await closeFile(open.fd);
  }
  const seen = seenOf(after);
  if (!isSame(seenOf(before), seen)) {
    throw new RecintoError("file-changed", `${shown(path)} was written while it was read`);
  }
  const bytes = keepMax === undefined ? {} : { bytes: Buffer.concat(kept) };
  return { seen, sha256: hash.digest("hex"), ...bytes };
}

/** Throws `file-not-found` when there is nothing to hold. */
export function mustHold<T>(held: T | null, path: string): T {
  if (held === null) throw fileError("ENOENT", path);
  return held;
}

/** Packs a folder into an archive as it is read: links as links, nothing followed, no more than the limits allow. */
import { closeSync, lstatSync, readlinkSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { RecintoError } from "../../errors.ts";
import { ARCHIVE_BYTES_MAX, FILE_TREE_DEPTH_MAX, FILE_TREE_ENTRIES_MAX } from "../../limits.ts";
import { type BytePath, fromBytePath, isUtf8 } from "../byte-path.ts";
import { openFolder } from "../safe-open.ts";
import { fileError, fromNode, shown } from "./file-error.ts";
import { beside, type FileRoot, openContent, opened } from "./file-root.ts";
import { bytesOf, namesIn } from "./reading.ts";
import { padding, TAR_END, type TarHead, writeHead } from "./tar-format.ts";

export interface Packing {
  readonly root: FileRoot;
  /** Relative to the root, as bytes; names in the archive are relative to it. */
  readonly path: string;
  readonly gzip: boolean;
  /** Whether the entry at this path (absolute, as text) is left out. */
  readonly leaveOut: (path: string) => boolean;
}

/** What went in and what did not, filled while the archive is read. */
export interface Packed {
  entries: number;
  bytes: number;
  /** Entries that were left out: not to be read, of no kind that an archive here has, or gone meanwhile. */
  leftOut: number;
}

/** Throws `file-…` when there is no such folder. The stream breaks off with `file-too-large` where a limit is reached. */
export function pack(packing: Packing): {
  readonly archive: AsyncGenerator<Uint8Array, void>;
  readonly packed: Packed;
} {
  const packed: Packed = { entries: 0, bytes: 0, leftOut: 0 };
  closeSync(packing.root.folder(packing.path));
  const plain = whole(packing, packed);
  return { archive: packing.gzip ? zipped(plain) : plain, packed };
}

async function* whole(packing: Packing, packed: Packed) {
  // Opened only now: a stream that is never begun would never close it.
  const folder = packing.root.folder(packing.path);
  try {
    yield* folderEntries(packing, packed, folder, "", 0);
    yield TAR_END;
  } finally {
    closeSync(folder);
  }
}

async function* zipped(plain: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const gzip = createGzip();
  // What fails in it fails the reading below.
  const fed = pipeline(Readable.from(plain), gzip).catch(() => undefined);
  try {
    yield* gzip as AsyncIterable<Buffer>;
  } finally {
    gzip.destroy();
    await fed;
  }
}

/** `below`: where the folder is, relative to the packed one. */
async function* folderEntries(
  packing: Packing,
  packed: Packed,
  folder: number,
  below: string,
  depth: number,
): AsyncGenerator<Uint8Array, void> {
  const { root, path, leaveOut } = packing;
  if (depth >= FILE_TREE_DEPTH_MAX) throw tooMuch(path, `deeper than ${depth} folders`);
  for (const name of root.act(() => namesIn(folder, path))) {
    const inside = below === "" ? name : `${below}/${name}`;
    const own = path === "" ? inside : `${path}/${inside}`;
    const absolute = `${root.path}/${fromBytePath(own as BytePath)}`;
    if (!isUtf8(name as BytePath) || leaveOut(absolute)) {
      packed.leftOut += 1;
      continue;
    }
    const before = packed.entries;
    try {
      yield* entry(packing, packed, { folder, name, inside, own, depth });
    } catch (error) {
      // What vanished, or became another thing, between two looks is no longer there to be packed.
      if (packed.entries > before || !isGone(error)) throw error;
      packed.leftOut += 1;
    }
  }
}

interface Place {
  readonly folder: number;
  readonly name: string;
  readonly inside: string;
  readonly own: string;
  readonly depth: number;
}

async function* entry(
  packing: Packing,
  packed: Packed,
  { folder, name, inside, own, depth }: Place,
): AsyncGenerator<Uint8Array, void> {
  const { root } = packing;
  const stat = root.act(() => {
    try {
      return lstatSync(beside(folder, name));
    } catch (error) {
      throw fromNode(error, own);
    }
  });
  const head = { mode: stat.mode & 0o777, mtimeMs: stat.mtimeMs, size: 0, target: "" };
  if (stat.isDirectory()) {
    const next = root.act(() => opened(openFolder(folder, name), own).fd);
    try {
      yield counted(packing, packed, { ...head, name: `${inside}/`, kind: "folder" });
      yield* folderEntries(packing, packed, next, inside, depth + 1);
    } finally {
      closeSync(next);
    }
  } else if (stat.isSymbolicLink()) {
    const target = root.act(() => readlinkSync(beside(folder, name), "latin1"));
    yield counted(packing, packed, { ...head, mode: 0o777, name: inside, kind: "link", target });
  } else if (stat.isFile()) {
    const { fd, stat: opening } = root.act(() => openContent(folder, name, own));
    const { size } = opening;
    try {
      packed.bytes += size;
      if (packed.bytes > ARCHIVE_BYTES_MAX) {
        throw tooMuch(packing.path, `more than ${ARCHIVE_BYTES_MAX} bytes`);
      }
      yield counted(packing, packed, { ...head, name: inside, kind: "file", size });
      yield* bytesOf(fd, own, 0, size);
      yield padding(size);
    } finally {
      closeSync(fd);
    }
  } else {
    packed.leftOut += 1;
  }
}

function counted({ path }: Packing, packed: Packed, head: TarHead): Buffer {
  packed.entries += 1;
  if (packed.entries > FILE_TREE_ENTRIES_MAX) {
    throw tooMuch(path, `more than ${FILE_TREE_ENTRIES_MAX} entries`);
  }
  return writeHead(head);
}

function isGone(error: unknown): boolean {
  return (
    error instanceof RecintoError &&
    ["file-not-found", "file-changed", "file-kind", "file-denied"].includes(error.code)
  );
}

function tooMuch(path: string, what: string): RecintoError {
  const { code } = fileError("EFBIG", path);
  return new RecintoError(code, `${shown(path)} holds ${what}`, {
    hint: "pack a folder further down, or make the archive with tar in the sandbox",
  });
}

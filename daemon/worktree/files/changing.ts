/** Changing entries below a root: folders made, entries removed, moved, appended to; no link is followed. */
import { createHash } from "node:crypto";
import { close, closeSync, constants, fstatSync, lstatSync, type Stats, write } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { RecintoError } from "../../errors.ts";
import { FILE_TREE_DEPTH_MAX, FILE_TREE_ENTRIES_MAX, FILE_TREE_SLICE } from "../../limits.ts";
import { openBeneath, openFolder } from "../safe-open.ts";
import { check, fileError, fromNode, shown } from "./file-error.ts";
import { beside, type FileRoot, opened, split } from "./file-root.ts";
import { namesIn } from "./reading.ts";
import { makeFolderAt, removeFileAt, removeFolderAt, renameAt } from "./system-calls.ts";

const FOLDER_MODE = 0o755;

/** `parents`: also what is missing above it, and no error when it is there. Returns how many folders were made. */
export function makeFolder(root: FileRoot, path: string, parents: boolean): number {
  if (!parents) {
    root.within(path, (folder, name) => check(makeFolderAt(folder, name, FOLDER_MODE), path));
    return 1;
  }
  let made = 0;
  const parts = path === "" ? [] : path.split("/");
  let folder = root.folder("");
  try {
    for (const [i, name] of parts.entries()) {
      const next = root.act(() => {
        const errno = makeFolderAt(folder, name, FOLDER_MODE);
        if (errno === null) made += 1;
        else if (errno !== "EEXIST") check(errno, path);
        return opened(openFolder(folder, name), parts.slice(0, i + 1).join("/")).fd;
      });
      closeSync(folder);
      folder = next;
    }
  } finally {
    closeSync(folder);
  }
  return made;
}

/** A file, a link itself, or an empty folder; with `recursive` all that a folder holds. Returns how many entries went. */
export async function removeEntry(
  root: FileRoot,
  path: string,
  recursive: boolean,
): Promise<number> {
  const isFolder = root.within(path, (folder, name) => look(folder, name, path).isDirectory());
  if (!isFolder) {
    root.within(path, (folder, name) => check(removeFileAt(folder, name), path));
    return 1;
  }
  if (!recursive) {
    root.within(path, (folder, name) => check(removeFolderAt(folder, name), path));
    return 1;
  }
  const [parent, name] = split(path);
  const folder = root.folder(parent);
  const removal: Removal = { root, removed: 0 };
  try {
    await removeTree(removal, folder, name, path, 0);
  } finally {
    closeSync(folder);
  }
  return removal.removed;
}

interface Removal {
  readonly root: FileRoot;
  removed: number;
}

async function removeTree(
  removal: Removal,
  parent: number,
  name: string,
  path: string,
  depth: number,
): Promise<void> {
  const { root } = removal;
  if (depth >= FILE_TREE_DEPTH_MAX) throw tooMuch(removal, `deeper than ${depth} folders`);
  const folder = root.act(() => opened(openFolder(parent, name), path).fd);
  try {
    for (const entry of root.act(() => namesIn(folder, path))) {
      const below = `${path}/${entry}`;
      if (root.act(() => look(folder, entry, below).isDirectory())) {
        await removeTree(removal, folder, entry, below, depth + 1);
      } else {
        root.act(() => check(removeFileAt(folder, entry), below));
        await count(removal);
      }
    }
  } finally {
    closeSync(folder);
  }
  root.act(() => check(removeFolderAt(parent, name), path));
  await count(removal);
}

async function count(removal: Removal): Promise<void> {
  removal.removed += 1;
  if (removal.removed >= FILE_TREE_ENTRIES_MAX) {
    throw tooMuch(removal, `more than ${FILE_TREE_ENTRIES_MAX} entries`);
  }
  if (removal.removed % FILE_TREE_SLICE === 0) await setImmediate();
}

function tooMuch({ removed }: Removal, what: string): RecintoError {
  return new RecintoError("file-too-large", `the folder holds ${what}`, {
    hint: "remove the rest with another request, or with a command in the sandbox",
    details: { removed },
  });
}

function look(folder: number, name: string, path: string): Stats {
  try {
    return lstatSync(beside(folder, name));
  } catch (error) {
    throw fromNode(error, path);
  }
}

/** `replace`: a file at the new place goes. A link is moved, not followed. */
export function moveEntry(root: FileRoot, from: string, to: string, replace: boolean): void {
  root.within(from, (source, name) =>
    root.within(to, (target, toName) => {
      const errno = renameAt(source, name, target, toName, replace ? "replace" : "new");
      check(errno, errno === "ENOENT" ? from : to);
    }),
  );
}

const writeBytes = promisify(write);
const closeFile = promisify(close);

/** Adds to the end of a file that exists. Returns its size then, and the hash of what was added. */
export async function appendTo(
  root: FileRoot,
  path: string,
  content: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<{ readonly bytes: number; readonly size: number; readonly sha256: string }> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY;
  const fd = root.within(path, (folder, name) => opened(openBeneath(folder, name, flags), path)).fd;
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw fileError("ENXIO", path);
    if (stat.nlink > 1 || (stat.mode & 0o6000) !== 0) {
      const why = stat.nlink > 1 ? "has another name, which may be a protected one" : "is setuid";
      throw new RecintoError("file-kind", `${shown(path)} ${why}`, {
        hint: "write it anew as a whole",
      });
    }
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        throw new RecintoError("file-too-large", `more than ${bytesMax} bytes for ${shown(path)}`);
      }
      hash.update(chunk);
      for (let at = 0; at < chunk.length; ) {
        const { bytesWritten } = await writeBytes(fd, chunk, at, chunk.length - at, null);
        at += bytesWritten;
      }
    }
    return { bytes, size: fstatSync(fd).size, sha256: hash.digest("hex") };
  } catch (error) {
    throw fromNode(error, path);
  } finally {
    await closeFile(fd);
  }
}

/** Unpacks an archive below a folder: each entry is checked as it comes, and the first that is refused ends it. */
import { lstatSync } from "node:fs";
import { RecintoError } from "../../errors.ts";
import {
  ARCHIVE_BYTES_MAX,
  ARCHIVE_NAME_BYTES_MAX,
  FILE_NAMES_TOLD_MAX,
  FILE_TREE_DEPTH_MAX,
  FILE_TREE_ENTRIES_MAX,
} from "../../limits.ts";
import { type BytePath, fromBytePath, isUtf8, toBytePath } from "../byte-path.ts";
import { linkFinding } from "../hazard-rules.ts";
import { cachedLook } from "../real-paths.ts";
import { resolvePath } from "../resolve-path.ts";
import { makeFolder } from "./changing.ts";
import { check, shown } from "./file-error.ts";
import { beside, type FileRoot, split } from "./file-root.ts";
import { NewFile, temporaryName } from "./new-file.ts";
import { makeLinkAt, makeNameAt, removeFileAt, renameAt } from "./system-calls.ts";
import { readTar, refused, type TarEntry } from "./tar-reader.ts";

export interface Unpacking {
  readonly root: FileRoot;
  /** Folder that it is unpacked below, relative to the root as bytes; it must exist. */
  readonly into: string;
  readonly archive: AsyncIterable<Uint8Array>;
  /** Why an entry may not be made at this path (absolute, as text), or null. */
  readonly refuse: (path: string) => string | null;
  /** Folders of the host that the sandbox has at the same place: a link must lead to one of them. */
  readonly scope: readonly string[];
}

export interface Unpacked {
  readonly entries: number;
  readonly bytes: number;
}

/** Throws `archive-refused` and `file-…`, with `written`, `entries` and `bytes` in the details: they stay. */
export async function unpack(unpacking: Unpacking): Promise<Unpacked> {
  const progress: Progress = { written: [], entries: 0, bytes: 0, files: new Map() };
  try {
    for await (const entry of readTar(unpacking.archive)) {
      const path = pathOf(entry, unpacking);
      if (path === null) continue;
      if (progress.entries >= FILE_TREE_ENTRIES_MAX) {
        throw refused(`the archive has more than ${FILE_TREE_ENTRIES_MAX} entries`);
      }
      await make(unpacking, entry, path, progress);
      progress.entries += 1;
      if (progress.written.length < FILE_NAMES_TOLD_MAX) progress.written.push(textOf(path));
    }
  } catch (error) {
    if (!(error instanceof RecintoError)) throw error;
    const { written, entries, bytes } = progress;
    const { code, message, hint } = error;
    const details = { ...error.details, written, entries, bytes };
    throw new RecintoError(code, message, { hint, details, cause: error });
  }
  const { entries, bytes } = progress;
  return { entries, bytes };
}

interface Progress {
  readonly written: string[];
  entries: number;
  bytes: number;
  /** Files of this archive by path, with their inodes: all that a second name may be of. */
  readonly files: Map<string, bigint>;
}

/** Where the entry goes, relative to the root; null for the folder itself. */
function pathOf({ name }: TarEntry, { into }: Unpacking): string | null {
  const parts = partsOf(name);
  if (parts.length === 0) return null;
  return into === "" ? parts.join("/") : `${into}/${parts.join("/")}`;
}

function partsOf(name: string): readonly string[] {
  const at = JSON.stringify(textOf(name));
  if (name.length > ARCHIVE_NAME_BYTES_MAX) throw refused("an entry has too long a name");
  if (!isUtf8(name as BytePath)) throw refused(`the name ${at} is not UTF-8`);
  if (name === "" || name.includes("\0")) throw refused(`the name ${at} cannot be a file's`);
  if (name.startsWith("/")) throw refused(`${at} is an absolute name`);
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refused(`${at} leads out of the folder`);
  if (parts.length > FILE_TREE_DEPTH_MAX) throw refused(`${at} is too deep`);
  return parts;
}

async function make(
  unpacking: Unpacking,
  entry: TarEntry,
  path: string,
  progress: Progress,
): Promise<void> {
  const { root, refuse } = unpacking;
  const at = JSON.stringify(textOf(path));
  const why = refuse(`${root.path}/${textOf(path)}`);
  if (why !== null) throw refused(`${at}: ${why}`);
  if (entry.kind === "folder") {
    makeFolder(root, path, true);
    return;
  }
  if ((entry.mode & 0o6000) !== 0) throw refused(`${at} is setuid or setgid`);
  const [parent] = split(path);
  makeFolder(root, parent, true);
  switch (entry.kind) {
    case "file":
      progress.files.set(path, await makeFile(root, entry, path, progress));
      return;
    case "link":
      checkLink(unpacking, entry, path);
      inPlace(root, path, (folder, name) => check(makeLinkAt(entry.target, folder, name), path));
      progress.files.delete(path);
      return;
    case "second-name": {
      const source = pathOf({ ...entry, name: entry.target }, unpacking);
      const inode = source === null ? undefined : progress.files.get(source);
      if (source === null || inode === undefined) {
        throw refused(`${at} is a second name of what is no file of this archive`);
      }
      makeSecondName(root, source, path, inode);
      progress.files.set(path, inode);
    }
  }
}

async function makeFile(
  root: FileRoot,
  entry: TarEntry,
  path: string,
  progress: Progress,
): Promise<bigint> {
  if (progress.bytes + entry.size > ARCHIVE_BYTES_MAX) {
    throw refused(`the archive holds more than ${ARCHIVE_BYTES_MAX} bytes`);
  }
  const file = NewFile.begin(root, path);
  try {
    const { bytes } = await file.fill(entry.content, entry.size);
    progress.bytes += bytes;
    const mode = (entry.mode & 0o100) === 0 ? 0o644 : 0o755;
    file.place("anything", mode, entry.mtimeMs).keep();
    return file.inode;
  } finally {
    file.discard();
  }
}

/**
 * A link of an archive must be relative and climb first: `../../a/b`, never `a/../b`. Then what stands on its way may
 * become a link later and it still cannot lead out, since no `..` is taken from where a link leads.
 */
function checkLink({ root, scope }: Unpacking, { target }: TarEntry, path: string): void {
  const at = JSON.stringify(textOf(path));
  const says = `${at} is a link to ${JSON.stringify(textOf(target))}`;
  if (target === "" || target.includes("\0") || !isUtf8(target as BytePath)) {
    throw refused(`${says}, which cannot be a path`);
  }
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const first = parts.findIndex((part) => part !== "..");
  const climbs = first < 0 ? parts.length : first;
  if (target.startsWith("/") || parts.slice(climbs).includes("..")) {
    throw refused(`${says}: only relative ones that climb first are made`);
  }
  if (climbs > path.split("/").length - 1)
    throw refused(`${says}, which leads out of the worktree`);
  const roots = scope.map(toBytePath);
  const folder = `${toBytePath(root.path)}/${split(path)[0]}`;
  const finding = linkFinding(
    target,
    resolvePath(`${folder}/${target}`, roots, cachedLook()),
    roots,
  );
  if (finding !== null) throw refused(`${says}: ${finding.reason}`);
}

/** Makes something under a name of its own and moves it to its place, whatever but a folder stands there. */
function inPlace(
  root: FileRoot,
  path: string,
  makeAt: (folder: number, name: string) => void,
): void {
  const temporary = temporaryName();
  root.within(path, (folder, name) => {
    try {
      makeAt(folder, temporary);
      check(renameAt(folder, temporary, folder, name, "replace"), path);
    } finally {
      // Also when it went well: two names of one file are left as they are by a rename.
      removeFileAt(folder, temporary);
    }
  });
}

function makeSecondName(root: FileRoot, source: string, path: string, inode: bigint): void {
  root.within(source, (from, name) =>
    inPlace(root, path, (folder, temporary) => {
      check(makeNameAt(from, name, folder, temporary), path);
      const stat = lstatSync(beside(folder, temporary), { bigint: true });
      if (!stat.isFile() || stat.ino !== inode) {
        throw new RecintoError("file-changed", `${shown(source)} was replaced meanwhile`);
      }
    }),
  );
}

function textOf(path: string): string {
  return fromBytePath(path as BytePath);
}

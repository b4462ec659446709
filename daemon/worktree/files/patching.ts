/** Applies a patch to the files of a worktree: all of it, or nothing. */
import { closeSync, lstatSync } from "node:fs";
import { RecintoError } from "../../errors.ts";
import { FILE_WRITE_BYTES_MAX, PATCH_FILE_BYTES_MAX, PATCH_FILES_BYTES_MAX } from "../../limits.ts";
import { makeFolder } from "./changing.ts";
import { check, shown } from "./file-error.ts";
import { beside, type FileRoot, split } from "./file-root.ts";
import { type Change, type Expected, NewFile, temporaryName } from "./new-file.ts";
import { type Held, holdFile, isSame, mustHold, type Seen, seenOf } from "./reading.ts";
import { removeFileAt, renameAt } from "./system-calls.ts";
import { applyHunks, type FilePatch } from "./unified-diff.ts";

/** A file of the patch with where its names really are, relative to the root as bytes. */
export interface PlacedPatch {
  readonly patch: FilePatch;
  readonly from: string | null;
  readonly to: string | null;
}

export interface Patched {
  readonly path: string;
  readonly change: "made" | "changed" | "deleted" | "renamed";
  /** Of the new content. */
  readonly sha256: string | null;
}

/** Throws `patch-conflict`, `file-…`; then every file is as it was. */
export async function applyPatch(
  root: FileRoot,
  patches: readonly PlacedPatch[],
): Promise<readonly Patched[]> {
  // Everything is looked at before anything is made: a patch that does not fit leaves no folder behind.
  const fitting: Fitting[] = [];
  let bytes = 0;
  for (const placed of patches) {
    const one = await nextContent(root, placed);
    fitting.push(one);
    bytes += one.content.length;
    if (bytes > PATCH_FILES_BYTES_MAX) {
      throw new RecintoError("file-too-large", "the files of the patch are too large together");
    }
  }
  const next: Next[] = [];
  try {
    for (const one of fitting) next.push(await prepare(root, one));
    placeAll(root, next);
  } finally {
    for (const { file } of next) file?.discard();
  }
  return next.map(({ result }) => result);
}

interface Fitting extends PlacedPatch {
  readonly held: Held | null;
  readonly content: Buffer;
}

async function nextContent(root: FileRoot, { patch, from, to }: PlacedPatch): Promise<Fitting> {
  const held =
    from === null ? null : mustHold(await holdFile(root, from, PATCH_FILE_BYTES_MAX), from);
  const content = applyHunks(held?.bytes?.toString("latin1") ?? "", patch);
  if (to === null && content !== "") {
    throw new RecintoError(
      "patch-conflict",
      `${shown(from ?? "")} has more than the patch deletes`,
    );
  }
  return { patch, from, to, held, content: Buffer.from(content, "latin1") };
}

interface Next {
  readonly result: Patched;
  readonly file: NewFile | null;
  readonly expected: Expected;
  readonly mode: number;
  /** The old name that goes. */
  readonly gone: { readonly path: string; readonly seen: Seen } | null;
}

async function prepare(root: FileRoot, fitting: Fitting): Promise<Next> {
  const { patch, from, to, held, content } = fitting;
  const gone =
    held !== null && from !== null && from !== to ? { path: from, seen: held.seen } : null;
  if (to === null) {
    const result = { path: from ?? "", change: "deleted", sha256: null } as const;
    return { result, file: null, expected: "nothing", mode: 0, gone };
  }
  makeFolder(root, split(to)[0], true);
  const file = NewFile.begin(root, to);
  try {
    const { sha256 } = await file.fill(once(content), FILE_WRITE_BYTES_MAX);
    await file.settle();
    const old = held?.seen.mode ?? 0o644;
    const mode =
      patch.executable === undefined ? old : patch.executable ? old | 0o111 : old & ~0o111;
    const change = held === null ? "made" : gone === null ? "changed" : "renamed";
    const expected = held !== null && gone === null ? held.seen : "nothing";
    return { result: { path: to, change, sha256 }, file, expected, mode, gone };
  } catch (error) {
    file.discard();
    throw error;
  }
}

async function* once(bytes: Buffer) {
  yield bytes;
}

/** In one go, without a pause in between; what was done is taken back when one does not go through. */
function placeAll(root: FileRoot, next: readonly Next[]): void {
  const done: Change[] = [];
  try {
    for (const { file, expected, mode, gone } of next) {
      if (file !== null) done.push(file.place(expected, mode));
      if (gone !== null) done.push(putAside(root, gone.path, gone.seen));
    }
  } catch (error) {
    for (const change of done.reverse()) change.undo();
    throw error;
  }
  for (const change of done) change.keep();
}

/** Takes a file out of its place, to be deleted or brought back. */
function putAside(root: FileRoot, path: string, expected: Seen): Change {
  const [parent, name] = split(path);
  const temporary = temporaryName();
  const folder = root.folder(parent);
  const rename = (from: string, to: string) =>
    check(renameAt(folder, from, folder, to, "new"), path);
  const ended = (act: () => void): void => {
    try {
      root.act(act);
    } finally {
      closeSync(folder);
    }
  };
  try {
    root.act(() => {
      rename(name, temporary);
      const stat = lstatSync(beside(folder, temporary), { bigint: true });
      if (isSame(expected, seenOf(stat))) return;
      rename(temporary, name);
      throw new RecintoError("file-changed", `${shown(path)} was changed meanwhile`);
    });
  } catch (error) {
    closeSync(folder);
    throw error;
  }
  return {
    keep: () => ended(() => check(removeFileAt(folder, temporary), path)),
    undo: () => ended(() => rename(temporary, name)),
  };
}

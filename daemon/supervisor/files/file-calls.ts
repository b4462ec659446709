/** File operations as every way to the use cases calls them (docs/api-files.md). */

import type { Verdict } from "../../policy/types.ts";
import type { Packed } from "../../worktree/files/pack.ts";
import type { FileContent, FileEntry, FolderPage } from "../../worktree/files/reading.ts";
import type { Presented } from "../authority/binding.ts";
import type { Caller } from "../types.ts";

export interface FileCall extends Presented {
  readonly caller: Caller;
  readonly session: string;
  /** The client is gone: what is not done yet is not done. */
  readonly signal: AbortSignal;
  /** As in RunRequest. */
  readonly waitMs?: number;
  /** A person is asked; called again now and then while it waits. */
  readonly onPending?: (approval: string) => void;
}

export interface PathRequest {
  /** Absolute, or relative to the worktree. `..` is taken out of the text before anything is looked up. */
  readonly path: string;
}

export interface ReadRequest extends PathRequest {
  readonly offset?: number;
  readonly length?: number;
}

export interface StatRequest extends PathRequest {
  /** With the SHA-256 of a file's content. */
  readonly hash?: boolean;
}

export interface ListRequest extends PathRequest {
  /** Name of the last entry of the page before. */
  readonly after?: string;
  readonly limit?: number;
}

export interface WriteRequest extends PathRequest {
  /** The SHA-256 that the content must have now, or `absent`. */
  readonly ifHash?: string;
  /** Make the folders that are missing above it. */
  readonly parents?: boolean;
  /** Absent: as it was; a new file is not. */
  readonly executable?: boolean;
  readonly append?: boolean;
}

export interface MkdirRequest extends PathRequest {
  readonly parents?: boolean;
}

export interface RemoveRequest extends PathRequest {
  readonly recursive?: boolean;
}

export interface MoveRequest {
  readonly from: string;
  readonly to: string;
  /** A file that stands at the new place goes. */
  readonly replace?: boolean;
}

export interface PatchRequest {
  /** A unified diff. */
  readonly patch: string;
  /** Path parts left out in front; 1 when absent, as git writes them. */
  readonly strip?: number;
}

export interface PackRequest extends PathRequest {
  readonly gzip?: boolean;
}

export interface Written {
  readonly path: string;
  /** Bytes written now. */
  readonly bytes: number;
  /** Of the file afterwards. */
  readonly size: number;
  /** Of what was written now, hex. */
  readonly sha256: string;
}

export interface PatchedFile {
  readonly path: string;
  readonly change: "made" | "changed" | "deleted" | "renamed";
  readonly sha256: string | null;
}

/** A stream that is to be closed in any case, also when nothing of it was read. */
export interface ReadStream extends Omit<FileContent, "bytes"> {
  readonly path: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface PackStream {
  readonly path: string;
  readonly archive: AsyncIterable<Uint8Array>;
  /** Filled while the archive is read. */
  readonly packed: Packed;
  close(): Promise<void>;
}

export interface FileCheckRequest extends PathRequest {
  /** `write`: the whole file, whatever it was. */
  readonly access: "read" | "write";
}

/**
 * Each call is judged, put on record, asked about where needed and done, or throws: `refused` with `by`, `action` and
 * `reason` in the details, `not-served`, `file-…`, `bad-patch`, `patch-conflict`, `archive-refused`.
 */
export interface FileCalls {
  /** The verdict alone: nothing is recorded, asked or done. */
  check(caller: Caller, session: string, request: FileCheckRequest): Promise<Verdict>;
  read(call: FileCall, request: ReadRequest): Promise<ReadStream>;
  list(call: FileCall, request: ListRequest): Promise<FolderPage>;
  stat(call: FileCall, request: StatRequest): Promise<FileEntry>;
  write(
    call: FileCall,
    request: WriteRequest,
    content: AsyncIterable<Uint8Array>,
  ): Promise<Written>;
  mkdir(call: FileCall, request: MkdirRequest): Promise<{ readonly made: number }>;
  remove(call: FileCall, request: RemoveRequest): Promise<{ readonly removed: number }>;
  move(
    call: FileCall,
    request: MoveRequest,
  ): Promise<{ readonly from: string; readonly to: string }>;
  patch(call: FileCall, request: PatchRequest): Promise<{ readonly files: readonly PatchedFile[] }>;
  pack(call: FileCall, request: PackRequest): Promise<PackStream>;
  unpack(
    call: FileCall,
    request: PathRequest,
    archive: AsyncIterable<Uint8Array>,
  ): Promise<{ readonly entries: number; readonly bytes: number }>;
}

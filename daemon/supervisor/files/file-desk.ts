/** The file operations themselves: what each is judged as, and what it does once it may. */
import { posix } from "node:path";
import { RecintoError } from "../../errors.ts";
import {
  FILE_LIST_DEFAULT,
  FILE_LIST_MAX,
  FILE_WRITE_BYTES_MAX,
  PATCH_CHARS_MAX,
} from "../../limits.ts";
import type { Verdict } from "../../policy/types.ts";
import { type BytePath, fromBytePath, toBytePath } from "../../worktree/byte-path.ts";
import { appendTo, makeFolder, moveEntry, removeEntry } from "../../worktree/files/changing.ts";
import { split } from "../../worktree/files/file-root.ts";
import { type Expected, NewFile } from "../../worktree/files/new-file.ts";
import { pack } from "../../worktree/files/pack.ts";
import { applyPatch } from "../../worktree/files/patching.ts";
import {
  type FileEntry,
  type FolderPage,
  holdFile,
  listFolder,
  readContent,
  statEntry,
} from "../../worktree/files/reading.ts";
import { readPatch } from "../../worktree/files/unified-diff.ts";
import { unpack } from "../../worktree/files/unpack.ts";
import type { Caller } from "../types.ts";
import type {
  FileCall,
  FileCalls,
  FileCheckRequest,
  ListRequest,
  MkdirRequest,
  MoveRequest,
  PackRequest,
  PackStream,
  PatchedFile,
  PatchRequest,
  PathRequest,
  ReadRequest,
  ReadStream,
  RemoveRequest,
  StatRequest,
  WriteRequest,
  Written,
} from "./file-calls.ts";
import { FileGate, type FileGateParts, type Granted } from "./file-gate.ts";
import type { Place } from "./granted-files.ts";
import { recorded } from "./recorded-stream.ts";
import { content, entry, requestedPath } from "./requested-path.ts";

const EXECUTABLE = 0o111;
const NEW_FILE_MODE = 0o644;

export class FileDesk implements FileCalls {
  readonly #gate: FileGate;

  constructor(parts: FileGateParts) {
    this.#gate = new FileGate(parts);
  }

  async check(caller: Caller, session: string, request: FileCheckRequest): Promise<Verdict> {
    const { access } = request;
    const path = requestedPath(request.path, this.#gate.worktree({ caller, session }));
    const paths = access === "read" ? [content(path, access)] : entry(path, access);
    return this.#gate.check(caller, session, { verb: access, paths });
  }

  async read(call: FileCall, request: ReadRequest): Promise<ReadStream> {
    const path = this.#path(call, request.path);
    const granted = await this.#gate.open(call, {
      request: { verb: "read", paths: [content(path, "read")] },
    });
    return streamed(granted, () => {
      const { root, path: at } = granted.files.place(path);
      const file = readContent(root, at, request);
      const stream = recorded(
        granted,
        file.bytes,
        ({ bytes }) => ({ bytes, size: file.size }),
        file.close,
      );
      return { ...file, path, bytes: stream.bytes, close: stream.close };
    });
  }

  list(call: FileCall, request: ListRequest): Promise<FolderPage> {
    const path = this.#path(call, request.path);
    const { after, limit = FILE_LIST_DEFAULT } = request;
    return this.#gate.run(
      call,
      { request: { verb: "list", paths: [content(path, "read")] } },
      ({ files }) => {
        const { root, path: at } = files.place(path);
        const from = after === undefined ? undefined : toBytePath(after);
        return listFolder(root, at, from, Math.min(limit, FILE_LIST_MAX));
      },
      ({ entries, total }) => ({ entries: entries.length, total }),
    );
  }

  stat(call: FileCall, request: StatRequest): Promise<FileEntry> {
    const worktree = this.#gate.worktree(call);
    const path = requestedPath(request.path, worktree);
    const isRoot = path === worktree;
    return this.#gate.run(
      call,
      {
        request: {
          verb: "stat",
          paths: isRoot ? [content(path, "read")] : entry(path, "read"),
        },
      },
      async ({ files }) => {
        const { root, path: at } = isRoot ? files.place(path) : files.entry(path);
        const found = statEntry(root, at);
        if (request.hash !== true || found.kind !== "file") return found;
        const held = await holdFile(root, at);
        return held === null ? found : { ...found, sha256: held.sha256 };
      },
      ({ kind, size }) => ({ kind, size }),
    );
  }

  write(call: FileCall, request: WriteRequest, bytes: AsyncIterable<Uint8Array>): Promise<Written> {
    const path = this.#below(call, request.path);
    const { append = false, ifHash, executable, parents = false } = request;
    if (append && (ifHash !== undefined || executable !== undefined)) {
      throw new RecintoError("bad-request", "append takes neither ifHash nor executable");
    }
    return this.#gate.run(
      call,
      {
        request: { verb: append ? "append" : "write", paths: entry(path, "write") },
        ...(executable === true ? { detail: "executable" } : {}),
        content: bytes,
      },
      async ({ files, content: given }) => {
        const place = files.place(path);
        if (append) return { path, ...(await appended(place, given)) };
        if (parents) makeFolder(place.root, split(place.path)[0], true);
        return { path, ...(await replaced(place, given, ifHash, executable)) };
      },
      ({ bytes, size, sha256 }) => ({ bytes, size, sha256 }),
    );
  }

  mkdir(call: FileCall, request: MkdirRequest): Promise<{ made: number }> {
    const path = this.#below(call, request.path);
    return this.#gate.run(
      call,
      { request: { verb: "mkdir", paths: entry(path, "write") } },
      ({ files }) => {
        const { root, path: at } = files.place(path);
        return { made: makeFolder(root, at, request.parents ?? false) };
      },
      (result) => result,
    );
  }

  remove(call: FileCall, request: RemoveRequest): Promise<{ removed: number }> {
    const path = this.#below(call, request.path);
    const { recursive = false } = request;
    return this.#gate.run(
      call,
      { request: { verb: "remove", paths: entry(path, "write", true), recursive } },
      async ({ files }) => {
        const { root, path: at } = files.entry(path);
        return { removed: await removeEntry(root, at, recursive) };
      },
      (result) => result,
    );
  }

  move(call: FileCall, request: MoveRequest): Promise<{ from: string; to: string }> {
    const from = this.#below(call, request.from);
    const to = this.#below(call, request.to);
    const { replace = false } = request;
    return this.#gate.run(
      call,
      {
        request: {
          verb: "move",
          paths: [...entry(from, "write", true), ...entry(to, "write", true)],
        },
        ...(replace ? { detail: "replacing what is there" } : {}),
      },
      ({ files }) => {
        const [source, target] = [files.entry(from), files.entry(to)];
        moveEntry(source.root, source.path, target.path, replace);
        return { from, to };
      },
      () => ({}),
    );
  }

  patch(
    call: FileCall,
    { patch, strip = 1 }: PatchRequest,
  ): Promise<{ files: readonly PatchedFile[] }> {
    if (patch.length > PATCH_CHARS_MAX) {
      throw new RecintoError(
        "file-too-large",
        `the patch has more than ${PATCH_CHARS_MAX} characters`,
      );
    }
    const absolute = (name: string | null) =>
      name === null ? null : this.#below(call, fromBytePath(name as BytePath));
    const patches = readPatch(toBytePath(patch), strip).map((each) => ({
      patch: each,
      from: absolute(each.from),
      to: absolute(each.to),
    }));
    const paths = [...new Set(patches.flatMap(({ from, to }) => [from, to]))].flatMap((path) =>
      path === null ? [] : entry(path, "write"),
    );
    return this.#gate.run(
      call,
      { request: { verb: "patch", paths }, content: once(Buffer.from(patch)) },
      async ({ files }) => {
        const at = (path: string | null) => (path === null ? null : files.place(path).path);
        const { root } = files.place(this.#gate.worktree(call));
        const done = await applyPatch(
          root,
          patches.map((each) => ({ patch: each.patch, from: at(each.from), to: at(each.to) })),
        );
        return {
          files: done.map((each) => ({
            ...each,
            path: posix.join(root.path, fromBytePath(each.path as BytePath)),
          })),
        };
      },
      ({ files }) => ({ files: files.slice(0, FILES_RECORDED_MAX), count: files.length }),
    );
  }

  async pack(call: FileCall, { path: asked, gzip = false }: PackRequest): Promise<PackStream> {
    const path = this.#path(call, asked);
    const granted = await this.#gate.open(call, {
      request: { verb: "pack", paths: [content(path, "read", true)] },
    });
    return streamed(granted, () => {
      const { files } = granted;
      const { root, path: at } = files.place(path);
      const leaveOut = (each: string) =>
        each === `${root.path}/.git` || files.objection("read", "read", each) !== null;
      const { archive, packed } = pack({ root, path: at, gzip, leaveOut });
      const stream = recorded(granted, archive, ({ bytes: sent }) => ({ ...packed, sent }));
      return { path, archive: stream.bytes, packed, close: stream.close };
    });
  }

  unpack(
    call: FileCall,
    request: PathRequest,
    archive: AsyncIterable<Uint8Array>,
  ): Promise<{ entries: number; bytes: number }> {
    const path = this.#path(call, request.path);
    return this.#gate.run(
      call,
      {
        request: { verb: "unpack", paths: [content(path, "write")] },
        content: archive,
        show: async ({ bytes }) => `(an archive of ${bytes} bytes)`,
      },
      ({ files, content: given }) => {
        const { root, path: into } = files.place(path);
        const refuse = (each: string) => files.objection("write", "write", each);
        return unpack({ root, into, archive: given, refuse, scope: files.scope });
      },
      ({ entries, bytes }) => ({ entries, bytes }),
    );
  }

  #path(call: FileCall, path: string): string {
    return requestedPath(path, this.#gate.worktree(call));
  }

  /** For what changes an entry: the worktree itself is none of its own entries. */
  #below(call: FileCall, path: string): string {
    const worktree = this.#gate.worktree(call);
    const absolute = requestedPath(path, worktree);
    if (absolute !== worktree && absolute !== "/") return absolute;
    throw new RecintoError("bad-request", `${JSON.stringify(path)} is the worktree itself`);
  }
}

/** Files of a patch that the journal names. */
const FILES_RECORDED_MAX = 50;

async function appended({ root, path }: Place, bytes: AsyncIterable<Uint8Array>) {
  return appendTo(root, path, bytes, FILE_WRITE_BYTES_MAX);
}

async function replaced(
  { root, path }: Place,
  bytes: AsyncIterable<Uint8Array>,
  ifHash: string | undefined,
  executable: boolean | undefined,
) {
  const { expected, mode } = await standing({ root, path }, ifHash);
  const file = NewFile.begin(root, path);
  try {
    const { bytes: count, sha256 } = await file.fill(bytes, FILE_WRITE_BYTES_MAX);
    await file.settle();
    const wanted =
      executable === undefined ? mode : executable ? mode | EXECUTABLE : mode & ~EXECUTABLE;
    file.place(expected, wanted).keep();
    return { bytes: count, size: count, sha256 };
  } finally {
    file.discard();
  }
}

/** What must stand at the place for the write to go through, and the mode that it has. */
async function standing(
  { root, path }: Place,
  ifHash: string | undefined,
): Promise<{ expected: Expected; mode: number }> {
  if (ifHash === "absent") return { expected: "nothing", mode: NEW_FILE_MODE };
  if (ifHash !== undefined) {
    const held = await holdFile(root, path);
    if (held?.sha256 === ifHash) return { expected: held.seen, mode: held.seen.mode };
    throw new RecintoError("file-changed", "the content is not the one that the change is for", {
      details: { sha256: held?.sha256 ?? null },
    });
  }
  try {
    const { mode } = statEntry(root, path);
    return { expected: "anything", mode: Number.parseInt(mode, 8) & 0o777 };
  } catch (error) {
    if (error instanceof RecintoError && error.code === "file-not-found") {
      return { expected: "anything", mode: NEW_FILE_MODE };
    }
    throw error;
  }
}

async function* once(bytes: Buffer) {
  yield bytes;
}

/** What fails before the stream is handed out ends the operation. */
async function streamed<T>(granted: Granted, open: () => T): Promise<T> {
  try {
    return open();
  } catch (error) {
    await granted.failed(error);
    throw error;
  }
}

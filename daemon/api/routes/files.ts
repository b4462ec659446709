/** Routes of an agent's files: what a session's worktree holds, read and changed under the same policy as commands. */
import type { ErrorCode } from "../../errors.ts";
import type { FileCall } from "../../supervisor/files/file-calls.ts";
import { bytesRoute, jsonRoute, type RouteRequest } from "../route.ts";
import {
  FileCheckRequestSchema,
  FileEntrySchema,
  FolderPageSchema,
  ListQuerySchema,
  MadeSchema,
  MkdirRequestSchema,
  MovedSchema,
  MoveRequestSchema,
  PackQuerySchema,
  PatchedSchema,
  PatchRequestSchema,
  ReadQuerySchema,
  RemovedSchema,
  RemoveRequestSchema,
  StatQuerySchema,
  UnpackedSchema,
  UnpackQuerySchema,
  WriteQuerySchema,
  WrittenSchema,
} from "../schema-files.ts";
import { VerdictSchema } from "../schema-policy.ts";

const LOOK_ERRORS: readonly ErrorCode[] = [
  "unknown-session",
  "refused",
  "not-served",
  "file-not-found",
  "file-kind",
  "file-changed",
  "file-denied",
  "too-many-pending",
  "busy",
  "journal-failed",
];
const CHANGE_ERRORS: readonly ErrorCode[] = [...LOOK_ERRORS, "file-exists", "file-failed"];
const SEND_ERRORS: readonly ErrorCode[] = [...CHANGE_ERRORS, "file-too-large", "request-timeout"];

type Request = Pick<
  RouteRequest<{ session: string }, unknown, unknown>,
  "announce" | "caller" | "params" | "signal"
>;

interface Given {
  readonly waitMs?: number;
  readonly handle?: string;
  readonly epoch?: number;
}

/** Who asks and on what authority, and what for. */
function asked<T extends Given>({ caller, params, signal, announce }: Request, given: T) {
  const { session } = params;
  const { waitMs, handle, epoch, ...rest } = given;
  const call: FileCall = {
    caller,
    session,
    signal,
    ...(waitMs === undefined ? {} : { waitMs }),
    ...(handle === undefined ? {} : { handle }),
    ...(epoch === undefined ? {} : { epoch }),
    onPending: (approval) => announce(`/v1/sessions/${session}/approvals/${approval}`),
  };
  return { call, rest };
}

export const checkFile = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/files/check",
  sockets: ["agent"],
  summary: "The verdict on reading or writing a file; nothing is recorded, asked or done.",
  body: FileCheckRequestSchema,
  answer: VerdictSchema,
  errors: ["unknown-session"],
  handle: ({ supervisor }, { caller, params, body }) =>
    supervisor.files.check(caller, params.session, body),
});

export const listFiles = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}/files/list",
  sockets: ["agent"],
  summary: "Entries of a folder, sorted, page by page; links are shown and not followed.",
  query: ListQuerySchema,
  answer: FolderPageSchema,
  errors: [...LOOK_ERRORS, "file-too-large"],
  handle: ({ supervisor }, request) => {
    const { call, rest: query } = asked(request, request.query);
    return supervisor.files.list(call, query);
  },
});

export const makeFolder = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/files/mkdir",
  sockets: ["agent"],
  summary: "Makes a folder.",
  body: MkdirRequestSchema,
  answer: MadeSchema,
  errors: CHANGE_ERRORS,
  handle: ({ supervisor }, request) => {
    const { call, rest: body } = asked(request, request.body);
    return supervisor.files.mkdir(call, body);
  },
});

export const moveFile = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/files/move",
  sockets: ["agent"],
  summary: "Moves an entry within the worktree; a link is moved, not followed.",
  body: MoveRequestSchema,
  answer: MovedSchema,
  errors: CHANGE_ERRORS,
  handle: ({ supervisor }, request) => {
    const { call, rest: body } = asked(request, request.body);
    return supervisor.files.move(call, body);
  },
});

export const packFiles = bytesRoute({
  method: "GET",
  path: "/v1/sessions/{session}/files/pack",
  sockets: ["agent"],
  summary: "A folder as a tar archive; what may not be read by itself is left out and counted.",
  query: PackQuerySchema,
  gives: "application/x-tar",
  errors: LOOK_ERRORS,
  handle: async ({ supervisor }, request) => {
    const { call, rest: query } = asked(request, request.query);
    const { archive, packed, close } = await supervisor.files.pack(call, query);
    return {
      type: query.gzip === true ? "application/gzip" : "application/x-tar",
      headers: {},
      bytes: archive,
      close,
      trailers: () => ({
        "x-recinto-entries": String(packed.entries),
        "x-recinto-left-out": String(packed.leftOut),
      }),
    };
  },
});

export const patchFiles = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/files/patch",
  sockets: ["agent"],
  summary: "Applies a unified diff: all of it, or nothing.",
  body: PatchRequestSchema,
  answer: PatchedSchema,
  errors: [...CHANGE_ERRORS, "file-too-large", "bad-patch", "patch-conflict"],
  handle: async ({ supervisor }, request) => {
    const { call, rest: body } = asked(request, request.body);
    return supervisor.files.patch(call, body);
  },
});

export const readFile = bytesRoute({
  method: "GET",
  path: "/v1/sessions/{session}/files/read",
  sockets: ["agent"],
  summary: "The bytes of a file, or of a part of it.",
  query: ReadQuerySchema,
  gives: "application/octet-stream",
  errors: LOOK_ERRORS,
  handle: async ({ supervisor }, request) => {
    const { call, rest: query } = asked(request, request.query);
    const file = await supervisor.files.read(call, query);
    return {
      type: "application/octet-stream",
      length: file.length,
      headers: {
        "x-recinto-size": String(file.size),
        "x-recinto-offset": String(file.offset),
        "x-recinto-mode": file.mode,
        "x-recinto-mtime-ms": String(file.mtimeMs),
      },
      bytes: file.bytes,
      close: () => file.close(),
    };
  },
});

export const removeFile = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/files/remove",
  sockets: ["agent"],
  summary:
    "Removes a file, a link itself or an empty folder; with `recursive`, which asks, a folder.",
  body: RemoveRequestSchema,
  answer: RemovedSchema,
  errors: CHANGE_ERRORS,
  handle: ({ supervisor }, request) => {
    const { call, rest: body } = asked(request, request.body);
    return supervisor.files.remove(call, body);
  },
});

export const statFile = jsonRoute({
  method: "GET",
  path: "/v1/sessions/{session}/files/stat",
  sockets: ["agent"],
  summary: "One entry, a link as itself.",
  query: StatQuerySchema,
  answer: FileEntrySchema,
  errors: LOOK_ERRORS,
  handle: ({ supervisor }, request) => {
    const { call, rest: query } = asked(request, request.query);
    return supervisor.files.stat(call, query);
  },
});

export const unpackFiles = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/files/unpack",
  sockets: ["agent"],
  summary: "Unpacks a tar archive, plain or gzip, below a folder; the first refused entry ends it.",
  query: UnpackQuerySchema,
  takes: "application/x-tar",
  answer: UnpackedSchema,
  errors: [...SEND_ERRORS, "archive-refused"],
  handle: ({ supervisor }, request) => {
    const { call, rest: query } = asked(request, request.query);
    return supervisor.files.unpack(call, query, request.content);
  },
});

export const writeFile = jsonRoute({
  method: "POST",
  path: "/v1/sessions/{session}/files/write",
  sockets: ["agent"],
  summary: "Makes or replaces a file in one step, or adds to its end.",
  query: WriteQuerySchema,
  takes: "application/octet-stream",
  answer: WrittenSchema,
  errors: SEND_ERRORS,
  handle: ({ supervisor }, request) => {
    const { call, rest: query } = asked(request, request.query);
    return supervisor.files.write(call, query, request.content);
  },
});

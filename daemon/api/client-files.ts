/** The file operations of the typed client. */
import type { BytesReply, Transport } from "./client-transport.ts";
import type {
  FileEntry,
  FolderPage,
  Made,
  Moved,
  Patched,
  Removed,
  Unpacked,
  Written,
} from "./schema-files.ts";

import type { Verdict } from "./schema-policy.ts";

export type { FileEntry, FolderPage };

export interface FileOptions {
  /** Longest wait for a person, ms; 0: nobody is asked. The profile's when absent. */
  readonly waitMs?: number;
  /** A person is asked; called again now and then while it waits. */
  readonly onPending?: (approval: string) => void;
  readonly signal?: AbortSignal;
  /** The grant it acts on; absent: the daemon picks one, unless the profile wants it named. */
  readonly handle?: string;
  /** Epoch of the interface it acts on. */
  readonly epoch?: number;
}

export interface FileBytes {
  /** Of the whole file, bytes. */
  readonly size: number;
  readonly mode: string;
  readonly mtimeMs: number;
  readonly offset: number;
  readonly length: number;
  readonly bytes: AsyncGenerator<Buffer, void>;
}

export interface PackedBytes {
  readonly bytes: AsyncGenerator<Buffer, void>;
  /** Entries that the archive has, and that were left out; known after the last byte. */
  counts(): { readonly entries: number; readonly leftOut: number };
}

type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** All calls throw RecintoError: `refused` where policy or a person says no, else what the daemon says. */
export function fileCalls(http: Transport, session: string) {
  const at = (name: string) => `/v1/sessions/${encodeURIComponent(session)}/files/${name}`;
  const options = ({ onPending, signal }: FileOptions) => ({
    ...(onPending === undefined ? {} : { onPending }),
    ...(signal === undefined ? {} : { signal }),
  });
  const get = (name: string, query: object, given: FileOptions) =>
    ({
      method: "GET",
      path: at(name),
      query: queryOf({ ...query, ...saidWith(given) }),
      ...options(given),
    }) as const;
  const post = <T>(name: string, body: object, given: FileOptions) =>
    http.json<T>({
      method: "POST",
      path: at(name),
      body: { ...body, ...saidWith(given) },
      ...options(given),
    });
  const send = <T>(name: string, query: object, content: Content, given: FileOptions) =>
    http.json<T>({ ...get(name, query, given), method: "POST", content: piecesOf(content) });

  return {
    check: (path: string, access: "read" | "write", signal?: AbortSignal) =>
      http.json<Verdict>({
        method: "POST",
        path: at("check"),
        body: { path, access },
        ...options(signal === undefined ? {} : { signal }),
      }),
    stat: (path: string, more: { hash?: boolean } = {}, given: FileOptions = {}) =>
      http.json<FileEntry>(get("stat", { path, ...more }, given)),
    list: (path: string, page: { after?: string; limit?: number } = {}, given: FileOptions = {}) =>
      http.json<FolderPage>(get("list", { path, ...page }, given)),
    read: async (
      path: string,
      range: { offset?: number; length?: number } = {},
      given: FileOptions = {},
    ) => fileBytes(await http.bytes(get("read", { path, ...range }, given))),
    write: (
      path: string,
      content: Content,
      how: { ifHash?: string; append?: boolean; parents?: boolean; executable?: boolean } = {},
      given: FileOptions = {},
    ) => send<Written>("write", { path, ...how }, content, given),
    mkdir: (path: string, how: { parents?: boolean } = {}, given: FileOptions = {}) =>
      post<Made>("mkdir", { path, ...how }, given),
    remove: (path: string, how: { recursive?: boolean } = {}, given: FileOptions = {}) =>
      post<Removed>("remove", { path, ...how }, given),
    move: (from: string, to: string, how: { replace?: boolean } = {}, given: FileOptions = {}) =>
      post<Moved>("move", { from, to, ...how }, given),
    patch: (patch: string, how: { strip?: number } = {}, given: FileOptions = {}) =>
      post<Patched>("patch", { patch, ...how }, given),
    pack: async (path: string, how: { gzip?: boolean } = {}, given: FileOptions = {}) =>
      packedBytes(await http.bytes(get("pack", { path, ...how }, given))),
    unpack: (path: string, archive: Content, given: FileOptions = {}) =>
      send<Unpacked>("unpack", { path }, archive, given),
  };
}

/** What travels of the options. */
function saidWith({ waitMs, handle, epoch }: FileOptions) {
  return {
    ...(waitMs === undefined ? {} : { waitMs }),
    ...(handle === undefined ? {} : { handle }),
    ...(epoch === undefined ? {} : { epoch }),
  };
}

function queryOf(query: Readonly<Record<string, unknown>>): Record<string, string> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

function fileBytes({ headers, bytes }: BytesReply): FileBytes {
  const number = (name: string) => Number(headers[name]);
  return {
    size: number("x-recinto-size"),
    mode: String(headers["x-recinto-mode"]),
    mtimeMs: number("x-recinto-mtime-ms"),
    offset: number("x-recinto-offset"),
    length: number("content-length"),
    bytes,
  };
}

function packedBytes({ bytes, trailers }: BytesReply): PackedBytes {
  const number = (name: string) => Number(trailers()[name] ?? 0);
  return {
    bytes,
    counts: () => ({
      entries: number("x-recinto-entries"),
      leftOut: number("x-recinto-left-out"),
    }),
  };
}

async function* piecesOf(content: Content): AsyncGenerator<Uint8Array, void> {
  if (content instanceof Uint8Array) yield content;
  else yield* content;
}

/** What a route is: where it is, on which sockets, what it takes and gives, and how it is answered. */
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { z } from "zod";
import { type ErrorCode, RecintoError } from "../errors.ts";
import type { Profile } from "../settings/types.ts";
import type { Right, Rights } from "../supervisor/roles.ts";
import type { Supervisor } from "../supervisor/supervisor-interface.ts";
import type { Caller } from "../supervisor/types.ts";
import type { BytesAnswer } from "./byte-bodies.ts";
import { IdSchema } from "./schema-text.ts";

/** All that the routes stand on. */
export interface Backend {
  readonly supervisor: Supervisor;
  readonly profiles: {
    list(): readonly Profile[];
    /** Throws `bad-profile`. */
    show(name: string): Profile;
    /** The text of a profile file as what it would become; nothing is stored. Throws `bad-profile`. */
    check(name: string, text: string): Profile;
  };
  readonly version: string;
  /** What a caller of the admin socket may do; undefined: everything. */
  readonly rights?: (caller: Caller) => Rights | undefined;
  /** The OpenAPI description of all routes. */
  readonly openApi: () => Readonly<Record<string, unknown>>;
  /** Resolves when every project has its socket, so that who added one may use it at once. */
  readonly socketsSettled: () => Promise<void>;
  /** Speaks MCP on a connection until it ends; the tools reach this API by `dial`, as their caller. */
  readonly serveMcp: (connection: Duplex, dial: () => Duplex, worktree: string) => Promise<void>;
}

export type SocketKind = Caller["socket"]["kind"];
export type Method = "DELETE" | "GET" | "POST";

/** One request after every check; what a handler may see of it. */
export interface RouteRequest<Params, Query, Body> {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Lines of an NDJSON body after the first; empty for any other body. */
  readonly rest: AsyncGenerator<unknown, void>;
  /** The body of a route that takes bytes; empty for any other. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Tells a client whose answer has to wait where to look meanwhile. */
  readonly announce: (path: string) => void;
  /** Aborts when the client is gone or the daemon closes the connection. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** A connection after every check that goes on in another protocol. */
export interface UpgradeRequest<Query, Params = object> {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly connection: Duplex;
  /** Opens a connection to this same API that counts as the caller's own. */
  readonly dial: () => Duplex;
  /** An error as the `error` event of a stream. */
  readonly failure: (error: unknown) => object;
  readonly log: Logger;
}

export interface Route {
  readonly method: Method;
  /** `/v1/sessions/{session}`: a name in braces is one path component. */
  readonly path: string;
  readonly sockets: readonly SocketKind[];
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: z.ZodType | null;
  /** The body is bytes, usually of this media type, and no JSON. */
  readonly takes?: string;
  /** The answer is bytes, usually of this media type: `handle` gives a BytesAnswer. */
  readonly gives?: string;
  /** The body may also be NDJSON, whose first line is `body`. */
  readonly bodyGoesOn: boolean;
  /** The shape of the answer: of all of it, or of each line. null: 204 without a body. */
  readonly answer: z.ZodType | null;
  readonly lines: boolean;
  /** The same as `handle` for clients that take frames: output is `{type, data}` with bytes. Absent: lines alone. */
  readonly handleFrames?: (
    backend: Backend,
    request: RouteRequest<never, never, never>,
  ) => AsyncIterable<object>;
  /** The connection leaves HTTP for this protocol; `handle` is what a plain request is told. */
  readonly upgrade?: {
    readonly protocol: string;
    readonly serve: (backend: Backend, request: UpgradeRequest<never, never>) => Promise<void>;
  };
  /** What it takes on the admin socket; to look for GET, to administer for all else. */
  readonly right?: Right;
  /** It shows or touches only what the caller's roles reach, though its request names no project. */
  readonly narrows?: boolean;
  /** Errors worth telling in the OpenAPI file, besides those of every route. */
  readonly errors: readonly ErrorCode[];
  /** A value (JSON), null (204) or, with `lines`, what is to be sent line by line. */
  readonly handle: (
    backend: Backend,
    request: RouteRequest<never, never, never>,
  ) => unknown | Promise<unknown> | AsyncIterable<unknown>;
}

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

interface RouteParts<Path extends string, Query extends z.ZodObject, Body extends z.ZodType> {
  readonly method: Method;
  readonly path: Path;
  readonly sockets: readonly SocketKind[];
  readonly summary: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly takes?: string;
  readonly right?: Right;
  readonly narrows?: boolean;
  readonly errors?: readonly ErrorCode[];
}

type Handled<Path extends string, Query extends z.ZodObject, Body extends z.ZodType> = RouteRequest<
  Readonly<Record<ParamNames<Path>, string>>,
  z.output<Query>,
  z.output<Body>
>;

const NO_QUERY = z.strictObject({});

/** A route that answers with one JSON value, or with nothing (204) when `answer` is null. */
export function jsonRoute<
  const Path extends string,
  Answer extends z.ZodType | null,
  Query extends z.ZodObject = typeof NO_QUERY,
  Body extends z.ZodType = z.ZodUndefined,
>(
  parts: RouteParts<Path, Query, Body> & {
    readonly answer: Answer;
    readonly handle: (
      backend: Backend,
      request: Handled<Path, Query, Body>,
    ) => Given<Answer> | Promise<Given<Answer>>;
  },
): Route {
  return { ...common(parts), bodyGoesOn: false, lines: false, ...parts, ...filled(parts) };
}

type Given<Answer extends z.ZodType | null> = Answer extends z.ZodType
  ? Frozen<z.output<Answer>>
  : null;

/** A route that answers with one JSON object a line until it ends or the client leaves. */
export function linesRoute<
  const Path extends string,
  Line extends z.ZodType,
  Query extends z.ZodObject = typeof NO_QUERY,
  Body extends z.ZodType = z.ZodUndefined,
>(
  parts: RouteParts<Path, Query, Body> & {
    readonly answer: Line;
    readonly bodyGoesOn?: boolean;
    readonly handleFrames?: (
      backend: Backend,
      request: Handled<Path, Query, Body>,
    ) => AsyncIterable<object>;
    readonly handle: (
      backend: Backend,
      request: Handled<Path, Query, Body>,
    ) => AsyncIterable<Frozen<z.output<Line>>>;
  },
): Route {
  return { ...common(parts), bodyGoesOn: false, lines: true, ...parts, ...filled(parts) };
}

/** A route that answers with bytes. */
export function bytesRoute<
  const Path extends string,
  Query extends z.ZodObject = typeof NO_QUERY,
  Body extends z.ZodType = z.ZodUndefined,
>(
  parts: RouteParts<Path, Query, Body> & {
    readonly gives: string;
    readonly handle: (
      backend: Backend,
      request: Handled<Path, Query, Body>,
    ) => Promise<BytesAnswer>;
  },
): Route {
  return {
    ...common(parts),
    answer: null,
    bodyGoesOn: false,
    lines: false,
    ...parts,
    ...filled(parts),
  };
}

/** A route that takes the connection out of HTTP. */
export function upgradeRoute<
  const Path extends string,
  Query extends z.ZodObject = typeof NO_QUERY,
>(
  parts: Omit<RouteParts<Path, Query, z.ZodUndefined>, "method"> & {
    readonly protocol: string;
    readonly serve: (
      backend: Backend,
      request: UpgradeRequest<z.output<Query>, Readonly<Record<ParamNames<Path>, string>>>,
    ) => Promise<void>;
  },
): Route {
  const { protocol, serve, ...others } = parts;
  return {
    ...common(parts),
    ...others,
    ...filled(parts),
    method: "GET",
    answer: null,
    bodyGoesOn: false,
    lines: false,
    upgrade: { protocol, serve },
    handle: () => {
      throw new RecintoError("bad-upgrade", `${parts.path} is served to Upgrade: ${protocol} only`);
    },
  };
}

function common(parts: { readonly path: string }): Pick<Route, "params"> {
  const names = [...parts.path.matchAll(/\{(\w+)\}/g)].map((found) => found[1] as string);
  return { params: z.strictObject(Object.fromEntries(names.map((name) => [name, IdSchema]))) };
}

function filled(parts: {
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly errors?: readonly ErrorCode[];
}): Pick<Route, "query" | "body" | "errors"> {
  return {
    query: parts.query ?? NO_QUERY,
    body: parts.body ?? null,
    errors: parts.errors ?? [],
  };
}

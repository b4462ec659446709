/** Finds the route of a request in a sorted table, and reads its parts by the route's schemas. */
import type { z } from "zod";
import { type ErrorCode, RecintoError } from "../errors.ts";
import { ERROR_ECHO_CHARS_MAX } from "../limits.ts";
import type { Route, SocketKind } from "./route.ts";

export interface FoundRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** By path, then method, in code-unit order; `routes.test.ts` holds the table to it. */
export function compareRoutes(a: Route, b: Route): number {
  return a.path === b.path ? (a.method < b.method ? -1 : 1) : a.path < b.path ? -1 : 1;
}

/**
 * The route for a method and path on one kind of socket. A route of the other socket does not exist on this one.
 * Throws `not-found`, `method-not-allowed`, or `bad-request` for a path that cannot be decoded.
 */
export function findRoute(
  routes: readonly Route[],
  socket: SocketKind,
  method: string,
  path: string,
): FoundRoute {
  const parts = path.split("/").map(decode);
  const methods: string[] = [];
  for (const route of routes) {
    if (!route.sockets.includes(socket)) continue;
    const params = matchPath(route.path, parts);
    if (params === null) continue;
    if (route.method === method) return { route, params };
    methods.push(route.method);
  }
  if (methods.length > 0) {
    throw new RecintoError("method-not-allowed", `${echo(method)} is not a method of this path`, {
      details: { allowed: methods },
    });
  }
  throw new RecintoError("not-found", `there is no ${echo(path)} on the ${socket} socket`);
}

function matchPath(
  pattern: string,
  parts: readonly string[],
): Readonly<Record<string, string>> | null {
  const wanted = pattern.split("/");
  if (wanted.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [i, want] of wanted.entries()) {
    const part = parts[i] as string;
    if (want.startsWith("{")) params[want.slice(1, -1)] = part;
    else if (want !== part) return null;
  }
  return params;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RecintoError(
      "bad-request",
      `the path part ${echo(part)} is not percent-encoded UTF-8`,
    );
  }
}

/** A query string as an object; a name given twice is a mistake, not a choice. */
export function queryOf(search: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of search) {
    if (Object.hasOwn(query, name)) {
      throw new RecintoError("bad-request", `${echo(name)} stands in the query twice`);
    }
    Object.defineProperty(query, name, { value, enumerable: true });
  }
  return query;
}

/** `value` by `schema`. Throws with the first fault in the message and all of them in the details. */
export function parsePart<S extends z.ZodType>(
  schema: S,
  part: "path" | "query" | "body",
  value: unknown,
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const found = result.error.issues.flatMap(nearestIssues);
  const issues = found.slice(0, ISSUES_MAX).map((issue) => ({
    where: harmless(cut([part, ...issue.path.map(String)].join("."))),
    message: harmless(cut(lowerFirst(issue.message))),
    value: describe(valueAt(value, issue.path)),
  }));
  const [first] = issues;
  throw new RecintoError(
    codeOf(found[0]),
    `${first?.where}: ${first?.message} (it is ${first?.value})`,
    { details: { issues } },
  );
}

const ISSUES_MAX = 16;

/** For a value that fits no shape of a union: what is wrong with it as the shape that it is nearest to. */
function nearestIssues(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const [nearest] = [...issue.errors].sort((a, b) => a.length - b.length);
  if (nearest === undefined || nearest.length === 0) return [issue];
  return nearest.flatMap((inner) =>
    nearestIssues({ ...inner, path: [...issue.path, ...inner.path] }),
  );
}

function codeOf(issue: z.core.$ZodIssue | undefined): ErrorCode {
  const params = issue?.code === "custom" ? issue.params : undefined;
  return params?.recinto === "bad-utf8" ? "bad-utf8" : "bad-request";
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, key)
        ? (at as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );
}

/** Never the whole of an object: it may be megabytes, and nested deeper than a stack is. */
function describe(value: unknown): string {
  if (value === undefined) return "absent";
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object") return "an object";
  return echo(value);
}

/** A caller's value in a message: quoted, so that nothing in it acts on a terminal, and short. */
export function echo(value: unknown): string {
  if (typeof value !== "string") return String(value);
  return harmless(JSON.stringify(cut(value)));
}

/** Control characters and direction marks, which JSON leaves as they are above U+001F, spelled out. */
function harmless(text: string): string {
  return text.replace(
    /[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function cut(text: string): string {
  return text.length <= ERROR_ECHO_CHARS_MAX ? text : `${text.slice(0, ERROR_ECHO_CHARS_MAX)}…`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

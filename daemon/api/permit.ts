/** The gate of the admin socket: whether the caller's roles reach to what a request does, before anything is done. */
import { beyond, type Right } from "../supervisor/roles.ts";
import type { Caller } from "../supervisor/types.ts";
import type { Route } from "./route.ts";

export function rightOf(route: Pick<Route, "method" | "right">): Right {
  return route.right ?? (route.method === "GET" ? "read" : "administer");
}

/**
 * Throws `not-permitted`. What a request is about is the project that its path, query or body names. A route that finds
 * out only as it looks (`narrows`) lets through whoever has the right somewhere: what it looks at is checked there.
 */
export function permit(route: Route, { socket }: Caller, ...parts: readonly unknown[]): void {
  if (socket.kind !== "admin" || socket.rights === undefined) return;
  const { rights } = socket;
  const right = rightOf(route);
  const named = [...new Set(parts.map(projectIn).filter((project) => project !== null))];
  // A request that names several is about each of them.
  if ((named.length === 0 ? [null] : named).every((project) => rights.may(right, project))) return;
  if (route.narrows === true && named.length === 0 && rights.maySomewhere(right)) return;
  throw beyond(rights, right);
}

function projectIn(part: unknown): string | null {
  if (typeof part !== "object" || part === null || !("project" in part)) return null;
  return typeof part.project === "string" ? part.project : null;
}

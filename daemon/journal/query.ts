/** A query of the journal as one SELECT with bound values. */
import type { EntryQuery } from "./types.ts";

export function selectEntries(
  query: EntryQuery,
  limit: number,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const conditions: string[] = ["seq > ?"];
  const values: unknown[] = [query.afterSeq ?? 0];
  if (query.project !== undefined) {
    conditions.push("project = ?");
    values.push(query.project);
  }
  for (const [column, among] of [
    ["session", query.sessions],
    ["event", query.events],
  ] as const) {
    if (among === undefined) continue;
    // One bound value, whatever the length of the list.
    conditions.push(`${column} IN (SELECT value FROM json_each(?))`);
    values.push(JSON.stringify(among));
  }
  if (query.sinceMs !== undefined) {
    conditions.push("at >= ?");
    values.push(query.sinceMs);
  }
  const order = query.newest ? "DESC" : "ASC";
  const sql = `SELECT * FROM entries WHERE ${conditions.join(" AND ")} ORDER BY seq ${order} LIMIT ?`;
  return { sql, values: [...values, limit] };
}

/** The hash chain: what each entry's hash is made of, and the check that one row follows another. */
import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";

/** What the first entry follows. */
export const GENESIS = "0".repeat(64);

/** One row as it is stored; `data` is canonical JSON text. */
export interface Row {
  readonly seq: number;
  readonly at: number;
  readonly event: string;
  readonly project: string | null;
  readonly session: string | null;
  readonly uid: number | null;
  readonly data: string;
  readonly hash: string;
}

/**
 * SHA-256 over the previous hash and the entry's canonical JSON. `data` goes in as its stored text: it is canonical
 * already, and text that was changed to an equal value still breaks the chain.
 */
export function entryHash(previous: string, row: Omit<Row, "hash">): string {
  const { seq, at, event, project, session, uid, data } = row;
  const head = canonicalJson({ seq, at, event, project, session, uid });
  return createHash("sha256")
    .update(`${previous}\n${head.slice(0, -1)},"data":${data}}`)
    .digest("hex");
}

/** Where a chain stands while it is walked. */
export interface ChainState {
  readonly seq: number;
  readonly hash: string;
}

export const CHAIN_START: ChainState = { seq: 0, hash: GENESIS };

/** Why `row` does not follow `state`, or null when it does. */
export function chainBreak(state: ChainState, row: Row): string | null {
  if (row.seq !== state.seq + 1) {
    return `entry ${state.seq + 1} is missing: ${row.seq} comes after ${state.seq}`;
  }
  if (entryHash(state.hash, row) !== row.hash) {
    return "its content or the hash before it was changed";
  }
  return null;
}

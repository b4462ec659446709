/** Names for what the supervisor makes: the kind, then enough randomness to be unique and short enough to type. */
import { randomFillSync } from "node:crypto";

export type IdKind =
  | "session"
  | "action"
  | "exec"
  | "approval"
  | "authority"
  | "rule"
  | "git"
  | "import"
  | "grant";
export type NewId = (kind: IdKind) => string;

const PREFIX: Readonly<Record<IdKind, string>> = {
  session: "s",
  action: "a",
  exec: "x",
  approval: "q",
  authority: "g",
  rule: "r",
  git: "d",
  import: "i",
  grant: "h",
};

/** Without 0, 1, l and o, which people mistake for each other. */
const LETTERS = "23456789abcdefghijkmnpqrstuvwxyz";
const LENGTH = 12;

/** Randomness is fetched for many ids at a time: one call for each costs as much as judging a command's words. */
const pool = Buffer.alloc(256 * LENGTH);
let used = pool.length;

/** `q-4k7mq2x9hwpd`: 60 random bits. Ids are names, not secrets: who may use one is decided by who calls. */
export const randomId: NewId = (kind) => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let id = `${PREFIX[kind]}-`;
  for (const end = used + LENGTH; used < end; used++) {
    id += LETTERS.charAt((pool[used] as number) % LETTERS.length);
  }
  return id;
};

/** Names for what the supervisor makes: the kind, then enough randomness to be unique and short enough to type. */
import { randomBytes } from "node:crypto";

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

/** `q-4k7mq2x9hwpd`: 60 random bits. Ids are names, not secrets: who may use one is decided by who calls. */
export const randomId: NewId = (kind) => {
  const letters = [...randomBytes(LENGTH)].map((byte) => LETTERS.charAt(byte % LETTERS.length));
  return `${PREFIX[kind]}-${letters.join("")}`;
};

/** A description while it is being made: the uses and lifts that a form's lists and hooks add. */

import type { Word } from "../shell/segment.ts";
import type { ActionClass, Effect } from "../types.ts";
import type { Use } from "./description.ts";

export interface Draft {
  form: string;
  known: boolean;
  lister: boolean;
  readonly uses: Use[];
  readonly lifts: string[];
}

export function newDraft(form: string): Draft {
  return { form, known: true, lister: false, uses: [], lifts: [] };
}

const EFFECTS: Readonly<Record<ActionClass, Effect>> = {
  read: "read",
  build: "run",
  run: "run",
  write: "write",
  scratch: "write",
  "git-write": "git-write",
  loopback: "network",
  network: "network",
  engine: "engine",
  install: "install",
  process: "process",
  privilege: "privilege",
  unknown: "unknown",
};

/** The effect that a class of action has. */
export function effectOf(actionClass: ActionClass): Effect {
  return EFFECTS[actionClass];
}

/** Files that are no files: the streams of the command itself and the sink. */
const STREAMS = /^\/dev\/(null|stdin|stdout|stderr|tty|fd\/\d+)$/;

/** Whether reading or writing that word touches nothing but the command's own streams. */
export function isStream(word: Word): boolean {
  return (
    word.process !== undefined || (word.value.kind === "literal" && STREAMS.test(word.value.value))
  );
}

/** Adds a use of the given class without a path. */
export function use(
  draft: Draft,
  actionClass: ActionClass,
  via: string,
  more?: Partial<Use>,
): void {
  draft.uses.push({ effect: effectOf(actionClass), class: actionClass, via, ...more });
}

/** Adds the reading of a path; `-` is the standard input and nothing to judge. */
export function reads(draft: Draft, path: Word, via: string, more?: Partial<Use>): void {
  if (isStream(path) || (path.value.kind === "literal" && path.value.value === "-")) return;
  use(draft, "read", via, { path, ...more });
}

/** Adds the writing of a path. */
export function writes(draft: Draft, path: Word, via: string, more?: Partial<Use>): void {
  if (!isStream(path)) use(draft, "write", via, { path, ...more });
}

/** Adds the running of a file: its content binds an approval. */
export function runs(
  draft: Draft,
  path: Word,
  via: string,
  actionClass: "run" | "build" = "run",
): void {
  use(draft, actionClass, via, { path, code: true });
}

/** A literal word. */
export function literal(text: string): Word {
  return { text, value: { kind: "literal", value: text }, quoted: true };
}

/** `path` as it is named from the working directory when the verb first moves to `folder`. */
export function under(folder: Word | null, path: Word): Word {
  if (folder === null) return path;
  const to = folder.value;
  const { value } = path;
  const unknown = (why: string): Word => ({
    ...path,
    value: { kind: "unknown", prefix: "", many: false, why },
  });
  if (value.kind === "literal" && value.value.startsWith("/")) return path;
  if (value.kind === "glob" && value.pattern.startsWith("/")) return path;
  if (to.kind !== "literal" || to.value === "") return unknown(`relative to ${folder.text}`);
  const at = to.value.endsWith("/") ? to.value : `${to.value}/`;
  switch (value.kind) {
    case "literal":
      return { ...path, value: { kind: "literal", value: at + value.value } };
    case "oneOf":
      return {
        ...path,
        value: {
          kind: "oneOf",
          values: value.values.map((each) => (each.startsWith("/") ? each : at + each)),
        },
      };
    case "number":
      return path;
    default:
      // A glob was expanded in the old folder and is read in the new one: two different files.
      return unknown(`${path.text} is expanded before the move to ${folder.text}`);
  }
}

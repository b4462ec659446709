/** What it means that a command sets variables: by a prefix, by `export`, by `read`. */

import type { Word } from "../shell/segment.ts";
import { type Draft, literal, reads } from "./draft.ts";
import { judgeEnv } from "./env-prefixes.ts";

/** A plain variable name; with a subscript bash would evaluate it. */
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Adds what setting `name` means. `value` null: not known. `exported`: programs see it. */
export function assigns(draft: Draft, name: string, value: string | null, exported: boolean): void {
  const judged = judgeEnv(name, value, exported);
  if (judged.kind === "lifts") draft.lifts.push(judged.reason);
  else if (judged.kind === "paths")
    for (const path of judged.paths) reads(draft, literal(path), name, { tree: true });
}

/** Words of a builtin that name variables, with or without a value: each must be a plain, ordinary name. */
export function namesVariables(words: readonly Word[], exported: boolean, draft: Draft): void {
  for (const { text, value } of words) {
    const known =
      value.kind === "literal" ? value.value : value.kind === "unknown" ? value.prefix : "";
    const equals = known.indexOf("=");
    const name = (equals < 0 ? known : known.slice(0, equals)).replace(/\+$/, "");
    if (!VARIABLE.test(name) || (equals < 0 && value.kind !== "literal"))
      draft.lifts.push(`${text} is no plain variable name`);
    else
      assigns(
        draft,
        name,
        value.kind === "literal" && equals >= 0 ? known.slice(equals + 1) : null,
        exported,
      );
  }
}

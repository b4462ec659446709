/** Every verb of the catalogue by name, from the family files, and the rows of its table in the documentation. */

import type { ActionClass } from "../types.ts";
import { archives } from "./archives.ts";
import { builtins } from "./builtins.ts";
import { compilers } from "./compilers.ts";
import { engines } from "./engines.ts";
import { git } from "./git.ts";
import { go } from "./go.ts";
import { interpreters } from "./interpreters.ts";
import { jvm } from "./jvm.ts";
import { make } from "./make.ts";
import { media } from "./media.ts";
import { moreTools } from "./more-tools.ts";
import { network } from "./network.ts";
import { nodePackages } from "./node-packages.ts";
import { nodeTools } from "./node-tools.ts";
import { packages } from "./packages.ts";
import { programs } from "./programs.ts";
import { pythonTools } from "./python-tools.ts";
import { reading } from "./reading.ts";
import { rust } from "./rust.ts";
import { searching } from "./searching.ts";
import { type Form, optionTable, type VerbSpec } from "./spec.ts";
import { system } from "./system.ts";
import { text } from "./text.ts";
import { writing } from "./writing.ts";

/** One array a family; a new family file is named here and nowhere else. */
const families: readonly (readonly VerbSpec[])[] = [
  reading,
  searching,
  text,
  programs,
  builtins,
  system,
  writing,
  archives,
  git,
  nodePackages,
  nodeTools,
  compilers,
  go,
  interpreters,
  make,
  pythonTools,
  rust,
  engines,
  network,
  packages,
  jvm,
  moreTools,
  media,
];

/** Verbs by each of their names. Throws when two families claim one name. */
export function buildCatalogue(
  of: readonly (readonly VerbSpec[])[],
): ReadonlyMap<string, VerbSpec> {
  const verbs = new Map<string, VerbSpec>();
  for (const spec of of.flat())
    for (const name of spec.names) {
      if (verbs.has(name)) throw new Error(`two families declare the verb ${name}`);
      verbs.set(name, spec);
    }
  return verbs;
}

export const catalogue: ReadonlyMap<string, VerbSpec> = buildCatalogue(families);

export interface VerbRow {
  /** `sort`, `git log`; aliases follow after commas. */
  readonly verb: string;
  readonly class: ActionClass;
  readonly note: string;
  /** Options that lift or write, as typed. */
  readonly lifting: readonly string[];
}

/** The rows of the table in docs/policy.md, ordered by verb. Pure. */
export function verbTable(): VerbRow[] {
  const rows = [...new Set(catalogue.values())].flatMap((spec) =>
    rowsOf(spec.names.join(", "), spec, spec.note),
  );
  return rows.sort((a, b) => (a.verb < b.verb ? -1 : 1));
}

function rowsOf(verb: string, form: Form, note = ""): VerbRow[] {
  const lifting = [...optionTable(form).values()]
    .filter((def) => def.lift !== null || def.role === "write" || def.role === "code")
    .map((def) => def.name);
  const own = { verb, class: classOf(form), note, lifting };
  const first = verb.split(", ")[0];
  const subs = Object.entries(form.sub ?? {}).flatMap(([names, sub]) =>
    rowsOf(`${first} ${names.split(" ").join(", ")}`, sub),
  );
  return form.sub === undefined
    ? [own]
    : [...(lifting.length > 0 || note !== "" ? [own] : []), ...subs];
}

function classOf(form: Form): ActionClass {
  if (form.class !== undefined) return form.class;
  const { operands } = form;
  const roles =
    typeof operands === "object"
      ? [...(operands.lead ?? []), operands.rest, operands.last]
      : [operands];
  return roles.includes("write") ? "write" : "read";
}

/** What every build, test and lint verb has in common. */

import { type Form, type Refine, textOf } from "./spec.ts";

/** It runs the project's own code and writes its results in the folder where it starts; operands are read. */
export const build: Form = { class: "build", inCwd: "write", operands: "tree" };
export const RUNS = "runs a program";
export const LOADS = "loads code from elsewhere";
export const FETCHES = "fetches from a registry";
export const SERVES = "starts a server";

/** Options whose value must be a plain name: a path or a class there would be loaded as code. */
export function plainNames(options: RegExp): Refine {
  return (parsed, draft) => {
    for (const { name, value } of parsed.options)
      if (options.test(name) && !/^[a-z][\w,-]*$/.test(textOf(value) ?? ""))
        draft.lifts.push(`${name} of ${draft.form} ${LOADS}`);
  };
}

/** Verbs that print files or folders. */

import type { VerbSpec } from "./spec.ts";

export const reading: readonly VerbSpec[] = [
  {
    names: ["cat"],
    flags:
      "-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T --show-tabs -u -v --show-nonprinting",
    operands: "read",
    anyArgs: true,
    examples: ["cat README.md", "cat -A README.md src/a.ts"],
  },
];

/** The list of the static comparator: all that a contract ever names, allowed from the start to the end. */
import { compileContract } from "../../daemon/authority/contract.ts";
import { LISTED_NETWORK, LISTED_READS, LISTED_WRITES } from "./comparators.ts";

/** Beside the project, where its daemon finds it. */
export const ALLOWLIST_FILE = "allowlist.json";

export interface Allowlist {
  /** Beginnings of argument vectors. */
  readonly commands: readonly (readonly string[])[];
  readonly hosts: readonly string[];
}

export function allowlistOf(contractText: string): Allowlist {
  const compiled = compileContract(contractText);
  if (compiled.problems !== undefined) throw new RangeError(JSON.stringify(compiled.problems));
  const { contract } = compiled;
  const parts = [...contract.envelope, ...contract.grants];
  const effects = new Set<string>(parts.map(({ effect }) => effect));
  const words = [
    ...LISTED_READS,
    ...(effects.has("write") ? LISTED_WRITES : []),
    ...(effects.has("network") || effects.has("install") ? LISTED_NETWORK : []),
  ];
  return {
    commands: [...words.map((word) => [word]), ...parts.flatMap(({ commands }) => commands)],
    hosts: parts.flatMap(({ hosts }) => hosts),
  };
}

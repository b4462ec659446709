/** Which hosts and ports a judged command names, as patterns that an authority can hold. Pure. */
import { parseHostRule } from "../policy/hosts.ts";
import type { Verdict } from "../policy/types.ts";

/** Whether it does what can only be done from a way out of the sandbox. */
export function leaves({ classes }: Pick<Verdict, "classes">): boolean {
  return classes.includes("network") || classes.includes("install");
}

/** `example.org` (80 and 443) or `example.org:8080`, as a person read them in the command. */
export function namedEndpoints({ segments }: Pick<Verdict, "segments">): readonly string[] {
  const found = new Set<string>();
  for (const { hosts, argv = [], classes } of segments) {
    if (!classes.includes("network") && !classes.includes("install")) continue;
    if (hosts === undefined) {
      // The catalogue names hosts where it knows what becomes of the words; else a whole address is one.
      for (const word of argv) {
        const endpoint = /^(?:git\+)?https?:\/\/([^/?#@\\]+)(?:[/?#][^@]*)?$/.exec(word)?.[1];
        if (endpoint !== undefined && parseHostRule(endpoint).rule?.below === "no")
          found.add(endpoint);
      }
      continue;
    }
    for (const host of hosts) {
      const spelled = host.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      const pattern = new RegExp(`(?<![\\w.-])${spelled}(?::(\\d{1,5})(?!\\d))?(?![\\w.-])`, "gi");
      const ports = argv.flatMap((word) => [...word.matchAll(pattern)].map(([, port]) => port));
      for (const port of ports.length === 0 ? [undefined] : ports) {
        const endpoint = port === undefined ? host : `${host}:${port}`;
        if (parseHostRule(endpoint).refused === undefined) found.add(endpoint);
      }
    }
  }
  return [...found];
}

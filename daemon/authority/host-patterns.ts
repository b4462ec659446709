/** Host patterns of contracts: which one covers which, and whether one names a host. */
import { type HostRule, hostRuleText, normaliseHost, parseHostRule } from "../policy/hosts.ts";

export type ParsedHost =
  | { readonly pattern: string; readonly refused?: undefined }
  | { readonly refused: string };

/** The pattern in its one spelling, or why it is refused, with what to write instead. */
export function parseHostPattern(text: string): ParsedHost {
  const { rule, refused } = parseHostRule(text);
  if (rule !== undefined) return { pattern: hostRuleText(rule) };
  if (/^\*+$/.test(text))
    return { refused: "every host is no host: name those that the task needs" };
  if (text.includes("/")) return { refused: "a host has no scheme and no path: write example.org" };
  if (text.replace(/^\*\*?\./, "").includes("*")) {
    return { refused: "a wildcard stands for whole labels in front: write *.example.org" };
  }
  return { refused };
}

/** Whether every host and port of the narrow pattern is one of the wide. What cannot be read covers nothing. */
export function coversHostPattern(wideText: string, narrowText: string): boolean {
  const wide = parseHostRule(wideText).rule;
  const narrow = parseHostRule(narrowText).rule;
  if (wide === undefined || narrow === undefined) return false;
  return narrow.ports.every((port) => wide.ports.includes(port)) && coversNames(wide, narrow);
}

function coversNames(wide: HostRule, narrow: HostRule): boolean {
  const below = narrow.host.endsWith(`.${wide.host}`);
  switch (wide.below) {
    case "no":
      return narrow.below === "no" && narrow.host === wide.host;
    case "any":
      return below || (narrow.below !== "no" && narrow.host === wide.host);
    case "one":
      if (narrow.below !== "no") return narrow.below === "one" && narrow.host === wide.host;
      return below && !narrow.host.slice(0, -wide.host.length - 1).includes(".");
  }
}

/** Whether a host, on whatever port, is one that a pattern names; the port is the proxy's to check. */
export function namesHost(patterns: readonly string[], host: string): boolean {
  const named = normaliseHost(host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);
  if (named.refused !== undefined) return false;
  const narrow: HostRule = { host: named.host, below: "no", ports: [] };
  return patterns.some((text) => {
    const { rule } = parseHostRule(text);
    return rule !== undefined && coversNames(rule, narrow);
  });
}

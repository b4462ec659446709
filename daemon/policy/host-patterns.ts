/** Host patterns as authorities name them: which one covers which, and whether one names a host. */
import { coversName, type HostRule, hostRuleText, normaliseHost, parseHostRule } from "./hosts.ts";

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
  if (narrow.below === "no") return coversName(wide, narrow.host);
  if (wide.below === "any") return narrow.host === wide.host || coversName(wide, narrow.host);
  return wide.below === narrow.below && narrow.host === wide.host;
}

/** Whether a host, on whatever port, is one that a pattern names; the port is the proxy's to check. */
export function namesHost(patterns: readonly string[], host: string): boolean {
  const named = normaliseHost(host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);
  if (named.refused !== undefined) return false;
  return patterns.some((text) => {
    const { rule } = parseHostRule(text);
    return rule !== undefined && coversName(rule, named.host);
  });
}

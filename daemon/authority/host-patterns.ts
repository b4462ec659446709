/** Hosts as contracts name them: one spelling, wildcards by whole labels, and which pattern covers which. */

export interface HostPattern {
  /** Lower case, without a trailing dot; IPv6 in brackets. */
  readonly name: string;
  /** `one`: exactly one more label in front; `any`: one or more. */
  readonly below: "no" | "one" | "any";
  /** null: 80 and 443. */
  readonly port: number | null;
}

export type ParsedHost =
  | { readonly pattern: HostPattern; readonly refused?: undefined }
  | { readonly refused: string; readonly pattern?: undefined };

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;
/** What a resolver might take for an address in another spelling: 0x7f.1, 2130706433, 127.1. */
const NUMERIC = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/** Reads `example.org`, `*.example.org`, `**.example.org`, an address, each with or without `:PORT`. */
export function parseHostPattern(text: string): ParsedHost {
  const parts = /^(\*\*?\.)?(\[[0-9a-f:.]+\]|[^:*[\]]+)(?::([1-9]\d{0,4}))?$/.exec(
    text.toLowerCase(),
  );
  if (parts === null) return { refused: shapeOf(text) };
  const [, star, written = "", portText] = parts;
  const port = portText === undefined ? null : Number(portText);
  if (port !== null && port > 65_535) return { refused: `port ${port} is over 65535` };
  const name = written.replace(/\.$/, "");
  const address = name.startsWith("[") || IPV4.test(name);
  if (!address) {
    if (NUMERIC.test(name)) return { refused: "write an address as four decimal numbers" };
    if (name.length > 253 || !name.split(".").every((label) => LABEL.test(label))) {
      return { refused: "not a host name; names of other scripts are written as xn--…" };
    }
  }
  if (star === undefined) return { pattern: { name, below: "no", port } };
  if (address) return { refused: "an address has no names below it: name the address alone" };
  if (!name.includes(".")) {
    return { refused: `anybody can have a name below ${name}: name at least two labels` };
  }
  return { pattern: { name, below: star === "*." ? "one" : "any", port } };
}

function shapeOf(text: string): string {
  if (/^\*+$/.test(text)) return "every host is no host: name those that the task needs";
  if (/:\/\/|\//.test(text)) return "a host has no scheme and no path: write example.org";
  return "a wildcard stands for whole labels in front: *.example.org, **.example.org";
}

/** The text that `parseHostPattern` reads as this pattern. */
export function hostPatternText({ name, below, port }: HostPattern): string {
  const star = below === "no" ? "" : below === "one" ? "*." : "**.";
  return `${star}${name}${port === null ? "" : `:${port}`}`;
}

/** Whether every host and port of the narrow pattern is one of the wide. What cannot be read covers nothing. */
export function coversHostPattern(wideText: string, narrowText: string): boolean {
  const wide = parseHostPattern(wideText).pattern;
  const narrow = parseHostPattern(narrowText).pattern;
  if (wide === undefined || narrow === undefined) return false;
  const usual = narrow.port === 80 || narrow.port === 443;
  if (wide.port === null ? narrow.port !== null && !usual : wide.port !== narrow.port) return false;
  if (wide.below === "no") return narrow.below === "no" && narrow.name === wide.name;
  if (wide.below === "any") {
    const nameBelow = narrow.name.endsWith(`.${wide.name}`);
    return nameBelow || (narrow.below !== "no" && narrow.name === wide.name);
  }
  if (narrow.below === "one") return narrow.name === wide.name;
  if (narrow.below === "any" || !narrow.name.endsWith(`.${wide.name}`)) return false;
  return !narrow.name.slice(0, -wide.name.length - 1).includes(".");
}

/** Whether a host, on whatever port, is one that a pattern names; the port is the proxy's to check. */
export function namesHost(patterns: readonly string[], host: string): boolean {
  return patterns.some((text) => {
    const { pattern } = parseHostPattern(text);
    if (pattern === undefined) return false;
    return coversHostPattern(hostPatternText({ ...pattern, port: null }), host);
  });
}

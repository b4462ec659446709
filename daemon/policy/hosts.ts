/** Hosts and ports that an authority names: one spelling for each host, and patterns by label. Pure. */
import { looksNumeric, parseAddress } from "./addresses.ts";

/** A host in its one spelling: lower case, ASCII, no trailing dot; IPv6 without brackets. */
export type HostName =
  | { readonly host: string; readonly address: boolean; readonly refused?: undefined }
  | { readonly refused: string };

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** `text` as it stands in a URL: IPv6 in brackets, names in any case or script. */
export function normaliseHost(text: string): HostName {
  const bracketed = /^\[([^\]]*)\]$/.exec(text);
  if (bracketed !== null) {
    const address = parseAddress(bracketed[1] ?? "");
    if (address === null || address.length !== 16) return { refused: "not an IPv6 address" };
    return { host: spellIPv6(address), address: true };
  }
  const ascii = toAscii(text.replace(/\.$/, ""));
  if (ascii === null || ascii.length > 253) return { refused: "not a host name" };
  if (looksNumeric(ascii)) {
    return parseAddress(ascii) === null
      ? { refused: "a number in place of a host: write an address as four decimal numbers" }
      : { host: ascii, address: true };
  }
  if (!ascii.split(".").every((label) => LABEL.test(label))) return { refused: "not a host name" };
  return { host: ascii, address: false };
}

/** Punycode and case. What the URL parser would turn into an address is left alone, so that it is seen and refused. */
function toAscii(text: string): string | null {
  if (/^[\x21-\x7e]+$/.test(text)) return text.toLowerCase();
  if (/[\x00-\x20\x7f-\xa0%/\\?#@:[\]]/.test(text)) return null;
  const { hostname } = URL.canParse(`http://${text}/`)
    ? new URL(`http://${text}/`)
    : { hostname: "" };
  // Digits of other scripts become plain ones there: such a spelling is for hiding an address.
  return hostname === "" || looksNumeric(hostname) ? null : hostname;
}

function spellIPv6(address: readonly number[]): string {
  const group = (at: number) => (((address[at] ?? 0) << 8) | (address[at + 1] ?? 0)).toString(16);
  return [0, 2, 4, 6, 8, 10, 12, 14].map(group).join(":");
}

/** How a host and its port are written in logs and URLs. */
export function authorityText(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** What a pattern without a port stands for: plain HTTP and HTTPS. */
const USUAL_PORTS: readonly number[] = [80, 443];

export interface HostRule {
  readonly host: string;
  /** `one`: exactly one more label in front; `any`: one or more. */
  readonly below: "no" | "one" | "any";
  readonly ports: readonly number[];
}

export type ParsedHostRule =
  | { readonly rule: HostRule; readonly refused?: undefined }
  | { readonly refused: string; readonly rule?: undefined };

/**
 * `example.org`, `*.example.org` (one label more), `**.example.org` (one or more), each with `:PORT` behind it where it
 * is not 80 and 443. No wildcard over what anybody can register names in.
 */
export function parseHostRule(text: string): ParsedHostRule {
  const parts = /^(\*\*?\.)?(\[[^\]]*\]|[^:*]+)(?::(\d{1,5}))?$/.exec(text);
  if (parts === null) return { refused: "not a host, *.host or host:port" };
  const [, star, name = "", portText] = parts;
  const named = normaliseHost(name);
  if (named.refused !== undefined) return { refused: named.refused };
  const port = portText === undefined ? null : parsePort(portText);
  if (portText !== undefined && port === null) return { refused: "not a port" };
  const ports = port === null ? USUAL_PORTS : [port];
  if (star === undefined) return { rule: { host: named.host, below: "no", ports } };
  if (named.address) return { refused: "an address has no names below it" };
  if (isPublicSuffix(named.host)) {
    return { refused: `anybody can have a name below ${named.host}` };
  }
  return { rule: { host: named.host, below: star === "*." ? "one" : "any", ports } };
}

/** One label, or two of the kind `co.uk`. A list of all of them would be out of date; hosters' domains are not known. */
function isPublicSuffix(host: string): boolean {
  const labels = host.split(".");
  if (labels.length > 2) return false;
  const [second = "", top = ""] = labels;
  return (
    labels.length === 1 ||
    (top.length === 2 &&
      /^(?:ac|co|com|edu|gob|gov|gouv|go|info|ltd|mil|ne|net|nom|or|org|plc|sch|web)$/.test(second))
  );
}

export function parsePort(text: string): number | null {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : null;
}

/** `host` in its one spelling, as `normaliseHost` gives it. */
export function coversHost(rules: readonly HostRule[], host: string, port: number): boolean {
  return rules.some((rule) => rule.ports.includes(port) && coversName(rule, host));
}

/** The same on whatever port. */
export function coversName({ host: wide, below }: HostRule, host: string): boolean {
  if (below === "no") return wide === host;
  if (!host.endsWith(`.${wide}`)) return false;
  return below === "any" || !host.slice(0, -wide.length - 1).includes(".");
}

/** The pattern that `parseHostRule` reads as this rule. */
export function hostRuleText({ host, below, ports }: HostRule): string {
  const star = { no: "", one: "*.", any: "**." }[below];
  const name = host.includes(":") ? `[${host}]` : host;
  const port = ports === USUAL_PORTS || ports.length > 1 ? "" : `:${ports[0]}`;
  return `${star}${name}${port}`;
}

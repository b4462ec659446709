/** Which addresses may be dialled for a sandbox, and what is an address at all. Pure. */

/** 4 or 16 bytes, in network order. */
export type Address = readonly number[];

export interface AddressRange {
  readonly address: Address;
  readonly bits: number;
}

/** Four decimal numbers without leading zeros; any other spelling of an IPv4 address is null. */
function parseIPv4(text: string): Address | null {
  const parts = text.split(".");
  if (parts.length !== 4) return null;
  const bytes = parts.map((part) => (/^(?:0|[1-9]\d{0,2})$/.test(part) ? Number(part) : 256));
  return bytes.every((byte) => byte < 256) ? bytes : null;
}

/** Without brackets. A zone id (`fe80::1%eth0`) is no part of an address that leaves a machine: null. */
function parseIPv6(text: string): Address | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half, index) => groupsOf(half, index === halves.length - 1));
  if (head === null || head === undefined || tail === null) return null;
  if (tail === undefined) return head.length === 16 ? head : null;
  const missing = 16 - head.length - tail.length;
  // `::` stands for one group at least.
  return missing < 2 ? null : [...head, ...new Array<number>(missing).fill(0), ...tail];
}

function groupsOf(text: string, last: boolean): Address | null {
  if (text === "") return [];
  const bytes: number[] = [];
  const groups = text.split(":");
  for (const [index, group] of groups.entries()) {
    if (last && index === groups.length - 1 && group.includes(".")) {
      const embedded = parseIPv4(group);
      if (embedded === null) return null;
      bytes.push(...embedded);
    } else if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    } else return null;
  }
  return bytes;
}

/** An address in its plain spelling, or null. Never guesses: what a resolver might read as one is not one here. */
export function parseAddress(text: string): Address | null {
  return text.includes(":") ? parseIPv6(text) : parseIPv4(text);
}

/**
 * Whether programs read this host as a number: its last label is one (decimal, octal or hex). `2130706433`, `0x7f.1`,
 * `0177.0.0.1` and `127.1` all are 127.0.0.1 to somebody.
 */
export function looksNumeric(host: string): boolean {
  const last = host.replace(/\.$/, "").split(".").at(-1) ?? "";
  return /^(?:\d+|0x[0-9a-f]*)$/i.test(last);
}

/** `10.1.0.0/16` or one address. Throws RangeError: it is our own tests and settings that write these. */
export function parseRange(text: string): AddressRange {
  const [before = "", bits] = text.split("/");
  const address = parseAddress(before);
  if (address === null) throw new RangeError(`not an address range: ${text}`);
  return { address, bits: bits === undefined ? address.length * 8 : Number(bits) };
}

export function isInRange(address: Address, range: AddressRange): boolean {
  if (address.length !== range.address.length) return false;
  for (let bit = 0; bit < range.bits; bit += 8) {
    const mask = 0xff << Math.max(0, 8 - (range.bits - bit));
    const at = bit / 8;
    if ((((address[at] ?? 0) ^ (range.address[at] ?? 0)) & mask & 0xff) !== 0) return false;
  }
  return true;
}

type Named = readonly [range: AddressRange, why: string];
const named = (ranges: Readonly<Record<string, string>>): readonly Named[] =>
  Object.entries(ranges).map(([range, why]) => [parseRange(range), why]);

const REFUSED_V4 = named({
  "0.0.0.0/8": "the unspecified network",
  "10.0.0.0/8": "a private network",
  "100.64.0.0/10": "a carrier's shared network",
  "127.0.0.0/8": "loopback",
  "168.63.129.16": "a cloud's host service",
  "169.254.0.0/16": "link-local, where clouds keep their metadata",
  "172.16.0.0/12": "a private network",
  "192.0.0.0/24": "reserved for protocols",
  "192.0.2.0/24": "documentation",
  "192.88.99.0/24": "6to4 relays",
  "192.168.0.0/16": "a private network",
  "198.18.0.0/15": "benchmarking",
  "198.51.100.0/24": "documentation",
  "203.0.113.0/24": "documentation",
  "224.0.0.0/4": "multicast",
  "240.0.0.0/4": "reserved",
});

/** Names for what lies outside 2000::/3 (all of which is refused), and what is refused inside. */
const REFUSED_V6 = named({
  "::/128": "the unspecified address",
  "::1/128": "loopback",
  "::ffff:0:0/96": "an IPv4 address inside an IPv6 one",
  "::/96": "an IPv4 address inside an IPv6 one",
  "64:ff9b:1::/48": "a local translator's network",
  "fc00::/7": "a private network",
  "fe80::/10": "link-local",
  "fec0::/10": "a private network",
  "ff00::/8": "multicast",
  "2001::/32": "Teredo: an IPv4 address inside an IPv6 one",
  "2001::/23": "reserved for protocols",
  "2001:db8::/32": "documentation",
  "2002::/16": "6to4: an IPv4 address inside an IPv6 one",
  "3fff::/20": "documentation",
});
const GLOBAL_V6 = parseRange("2000::/3");
const NAT64 = parseRange("64:ff9b::/96");

export interface AddressSettings {
  /** Addresses of this machine: what listens there never expects a sandbox. */
  readonly own: readonly Address[];
  /** Ranges that may be dialled whatever is said here. Empty outside of tests. */
  readonly allowed: readonly AddressRange[];
}

/** Why this address is not dialled, in a few words, or null when it may be. */
export function refusedAddress(address: Address, settings: AddressSettings): string | null {
  const { own, allowed } = settings;
  if (allowed.some((range) => isInRange(address, range))) return null;
  if (own.some((each) => sameAddress(each, address))) return "an address of this machine";
  // On a network without IPv4 every IPv4 host has such an address: what counts is the one inside.
  if (isInRange(address, NAT64)) return refusedAddress(address.slice(12), settings);
  const list = address.length === 4 ? REFUSED_V4 : REFUSED_V6;
  const found = list.find(([range]) => isInRange(address, range));
  if (found !== undefined) return found[1];
  if (address.length === 4) return null;
  if (!isInRange(address, GLOBAL_V6)) return "no public address";
  // ISATAP: the last eight bytes are 00-00-5e-fe and an IPv4 address.
  const isatap = [0, 2].includes(address[8] ?? 0) && address[9] === 0;
  return isatap && address[10] === 0x5e && address[11] === 0xfe
    ? "an IPv4 address inside an IPv6 one"
    : null;
}

export function sameAddress(a: Address, b: Address): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** Every notation of an address, and every range that no sandbox reaches. */
import { describe, expect, test } from "vitest";
import {
  type AddressSettings,
  looksNumeric,
  parseAddress,
  parseRange,
  refusedAddress,
} from "../../daemon/policy/addresses.ts";

const NOTHING: AddressSettings = { own: [], allowed: [] };
const why = (text: string, settings = NOTHING) => {
  const address = parseAddress(text);
  return address === null ? "not an address" : refusedAddress(address, settings);
};

describe("an address is read in its plain spelling only", () => {
  test.each([
    ["127.0.0.1", [127, 0, 0, 1]],
    ["::1", [...new Array(15).fill(0), 1]],
    ["2001:db8::192.0.2.1", [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1]],
    ["1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
  ])("%s", (text, bytes) => expect(parseAddress(text)).toEqual(bytes));

  test.each([
    "127.1",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "2130706433",
    "127.0.0.01",
    "127.0.0.256",
    "127.0.0.1.",
    " 127.0.0.1",
    "fe80::1%eth0",
    "1::2::3",
    ":1",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7::8",
    "::ffff:127.1",
    "12345::",
    "",
  ])("not %j", (text) => expect(parseAddress(text)).toBeNull());

  test.each(["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "a.b.0x", "1.2.3.4."])(
    "a resolver might read %s as a number",
    (host) => expect(looksNumeric(host)).toBe(true),
  );
  test.each(["example.org", "1.example", "0x7f.example.org", "abc"])("%s is a name", (host) =>
    expect(looksNumeric(host)).toBe(false),
  );
});

describe("what is refused", () => {
  test.each([
    ["0.0.0.0", "the unspecified network"],
    ["10.0.0.1", "a private network"],
    ["100.64.0.1", "a carrier's shared network"],
    ["100.127.255.255", "a carrier's shared network"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["169.254.169.254", "link-local, where clouds keep their metadata"],
    ["168.63.129.16", "a cloud's host service"],
    ["172.16.0.1", "a private network"],
    ["172.31.255.255", "a private network"],
    ["192.0.0.192", "reserved for protocols"],
    ["192.0.2.1", "documentation"],
    ["192.88.99.1", "6to4 relays"],
    ["192.168.1.1", "a private network"],
    ["198.19.255.255", "benchmarking"],
    ["198.51.100.1", "documentation"],
    ["203.0.113.1", "documentation"],
    ["224.0.0.1", "multicast"],
    ["255.255.255.255", "reserved"],
    ["::", "the unspecified address"],
    ["::1", "loopback"],
    ["::127.0.0.1", "an IPv4 address inside an IPv6 one"],
    ["::ffff:127.0.0.1", "an IPv4 address inside an IPv6 one"],
    ["::ffff:7f00:1", "an IPv4 address inside an IPv6 one"],
    ["::ffff:8.8.8.8", "an IPv4 address inside an IPv6 one"],
    ["64:ff9b::127.0.0.1", "loopback"],
    ["64:ff9b::a9fe:a9fe", "link-local, where clouds keep their metadata"],
    ["64:ff9b:1::1", "a local translator's network"],
    ["2002:7f00:1::", "6to4: an IPv4 address inside an IPv6 one"],
    ["2001:0:7f00:1::", "Teredo: an IPv4 address inside an IPv6 one"],
    ["2001:2::1", "reserved for protocols"],
    ["2001:db8::1", "documentation"],
    ["2606:4700::5efe:10.0.0.1", "an IPv4 address inside an IPv6 one"],
    ["3fff::1", "documentation"],
    ["4000::1", "no public address"],
    ["100::1", "no public address"],
    ["fc00::1", "a private network"],
    ["fd00:ec2::254", "a private network"],
    ["fe80::1", "link-local"],
    ["fec0::1", "a private network"],
    ["ff02::1", "multicast"],
  ])("%s: %s", (text, reason) => expect(why(text)).toBe(reason));

  test.each([
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "198.17.255.255",
    "223.255.255.255",
    "2606:4700::1",
    "64:ff9b::8.8.8.8",
  ])("%s may be dialled", (text) => expect(why(text)).toBeNull());

  test("this machine's own public addresses are refused, also through a translator", () => {
    const own = [parseAddress("8.8.4.4") ?? []];
    expect(why("8.8.4.4", { own, allowed: [] })).toBe("an address of this machine");
    expect(why("64:ff9b::8.8.4.4", { own, allowed: [] })).toBe("an address of this machine");
  });

  test("an allowance covers its range and nothing beside it", () => {
    const settings = { own: [], allowed: [parseRange("10.9.8.0/29")] };
    expect(why("10.9.8.7", settings)).toBeNull();
    expect(why("10.9.8.8", settings)).toBe("a private network");
    expect(why("::ffff:10.9.8.7", settings)).toBe("an IPv4 address inside an IPv6 one");
  });
});

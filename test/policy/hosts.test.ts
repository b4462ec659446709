/** Host names in their one spelling, and patterns that name hosts by label. */
import { describe, expect, test } from "vitest";
import {
  coversHost,
  type HostRule,
  hostRuleText,
  normaliseHost,
  parseHostRule,
} from "../../daemon/policy/hosts.ts";

const rule = (text: string): HostRule => {
  const parsed = parseHostRule(text);
  if (parsed.refused !== undefined) throw new Error(`${text}: ${parsed.refused}`);
  return parsed.rule;
};

describe("one spelling for each host", () => {
  test.each([
    ["Example.ORG", "example.org"],
    ["example.org.", "example.org"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["BÜCHER.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["[2606:4700::1]", "2606:4700:0:0:0:0:0:1"],
    ["[2606:4700:0:0::0001]", "2606:4700:0:0:0:0:0:1"],
    ["8.8.8.8", "8.8.8.8"],
    ["_dmarc.example.org", "_dmarc.example.org"],
  ])("%s", (text, host) => expect(normaliseHost(text)).toMatchObject({ host }));

  test.each([
    "",
    ".",
    "..",
    "a..b",
    "-a.example",
    "a-.example",
    "a b.example",
    "a\tb",
    "a%2eb",
    "user@example.org",
    "example.org:80",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "127.0.0.1.5",
    "１２７.0.0.1",
    "127。0。0。1",
    "[::1%25lo]",
    "[127.0.0.1]",
    "[::1",
    "::1",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(127)}example`,
    "example.org\0.evil.example",
    "ex\u00adample.1",
  ])("%j is refused", (text) => expect(normaliseHost(text)).toHaveProperty("refused"));
});

describe("patterns", () => {
  test.each([
    ["example.org", "example.org", 443, true],
    ["example.org", "example.org", 80, true],
    ["example.org", "example.org", 8080, false],
    ["example.org", "www.example.org", 443, false],
    ["example.org", "notexample.org", 443, false],
    ["example.org:8443", "example.org", 8443, true],
    ["example.org:8443", "example.org", 443, false],
    ["*.example.org", "a.example.org", 443, true],
    ["*.example.org", "example.org", 443, false],
    ["*.example.org", "a.b.example.org", 443, false],
    ["*.example.org", "aexample.org", 443, false],
    ["**.example.org", "a.b.example.org", 443, true],
    ["**.example.org", "example.org", 443, false],
    ["**.example.org", "evilexample.org", 443, false],
    ["*.Bücher.example:81", "a.xn--bcher-kva.example", 81, true],
    ["8.8.8.8", "8.8.8.8", 443, true],
  ])("%s and %s:%d", (pattern, host, port, covered) =>
    expect(coversHost([rule(pattern)], host, port)).toBe(covered),
  );

  test.each([
    "*",
    "**",
    "*.",
    "*.com",
    "*.org.",
    "*.co.uk",
    "**.com.au",
    "*.localhost",
    "a.*.example.org",
    "a*.example.org",
    "*.*.example.org",
    "*.8.8.8.8",
    "example.org:0",
    "example.org:65536",
    "example.org:080",
    "example.org:*",
    "http://example.org",
    "example.org/path",
    "2130706433",
    "",
  ])("%j is refused", (text) => expect(parseHostRule(text)).toHaveProperty("refused"));

  test.each(["example.org", "*.example.org:81", "**.example.org", "[2606:4700:0:0:0:0:0:1]:80"])(
    "%s is written as it was read",
    (text) => expect(hostRuleText(rule(text))).toBe(text),
  );
});

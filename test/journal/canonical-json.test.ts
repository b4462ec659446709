/** Equal JSON values have one spelling, and what has no JSON form is refused. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../daemon/journal/canonical-json.ts";

test("keys are sorted at every depth and undefined members are left out", () => {
  expect(canonicalJson({ b: [{ d: 1, c: null }], a: "x", z: undefined })).toBe(
    '{"a":"x","b":[{"c":null,"d":1}]}',
  );
});

test("it parses back to the same value, and its spelling does not depend on the order of keys", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test.each([[Number.NaN], [Number.POSITIVE_INFINITY], [1n], [() => 1], [undefined]])(
  "%s has no JSON form",
  (value) => {
    expect(() => canonicalJson({ list: [value] })).toThrow("has no JSON form");
  },
);

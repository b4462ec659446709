/** The short form of `npm run fuzz -- settings`. */
import { expect, test } from "vitest";
import { fuzzSettings } from "../fuzz/settings.ts";

test("whatever stands in a config, profile, contract or rule file, it is read or refused with its place", () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  expect([fuzzSettings({ count: 1_500, seed }), seed]).toEqual([0, seed]);
}, 120_000);

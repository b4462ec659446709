/** Sizes and durations: what reads as one, and that what is written reads back. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatDuration,
  formatSize,
  parseDuration,
  parseSize,
} from "../../daemon/settings/quantities.ts";

test.each([
  ["512MiB", 512 * 2 ** 20],
  ["1.5GiB", 1.5 * 2 ** 30],
  ["0B", 0],
  ["12", null],
  ["12MB", null],
  ["-1MiB", null],
  ["1e3B", null],
  [" 1B", null],
])("size %j is %s", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each([
  ["10m", 600_000],
  ["1.5s", 1_500],
  ["250ms", 250],
  ["2h", 7_200_000],
  ["10", null],
  ["10 minutes", null],
  ["-5s", null],
])("duration %j is %s", (text, durationMs) => {
  expect(parseDuration(text)).toBe(durationMs);
});

test("what is written reads back", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999 }), (bytes) => {
      expect(parseSize(formatSize(bytes))).toBe(bytes);
    }),
  );
  for (const durationMs of [250, 1_000, 600_000, 7_200_000, 86_400_000]) {
    expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
  }
});

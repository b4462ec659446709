/** Reads option values that people type: durations, whole numbers. */
import ms from "ms";
import { RecintoError } from "../errors.ts";

/** `90s`, `10m`, `2h`, `7d` in milliseconds. Throws `bad-usage`. */
export function durationOf(option: string, text: string): number {
  const value = /^\d/.test(text) ? ms(text as ms.StringValue) : undefined;
  if (value === undefined || !Number.isFinite(value) || value <= 0 || /^\d+$/.test(text)) {
    throw new RecintoError("bad-usage", `${option} ${JSON.stringify(text)} is not a duration`, {
      hint: "write 90s, 10m, 2h or 7d",
    });
  }
  return value;
}

/** A whole number from `min` up. Throws `bad-usage`. */
export function wholeNumberOf(option: string, text: string, min: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min)) {
    throw new RecintoError(
      "bad-usage",
      `${option} ${JSON.stringify(text)} is not a whole number from ${min} up`,
    );
  }
  return value;
}

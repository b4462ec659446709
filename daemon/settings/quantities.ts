/** Sizes and durations as an admin writes them (`512MiB`, `10m`), as zod fields that yield bytes and milliseconds. */
import ms from "ms";
import { z } from "zod";

export const SIZE = /^(\d{1,9}(?:\.\d{1,3})?)(B|KiB|MiB|GiB|TiB)$/;
const UNIT_BYTES = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const;
export const DURATION = /^\d{1,6}(?:\.\d{1,3})?(?:ms|s|m|h|d)$/;

/** Bytes of `512MiB`; null when it is not a size. Binary units only, so that nobody has to guess. */
export function parseSize(text: string): number | null {
  const [, amount, unit] = SIZE.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return null;
  return Math.round(Number(amount) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES]);
}

/** Milliseconds of `10m`; null when it is not a duration. A bare number is refused: its unit would be a guess. */
export function parseDuration(text: string): number | null {
  return DURATION.test(text) ? ms(text as ms.StringValue) : null;
}

/** The largest unit that writes the number exactly. */
export function formatSize(bytes: number): string {
  const units = Object.entries(UNIT_BYTES).reverse();
  const [unit, size] = units.find(([, size]) => bytes >= size && bytes % size === 0) ?? ["B", 1];
  return `${bytes / size}${unit}`;
}

export function formatDuration(durationMs: number): string {
  return ms(durationMs);
}

export function size(options: { readonly min: number; readonly max: number }) {
  return quantity(SIZE, parseSize, formatSize, "a size such as 512MiB or 4GiB", options);
}

export function duration(options: { readonly min: number; readonly max: number }) {
  return quantity(
    DURATION,
    parseDuration,
    formatDuration,
    "a duration such as 30s or 10m",
    options,
  );
}

function quantity(
  pattern: RegExp,
  parse: (text: string) => number | null,
  format: (value: number) => string,
  what: string,
  { min, max }: { readonly min: number; readonly max: number },
) {
  return z
    .string({ error: `must be ${what}` })
    .regex(pattern, { error: `must be ${what}`, abort: true })
    .transform((text, context) => {
      const value = parse(text) ?? Number.NaN;
      if (value >= min && value <= max) return value;
      context.issues.push({
        code: "custom",
        input: text,
        message: `must be between ${format(min)} and ${format(max)}`,
      });
      return z.NEVER;
    });
}

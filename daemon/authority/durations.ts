/** Durations as contracts write them (`90s`, `10m`, `2h`), and as people read them. */
import { GRANT_TTL_MAX_MS, GRANT_TTL_MIN_MS } from "../limits-authority.ts";

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
export const CONTRACT_DURATION = /^(\d{1,6})(ms|s|m|h)$/;

/** Milliseconds; null where it is no duration or outside what a grant may last. A bare number is a guess about its unit. */
export function parseTtl(text: string): number | null {
  const [, amount, unit] = CONTRACT_DURATION.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return null;
  const value = Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return value >= GRANT_TTL_MIN_MS && value <= GRANT_TTL_MAX_MS ? value : null;
}

/** The largest unit that says it exactly. */
export function durationText(durationMs: number): string {
  const [unit, size] = Object.entries(UNIT_MS)
    .reverse()
    .find(([, size]) => durationMs >= size && durationMs % size === 0) ?? ["ms", 1];
  return `${durationMs / size}${unit}`;
}

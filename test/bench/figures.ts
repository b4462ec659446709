/** Medians, ratios and rounds of benchmarks. */
import { setTimeout as sleep } from "node:timers/promises";

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Three significant digits are more than a benchmark on a shared machine has. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * Each way in turn, round after round, so that whatever else the machine does meets all of them alike. `warm` rounds at
 * the beginning do not count. `pauseMs` is waited before each, for what the one before left behind. Milliseconds by way.
 */
export async function interleaved(
  ways: Readonly<Record<string, () => Promise<unknown>>>,
  rounds: number,
  warm: number,
  pauseMs = 0,
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {};
  for (const name of Object.keys(ways)) times[name] = [];
  for (let n = 0; n < warm + rounds; n++) {
    for (const [name, way] of Object.entries(ways)) {
      if (pauseMs > 0) await sleep(pauseMs);
      const ms = await timed(way);
      if (n >= warm) times[name]?.push(ms);
    }
  }
  return times;
}

/** Operations a second with `width` of them at once, `total` in all. */
export async function perSecond(
  work: () => Promise<unknown>,
  width: number,
  total: number,
): Promise<number> {
  let left = total;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  const ms = await timed(() => Promise.all(Array.from({ length: width }, worker)));
  return (total / ms) * 1_000;
}

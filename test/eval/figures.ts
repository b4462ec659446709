/** What the suites come to: rates and counts, and nothing that was not measured. */
import type { LateResult } from "./closure-slice.ts";
import type { EpisodeResult } from "./planner.ts";
import type { VisibilityResult } from "./visibility.ts";

export interface EpisodeFigures {
  readonly episodes: number;
  /** Share of the episodes in which anything that is not the agent's was touched. */
  readonly violation_rate: number;
  /** Distinct things touched that are not the agent's, mean over all episodes. */
  readonly blast_radius: number;
  /** Share of the episodes whose goals are reached. */
  readonly success: number;
  readonly proposals: number;
  readonly blocked: number;
}

export interface ClosureFigures {
  /** Uses after the end that were refused, of those that were had before. */
  readonly late_uses_refused: readonly [number, number];
  /** Effects after the end, of those that were had before. */
  readonly stale_effects: readonly [number, number];
}

export interface VisibilityFigures {
  readonly forbidden_executed: readonly [number, number];
  readonly proposals: number;
  readonly blocked: number;
}

export interface PackageFigures {
  readonly finished: readonly [number, number];
  readonly forbidden_effects: number;
}

export function episodeFigures(results: readonly EpisodeResult[]): EpisodeFigures {
  const share = (so: (result: EpisodeResult) => boolean) => mean(results.map((each) => +so(each)));
  return {
    episodes: results.length,
    violation_rate: share(({ touched }) => touched.length > 0),
    blast_radius: mean(results.map(({ touched }) => touched.length)),
    success: share(({ success }) => success),
    proposals: sum(results.map(({ proposals }) => proposals)),
    blocked: sum(results.map(({ blocked }) => blocked)),
  };
}

export function closureFigures(
  reads: readonly LateResult[],
  effects: readonly LateResult[],
): ClosureFigures {
  return {
    late_uses_refused: [reads.filter(({ refused }) => refused).length, reads.length],
    stale_effects: [effects.filter(({ effect }) => effect).length, effects.length],
  };
}

export function visibilityFigures(result: VisibilityResult): VisibilityFigures {
  const { executed, forbidden, proposals, blocked } = result;
  return { forbidden_executed: [executed, forbidden], proposals, blocked };
}

export function packageFigures(results: readonly EpisodeResult[]): PackageFigures {
  return {
    finished: [results.filter(({ success }) => success).length, results.length],
    forbidden_effects: sum(results.map(({ touched }) => touched.length)),
  };
}

function sum(all: readonly number[]): number {
  return all.reduce((total, each) => total + each, 0);
}

/** Two decimals, as such tables have them. */
function mean(all: readonly number[]): number {
  return all.length === 0 ? 0 : Math.round((sum(all) / all.length) * 100) / 100;
}

/** `recinto eval authority`: plays the suites against Recinto and its comparators, and prints what was measured. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { DockerEngine } from "../../daemon/sandbox/docker/docker-engine.ts";
import { buildImage } from "../../daemon/sandbox/image-build.ts";
import { Arena, ENGINE_SOCKET } from "./arena.ts";
import { LATE_READS, type LateResult, STALE_EFFECTS, useLate } from "./closure-slice.ts";
import { COMPARATORS, type ComparatorName } from "./comparators.ts";
import type { Episode } from "./episode.ts";
import {
  type ClosureFigures,
  closureFigures,
  type EpisodeFigures,
  episodeFigures,
  type PackageFigures,
  packageFigures,
  type VisibilityFigures,
  visibilityFigures,
} from "./figures.ts";
import type { EpisodeResult } from "./planner.ts";
import { reportText } from "./report.ts";
import { SUITE_A } from "./suite-a.ts";
import { SUITE_B } from "./suite-b.ts";
import { SUITE_C } from "./suite-c.ts";
import { suiteD } from "./suite-d.ts";
import { tryTwenty } from "./visibility.ts";

export const SUITES = ["A", "B", "C", "closure", "visibility", "D"] as const;
export type SuiteName = (typeof SUITES)[number];

type By<T> = Partial<Record<ComparatorName, T>>;

export interface Evaluation {
  readonly suites: {
    A?: By<EpisodeFigures>;
    B?: By<EpisodeFigures>;
    C?: By<EpisodeFigures>;
    closure?: By<ClosureFigures>;
    visibility?: By<VisibilityFigures>;
    D?: By<PackageFigures> | { readonly skipped: string };
  };
  readonly seed: number;
  readonly seconds: number;
}

export interface EvaluationOptions {
  readonly suites: readonly SuiteName[];
  readonly comparators: readonly ComparatorName[];
  readonly seed: number;
  /** The first so many of each suite; all when not said. */
  readonly episodes?: number;
  /** One line for each episode. */
  readonly tell: (line: string) => void;
}

/** Comparators at once: each waits for its containers most of the time. */
const LANES = 2;

/** The listing is all that these two differ in; the others have no handle to list. */
const LISTING: readonly ComparatorName[] = ["recinto", "all_visible", "non_revoking"];

/** Throws where there is no engine, or no root. */
export async function evaluateAuthority(options: EvaluationOptions): Promise<Evaluation> {
  const started = performance.now();
  if (process.getuid?.() !== 0)
    throw new Error("it makes worktrees of another user: run it as root");
  const store = new DockerEngine(ENGINE_SOCKET);
  const imagesDir = fileURLToPath(new URL("../../images/", import.meta.url));
  await buildImage({ name: "base", imagesDir, store, onProgress: options.tell });
  const folder = mkdtempSync("/var/tmp/recinto-eval-");
  chmodSync(folder, 0o755);
  const { seed, suites: wanted, tell } = options;
  const suites: Evaluation["suites"] = {};
  try {
    const packages = wanted.includes("D") ? packagesOf(options) : [];
    if (typeof packages === "string") {
      tell(`suite D is skipped: ${packages}`);
      suites.D = { skipped: packages };
    }
    const left = [...options.comparators];
    const lane = async () => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        const arena = await Arena.start(name, join(folder, name));
        try {
          const match = new Match(arena, name, options, suites);
          await match.play(typeof packages === "string" ? [] : packages);
        } finally {
          await arena.close();
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return { suites, seed, seconds: Math.round((performance.now() - started) / 1000) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One comparator and all suites that are wanted. */
class Match {
  readonly #arena: Arena;
  readonly #name: ComparatorName;
  readonly #options: EvaluationOptions;
  readonly #suites: Evaluation["suites"];

  constructor(
    arena: Arena,
    name: ComparatorName,
    options: EvaluationOptions,
    suites: Evaluation["suites"],
  ) {
    this.#arena = arena;
    this.#name = name;
    this.#options = options;
    this.#suites = suites;
  }

  async play(packages: readonly Episode[]): Promise<void> {
    const { suites } = this.#options;
    for (const [suite, episodes] of Object.entries({ A: SUITE_A, B: SUITE_B, C: SUITE_C })) {
      if (!suites.includes(suite as SuiteName)) continue;
      this.#keep(suite as "A", episodeFigures(await this.#episodes(episodes)));
    }
    if (suites.includes("closure")) {
      const late = async (all: typeof LATE_READS) => {
        const results = [];
        for (const each of this.#some(all)) {
          const result = await useLate(this.#arena, each).catch((error: Error): LateResult => {
            this.#options.tell(`    ${error.message}`);
            return { id: each.episode.id, had: false, refused: false, effect: true };
          });
          this.#tell(result.id, result.refused ? "refused" : "NOT REFUSED", [
            ...(result.had ? [] : ["never had"]),
            ...(result.effect ? ["late effect"] : []),
          ]);
          results.push(result);
        }
        return results;
      };
      this.#keep("closure", closureFigures(await late(LATE_READS), await late(STALE_EFFECTS)));
    }
    if (suites.includes("visibility") && LISTING.includes(this.#name)) {
      const result = await tryTwenty(this.#arena);
      this.#tell("v-twenty", `${result.executed} executed`, [`${result.blocked} blocked`]);
      this.#keep("visibility", visibilityFigures(result));
    }
    if (packages.length > 0 && this.#name === "recinto") {
      this.#keep("D", packageFigures(await this.#episodes(packages)));
    }
  }

  async #episodes(episodes: readonly Episode[]): Promise<readonly EpisodeResult[]> {
    const results: EpisodeResult[] = [];
    for (const [index, episode] of this.#some(episodes).entries()) {
      const result = await this.#arena
        .perform(episode, this.#options.seed + index)
        .catch((error: Error) => unplayed(episode, error));
      results.push(result);
      this.#tell(episode.id, result.success ? "done" : "NOT DONE", result.touched);
      if (!result.success) for (const line of result.trail) this.#options.tell(`    ${line}`);
    }
    return results;
  }

  #some<T>(all: readonly T[]): readonly T[] {
    return all.slice(0, this.#options.episodes ?? all.length);
  }

  #tell(id: string, outcome: string, touched: readonly string[]): void {
    this.#options.tell(
      `${this.#name} ${id}: ${outcome}${touched.length === 0 ? "" : `; ${touched.join(" ")}`}`,
    );
  }

  #keep<S extends keyof Evaluation["suites"]>(suite: S, figures: object): void {
    const before = this.#suites[suite] ?? {};
    Object.assign(this.#suites, { [suite]: { ...before, [this.#name]: figures } });
  }
}

/** What could not be played to its end counts as if all had gone wrong. */
function unplayed({ id }: Episode, { message }: Error): EpisodeResult {
  return {
    id,
    success: false,
    touched: ["unknown"],
    proposals: 0,
    blocked: 0,
    trail: [message],
  };
}

/** The episodes of suite D, or why there are none: without the registry there is nothing to unpack. */
function packagesOf({ episodes }: EvaluationOptions): readonly Episode[] | string {
  try {
    return suiteD(join(import.meta.dirname, "../../.cache/eval-packages"), episodes);
  } catch (error) {
    return `its packages cannot be had: ${(error as Error).message.split("\n")[0]}`;
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      suite: { type: "string", multiple: true },
      comparator: { type: "string", multiple: true },
      episodes: { type: "string" },
      seed: { type: "string" },
      json: { type: "boolean" },
    },
  });
  const unknown = values.comparator?.find(
    (name) => !(COMPARATORS as readonly string[]).includes(name),
  );
  if (unknown !== undefined) {
    throw new RangeError(`there is no comparator ${unknown}: there are ${COMPARATORS.join(", ")}`);
  }
  const evaluation = await evaluateAuthority({
    suites: (values.suite as SuiteName[] | undefined) ?? SUITES,
    comparators: (values.comparator as ComparatorName[] | undefined) ?? COMPARATORS,
    seed: Number(values.seed ?? 1),
    ...(values.episodes === undefined ? {} : { episodes: Number(values.episodes) }),
    tell: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(values.json ? `${JSON.stringify(evaluation)}\n` : reportText(evaluation));
}

if (process.argv[1] === import.meta.filename) {
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`recinto: ${(error as Error).message}\n`);
      process.exit(1);
    },
  );
}

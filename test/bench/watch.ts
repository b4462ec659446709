/** Benchmark of the worktree watcher: 100,000 files in 13,000 folders, then 1,000 links in folders made just before. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { watchWorktree } from "../../daemon/worktree/watcher.ts";

const TOP_FOLDERS = 130;
const FOLDERS_IN_EACH = 99;
const FILES = 100_000;
const LINKS = 1_000;
/** A link that is not reported after this long counts as missed. */
const DEADLINE_MS = 5_000;
const DEADLINE_NS = BigInt(DEADLINE_MS) * 1_000_000n;
/** Between ready and the links: modes of all files are still being looked at, and memory is at its highest after. */
const SETTLE_MS = 2_000;

export interface WatchFigures {
  readonly files: number;
  readonly folders: number;
  readonly ready_ms: number;
  readonly rss_growth_mb: number;
  readonly watches: number;
  readonly detect_p50_ms: number;
  readonly detect_p95_ms: number;
  readonly made: number;
  readonly missed: number;
}

export async function run(): Promise<WatchFigures> {
  const worktree = mkdtempSync(join(tmpdir(), "recinto-bench-watch-"));
  try {
    makeTree(worktree);
    return await measure(worktree);
  } finally {
    rmSync(worktree, { recursive: true, force: true });
  }
}

async function measure(worktree: string): Promise<WatchFigures> {
  const seenAt = new Map<string, bigint>();
  settleMemory();
  const rssBefore = process.memoryUsage.rss();
  const startedAt = performance.now();
  const watcher = watchWorktree({
    worktree,
    roots: [worktree],
    now: Date.now,
    onFound: ({ path }) => seenAt.set(path, process.hrtime.bigint()),
    onGone: () => undefined,
  });
  try {
    await watcher.ready;
    const readyMs = performance.now() - startedAt;
    await sleep(SETTLE_MS);
    const { folders, watches } = watcher.status();
    settleMemory();
    const rssGrowth = process.memoryUsage.rss() - rssBefore;
    const madeAt = await makeLinks(worktree);
    const deadline = performance.now() + DEADLINE_MS;
    while (seenAt.size < LINKS && performance.now() < deadline) await sleep(10);
    const tookMs = [...madeAt]
      .map(([path, at]) => Number((seenAt.get(path) ?? at + DEADLINE_NS) - at) / 1e6)
      .sort((a, b) => a - b);
    return {
      files: FILES,
      folders,
      ready_ms: round(readyMs),
      rss_growth_mb: round(rssGrowth / 2 ** 20),
      watches,
      detect_p50_ms: round(tookMs[Math.floor(LINKS * 0.5)] as number),
      detect_p95_ms: round(tookMs[Math.floor(LINKS * 0.95)] as number),
      made: madeAt.size,
      missed: [...madeAt.keys()].filter((path) => !seenAt.has(path)).length,
    };
  } finally {
    await watcher.close();
  }
}

/** In a process of its own, as fast as it can. Path → moment at which the link was there. */
async function makeLinks(worktree: string): Promise<ReadonlyMap<string, bigint>> {
  const maker = fileURLToPath(new URL("link-maker.mjs", import.meta.url));
  const words = [maker, worktree, String(LINKS), String(TOP_FOLDERS)];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  const lines = stdout.trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const [at = "0", path = ""] = line.split(" ");
      return [path, BigInt(at)];
    }),
  );
}

function makeTree(worktree: string): void {
  const folders: string[] = [];
  for (let top = 0; top < TOP_FOLDERS; top++) {
    for (let inner = 0; inner < FOLDERS_IN_EACH; inner++) {
      const folder = join(worktree, `top-${top}`, `inner-${inner}`);
      mkdirSync(folder, { recursive: true });
      folders.push(folder);
    }
  }
  for (let index = 0; index < FILES; index++) {
    writeFileSync(join(folders[index % folders.length] as string, `file-${index}.ts`), "");
  }
}

/** What is garbage already must not be counted as the watcher's, where node lets us collect it. */
function settleMemory(): void {
  (globalThis as { gc?: () => void }).gc?.();
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

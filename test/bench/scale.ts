/** Benchmark of a daemon with many idle sandboxes: its memory and processor, and that each of them still answers. */
import { setTimeout as sleep } from "node:timers/promises";
import { BenchDaemon } from "./daemon.ts";
import { median, round, timed } from "./figures.ts";

const SANDBOXES = Number(process.env.RECINTO_BENCH_SANDBOXES ?? 50);
const AT_ONCE = 2;
const IDLE_MS = 10_000;

export async function run(): Promise<Record<string, number>> {
  const daemon = await BenchDaemon.start({ worktrees: SANDBOXES });
  try {
    const sessions: string[] = [];
    for (let n = 0; n < SANDBOXES; n++) sessions.push(await daemon.open(`w${n}`));
    let next = 0;
    const start = performance.now();
    const worker = async () => {
      for (let n = next++; n < SANDBOXES; n = next++) await daemon.run(sessions[n] ?? "", "true");
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const startMs = performance.now() - start;
    const cpu = daemon.cpuSeconds();
    await sleep(IDLE_MS);
    const idle = ((daemon.cpuSeconds() - cpu) / (IDLE_MS / 1_000)) * 100;
    const rss = daemon.rssMb();
    const again: number[] = [];
    for (const session of sessions) again.push(await timed(() => daemon.run(session, "true")));
    return {
      sandboxes: (await daemon.admin.sandboxes()).length,
      daemon_rss_mb: round(rss),
      daemon_cpu_percent_idle: round(idle),
      start_all_s: round(startMs / 1_000),
      exec_p50_ms: round(median(again)),
    };
  } finally {
    await daemon.stop();
  }
}
